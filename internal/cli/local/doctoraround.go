package local

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/workflow"
)

// blockersLooked is how many sleeping issues the doctor reads: what fits into one request.
const blockersLooked = 50

// checkBlockers looks for issues that wait for each other in a dependency cycle, among those that have the blocked label.
func checkBlockers(ctx context.Context, c *cli.Call) Diagnosis {
	asleep, err := c.Session.Client.OpenIssues(ctx, c.Session.Repo, c.Session.Ledger.Rules().Scheme.Blocked)
	if err != nil {
		return failedCheck(c, "blockers", err)
	}
	var issues []claim.Issue
	for _, i := range asleep[:min(len(asleep), blockersLooked)] {
		issues = append(issues, claim.Issue{Owner: c.Session.Repo.Owner, Repo: c.Session.Repo.Name, Number: i.Number})
	}
	waits := map[claim.Issue][]claim.Issue{}
	for _, r := range c.Session.Client.FactsOf(ctx, issues) {
		if r.Err != nil {
			return failedCheck(c, "blockers", r.Err)
		}
		waits[r.Facts.Issue] = r.Facts.Waits()
	}
	var cycles []string
	for _, ring := range lifecycle.Cycles(waits) {
		cycles = append(cycles, lifecycle.Round(lifecycle.Path(ring)))
	}
	switch {
	case len(cycles) > 0:
		return ok("blockers", "blocked in a dependency cycle: %s", strings.Join(cycles, "; ")).or("warn", cli.CycleRemedy)
	case len(asleep) > len(issues):
		return ok("blockers", "no cycle among %d of the %d issues that wait for others", len(issues), len(asleep))
	case len(asleep) == 0:
		return ok("blockers", "no issue waits for another")
	}
	return ok("blockers", "%s for others, none in a dependency cycle", printable.Count(len(asleep), "issue waits", "issues wait"))
}

// checkWorkflow looks for the Action in the repository's workflows by the name of the usual file, and whether GitHub
// still runs it: after 60 days without activity it turns schedules off in public repositories.
func checkWorkflow(ctx context.Context, c *cli.Call) Diagnosis {
	text, err := c.Session.Client.File(ctx, c.Session.Repo, WorkflowPath)
	var missing *github.NotFoundError
	switch {
	case errors.As(err, &missing) && existsHere(ctx, c, WorkflowPath):
		return ok("workflow", "%s is in this clone, and not on %s's default branch yet", WorkflowPath, c.Session.Repo).or("warn", "commit it, push it, and have it merged")
	case errors.As(err, &missing):
		return ok("workflow", "no %s", WorkflowPath).or("warn", "without it nobody sweeps; label-state init writes it")
	case err != nil:
		return ok("workflow", "%s", err).or("warn", c.Terminal.HintFor(err))
	case !runsAction(text):
		return ok("workflow", "%s does not run the Action", WorkflowPath).or("warn", "compare it with docs/action.md, or move it away and let label-state init write it")
	}
	if lacking := lackingInWorkflow(c, text); lacking != "" {
		return ok("workflow", "%s: %s", WorkflowPath, lacking).or("fail", "give the job these permissions in "+WorkflowPath+" on the default branch")
	}
	var answer struct {
		State string `json:"state"` // active, disabled_inactivity, disabled_manually ("Get a workflow" in GitHub's REST docs)
	}
	_, err = c.Session.Client.Do(ctx, http.MethodGet, repoPath(c)+"/actions/workflows/label-state.yml", nil, &answer)
	state := cmp.Or(answer.State, "unknown")
	switch {
	case err != nil:
		return ok("workflow", "%s; whether GitHub still runs it was not told: %s", WorkflowPath, err).or("warn", "look under Actions, or give the token the permission actions: read")
	case state != "active":
		return ok("workflow", "%s is there and switched off (%s)", WorkflowPath, state).or("fail", "gh workflow enable label-state.yml --repo "+c.Session.Repo.String())
	}
	return ok("workflow", "%s, switched on", WorkflowPath)
}

// runsAction reports whether a workflow uses the Action, a workflow of that name, or one of its own repository's.
func runsAction(text []byte) bool {
	for line := range strings.Lines(string(text)) {
		_, used, uses := strings.Cut(line, "uses:")
		if uses && workflow.Runs(strings.Trim(used, " \t\"'")) {
			return true
		}
	}
	return false
}

