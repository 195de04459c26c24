package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/lifecycle"
)

// blockersLooked is how many sleeping issues the doctor reads: what fits into one request.
const blockersLooked = 50

// blockers looks for issues that wait for each other in a circle, among those that have the blocked label.
func (c *call) blockers(ctx context.Context) diagnosis {
	asleep, err := c.Client.OpenIssues(ctx, c.Repo, c.Ledger.Rules().Scheme.Blocked)
	if err != nil {
		return c.bad("blockers", err)
	}
	var issues []claim.Issue
	for _, i := range asleep[:min(len(asleep), blockersLooked)] {
		issues = append(issues, claim.Issue{Owner: c.Repo.Owner, Repo: c.Repo.Name, Number: i.Number})
	}
	waits := map[claim.Issue][]claim.Issue{}
	for _, r := range c.Client.FactsOf(ctx, issues) {
		if r.Err != nil {
			return c.bad("blockers", r.Err)
		}
		waits[r.Facts.Issue] = r.Facts.Waits()
	}
	var circles []string
	for _, ring := range lifecycle.Circles(waits) {
		circles = append(circles, lifecycle.Round(lifecycle.Path(ring)))
	}
	switch {
	case len(circles) > 0:
		return ok("blockers", "blocked in a circle: %s", strings.Join(circles, "; ")).or("warn", circleRemedy)
	case len(asleep) > len(issues):
		return ok("blockers", "no circle among %d of the %d issues that wait for others", len(issues), len(asleep))
	case len(asleep) == 0:
		return ok("blockers", "no issue waits for another")
	}
	return ok("blockers", "%s for others, none in a circle", count(len(asleep), "issue waits", "issues wait"))
}

// workflow looks for the Action in the repository's workflows by the name of the usual file, and whether GitHub
// still runs it: after 60 days without activity it turns schedules off in public repositories.
func (c *call) workflow(ctx context.Context) diagnosis {
	text, err := c.Client.File(ctx, c.Repo, workflowPath)
	var missing *github.NotFoundError
	switch {
	case errors.As(err, &missing) && c.here(ctx, workflowPath):
		return ok("workflow", "%s is in this clone, and not on %s's default branch yet", workflowPath, c.Repo).or("warn", "commit it, push it, and have it merged")
	case errors.As(err, &missing):
		return ok("workflow", "no %s", workflowPath).or("warn", "without it nobody sweeps; label-state init writes it")
	case err != nil:
		return ok("workflow", "%s", err).or("warn", hintFor(err))
	case !runsAction(text):
		return ok("workflow", "%s does not run the Action", workflowPath).or("warn", "compare it with docs/action.md, or move it away and let label-state init write it")
	}
	state, err := c.workflowState(ctx)
	switch {
	case err != nil:
		return ok("workflow", "%s; whether GitHub still runs it was not told: %s", workflowPath, err).or("warn", "look under Actions, or give the token the permission actions: read")
	case state != "active":
		return ok("workflow", "%s is there and switched off (%s)", workflowPath, state).or("fail", "gh workflow enable label-state.yml --repo "+c.Repo.String())
	}
	return ok("workflow", "%s, switched on", workflowPath)
}

// runsAction reports whether a workflow uses the Action, a workflow of that name, or one of its own repository's.
func runsAction(workflow []byte) bool {
	for line := range strings.Lines(string(workflow)) {
		_, used, uses := strings.Cut(line, "uses:")
		if used = strings.Trim(used, " \t\"'"); uses && (strings.Contains(used, "label-state") || strings.HasPrefix(used, "./")) {
			return true
		}
	}
	return false
}

// here reports whether a file is in the clone that we are in, and the clone the repository's.
func (c *call) here(ctx context.Context, path string) bool {
	home, err := c.env.Home(ctx)
	if err != nil || !strings.EqualFold(home.Owner+"/"+home.Repo, c.Repo.String()) {
		return false
	}
	root, err := c.root(ctx)
	if err != nil {
		return false // there is no clone
	}
	_, err = os.Stat(filepath.Join(root, filepath.FromSlash(path)))
	return err == nil
}

// workflowState is GitHub's word for it: active, disabled_inactivity, disabled_manually ("Get a workflow" in GitHub's REST docs).
func (c *call) workflowState(ctx context.Context) (string, error) {
	var answer struct {
		State string `json:"state"`
	}
	if _, err := c.Client.Do(ctx, http.MethodGet, c.repoPath()+"/actions/workflows/label-state.yml", nil, &answer); err != nil {
		return "", err
	}
	return cmp.Or(answer.State, "unknown"), nil
}

func (c *call) hook(ctx context.Context) diagnosis {
	s, err := hookfile.Status(ctx, hookfile.Options{Dir: c.env.Dir})
	switch {
	case err != nil:
		return ok("hook", "not looked for: %s", err).or("warn", "run doctor inside a clone to see whether its pushes are guarded")
	case !s.Installed():
		return ok("hook", "pushes from this clone are not guarded (%s)", cmp.Or(s.Manager, string(s.Kind))).or("warn", cmp.Or(s.Hint, "label-state hook install"))
	case s.Kind == hookfile.Delegated && s.Brings:
		return ok("hook", "%s", runBy(s))
	}
	for _, program := range hookPrograms(s.Hook) {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if s.Kind == hookfile.Delegated {
			return ok("hook", "%s, and %s is not to be found: pushes are not checked", runBy(s), program).or("warn", onPath(compiledHook()))
		}
		return ok("hook", "%s is there and %s is not: pushes are not checked", s.File, program).
			or("warn", "install all programs again (go install ./cmd/...), then: label-state hook install")
	}
	if s.Kind == hookfile.Delegated {
		return ok("hook", "%s", runBy(s))
	}
	return ok("hook", "%s", s.File)
}

// onPath is how the programs of the hook get the names by which a hook manager's script looks for them; go install
// gives them those of their folders.
func onPath(beside string) string {
	dir, name := filepath.Split(beside)
	if name != "pre-push" {
		return "put label-state-pre-push and label-state-pre-push-check on PATH (docs/install.md)"
	}
	return fmt.Sprintf(`cd "%s" && ln -sf pre-push label-state-pre-push && ln -sf pre-push-check label-state-pre-push-check`, filepath.Clean(dir))
}

// hookPrograms are the two stages that a shim starts: at the path it was written with, else by PATH (docs/hook.md).
func hookPrograms(written string) []string {
	first := cmp.Or(written, "label-state-pre-push")
	name, windows := strings.CutSuffix(first, ".exe")
	second := name + "-check"
	if windows {
		second += ".exe"
	}
	if _, err := exec.LookPath(second); err != nil && filepath.IsAbs(first) {
		second = "label-state-pre-push-check" // the other place it is looked for
	}
	return []string{first, second}
}