// lackingInWorkflow says which permissions the jobs of a workflow lack for what the configuration has them do. A workflow that cannot be read
// as one lacks nothing: GitHub says so itself.
func lackingInWorkflow(c *cli.Call, text []byte) string {
	jobs, err := workflow.Parse(text)
	if err != nil {
		return ""
	}
	refs := c.Session.Config.Claim.Lease == lease.Refs
	var out []string
	for _, j := range jobs {
		missing := j.Lacks(workflow.Needs(j.Guard, refs))
		if len(missing) == 0 {
			continue
		}
		one := "job " + cli.OneLine(j.Name) + " lacks " + strings.Join(missing, ", ")
		if refs && slices.Contains(missing, "contents: write") {
			one += " (leases in git references need contents: write)"
		}
		out = append(out, one)
	}
	return strings.Join(out, "; ")
}

// existsHere reports whether a file is in the clone that we are in, and the clone the repository's.
func existsHere(ctx context.Context, c *cli.Call, path string) bool {
	home, err := c.Terminal.Env.Home(ctx)
	if err != nil || !strings.EqualFold(home.Owner+"/"+home.Repo, c.Session.Repo.String()) {
		return false
	}
	root, err := findRoot(ctx, c)
	if err != nil {
		return false // there is no clone
	}
	_, err = os.Stat(filepath.Join(root, filepath.FromSlash(path)))
	return err == nil
}

func checkHook(ctx context.Context, c *cli.Call) Diagnosis {
	s, err := hookfile.Status(ctx, hookfile.Options{Git: c.Terminal.Env.Git()})
	switch {
	case err != nil:
		return ok("hook", "not looked for: %s", err).or("warn", "run doctor inside a clone to see whether its pushes are guarded")
	case !s.Installed():
		return ok("hook", "pushes from this clone are not guarded (%s)", cmp.Or(s.Manager, string(s.Kind))).or("warn", cmp.Or(s.Hint, "label-state hook install"))
	}
	missing := missingProgram(s)
	switch {
	case missing != "" && s.Kind == hookfile.Delegated && s.Bare:
		return ok("hook", "%s, and %s is not to be found: every push from here is refused", runBy(s), missing).or("fail", cmp.Or(mendScript(s), OnPath(compiledHook())))
	case missing != "" && s.Kind == hookfile.Delegated:
		return ok("hook", "%s, and %s is not to be found: pushes are not checked", runBy(s), missing).or("warn", OnPath(compiledHook()))
	case missing != "":
		return ok("hook", "%s is there and %s is not: pushes are not checked", s.File, missing).
			or("warn", "install all programs again (go install ./cmd/...), then: label-state hook install")
	case s.Kind == hookfile.Delegated && s.Bare && s.Script != "":
		return ok("hook", "%s; on a machine without the program it refuses every push", runBy(s)).or("warn", mendScript(s))
	case s.Kind == hookfile.Delegated:
		return ok("hook", "%s", runBy(s))
	}
	return ok("hook", "%s", s.File)
}

// missingProgram is a program that the hook here needs and that is not to be found; empty when all are there. A shim starts two
// stages: at the path it was written with, else by PATH (docs/hook.md).
func missingProgram(s hookfile.State) string {
	if s.Brings {
		return ""
	}
	first := cmp.Or(s.Hook, "label-state-pre-push")
	if _, err := exec.LookPath(first); err != nil {
		if _, err := exec.LookPath("label-state-pre-push"); err != nil || s.Version == 0 {
			return first
		}
		first = "label-state-pre-push"
	}
	name, windows := strings.CutSuffix(first, ".exe")
	second := name + "-check"
	if windows {
		second += ".exe"
	}
	_, err := exec.LookPath(second)
	if err != nil && filepath.IsAbs(first) {
		second = "label-state-pre-push-check" // the other place it is looked for
		_, err = exec.LookPath(second)
	}
	if err != nil {
		return second
	}
	return ""
}

// mendScript is how a hook manager's script comes to let pushes go where the program is missing; empty when it is none's.
func mendScript(s hookfile.State) string {
	switch {
	case s.Text != "":
		return "label-state hook install, which replaces " + s.Script + "; commit it"
	case s.Script != "":
		return "in " + s.Script + " begin the line with  ! command -v label-state-pre-push >/dev/null ||"
	}
	return ""
}

// OnPath is how the programs of the hook get the names by which a hook manager's script looks for them; go install
// gives them those of their folders.
func OnPath(beside string) string {
	dir, name := filepath.Split(beside)
	if name != "pre-push" {
		return "put label-state-pre-push and label-state-pre-push-check on PATH (docs/install.md)"
	}
	return fmt.Sprintf(`cd "%s" && ln -sf pre-push label-state-pre-push && ln -sf pre-push-check label-state-pre-push-check`, filepath.Clean(dir))
}
