package try

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
	runs "github.com/label-state/label-state/internal/workflow"
)

// eventsPause is how often sim looks for new events.
const eventsPause = 200 * time.Millisecond

// A workflow runs the Action's program for what happens on the embedded GitHub.
type workflow struct {
	program, token string
	url, dir       string // of the server, and for the files of its runs
	cli.Terminal
}

// isWorkflow reports whether a user of the seed is the one whose token the workflow's runs have.
func isWorkflow(u githubsim.SeedUser) bool { return u.Login == "github-actions[bot]" && !u.ReadOnly }

// forWorkflow is the seed with what the workflow's runs need and it leaves out: their user, its
// token, and that it may write. Each repository has the workflow's file, by which a command sees
// that a comment is carried out.
func forWorkflow(seed githubsim.Seed) githubsim.Seed {
	if !slices.ContainsFunc(seed.Users, isWorkflow) {
		seed.Users = append(seed.Users, githubsim.SeedUser{Login: "github-actions[bot]"})
	}

	u := &seed.Users[slices.IndexFunc(seed.Users, isWorkflow)]
	u.Token = cmp.Or(u.Token, "tok-actions")
	if u.Permissions == nil {
		u.Permissions = map[string]string{}
		for _, r := range seed.Repos {
			u.Permissions[r.Name] = "write"
		}
	}

	for n := range seed.Repos {
		files := map[string]string{cli.WorkflowPath: runs.Text(runs.Options{})}
		maps.Copy(files, seed.Repos[n].Files)
		seed.Repos[n].Files = files
	}

	return seed
}

// workflowOf is the workflow for a seed by forWorkflow.
func workflowOf(c *cli.Call, program, url, dir string, seed githubsim.Seed) (workflow, error) {
	path, err := exec.LookPath(program)
	if err != nil {
		return workflow{}, c.Usagef("--action: %s", err)
	}

	return workflow{
		program:  path,
		token:    seed.Users[slices.IndexFunc(seed.Users, isWorkflow)].Token,
		url:      url,
		dir:      dir,
		Terminal: c.Terminal,
	}, nil
}

// follow runs the Action for every event, one after the other, until ctx ends.
func (w workflow) follow(ctx context.Context, server *githubsim.Server) {
	for seen := 0; ctx.Err() == nil; {
		events, err := server.EventsSince(seen)
		if err != nil {
			w.Warnf("sim: events: %s", cli.OneLine(err.Error()))
			return
		}

		seen += len(events)
		for _, e := range events {
			if starts(e) {
				w.run(ctx, e)
			}
		}

		select {
		case <-ctx.Done():
		case <-time.After(eventsPause):
		}
	}
}

// starts reports whether an event starts the workflow of examples/single-repository.yml. What a
// workflow's own token does starts none.
func starts(e githubsim.Event) bool {
	var p struct {
		Sender  struct{ Login string }
		Comment struct{ Body string }
	}
	if err := json.Unmarshal(e.Payload, &p); err != nil || strings.HasSuffix(p.Sender.Login, "[bot]") {
		return false
	}

	switch e.Name {
	case "issue_comment":
		return e.Action == "created" && strings.HasPrefix(p.Comment.Body, "/")
	case "issues", "pull_request":
		return true
	}

	return false
}

// run runs the Action for one event, and shows what it says.
func (w workflow) run(ctx context.Context, e githubsim.Event) {
	dir, err := os.MkdirTemp(w.dir, "run-")
	if err == nil {
		var env []string
		if env, err = runnerEnv(dir, w.url, w.token, e); err == nil {
			cmd := exec.CommandContext(ctx, w.program)
			cmd.Env = append(w.Env.Inherited(), env...)
			var out []byte
			out, err = cmd.CombinedOutput()
			fmt.Fprintf(w.Out, "%s %s: the Action runs\n%s", e.Name, e.Action, out)
		}
	}

	if err != nil && ctx.Err() == nil {
		w.Warnf("sim: the Action on %s %s: %s", e.Name, e.Action, cli.OneLine(err.Error()))
	}
}

// runnerEnv makes the files of one run of the Action in dir, and returns the variables that the
// runner of GitHub Actions sets.
func runnerEnv(dir, url, token string, e githubsim.Event) ([]string, error) {
	files := map[string][]byte{"event.json": e.Payload, "output": nil, "summary.md": nil}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return nil, err
		}
	}

	return []string{
		"GITHUB_ACTIONS=true", "GITHUB_EVENT_NAME=" + e.Name, "GITHUB_EVENT_PATH=" + filepath.Join(dir, "event.json"),
		"GITHUB_REPOSITORY=" + e.Repo, "GITHUB_OUTPUT=" + filepath.Join(dir, "output"),
		"GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary.md"),
		"GITHUB_API_URL=" + url, "GITHUB_SERVER_URL=" + url, "GITHUB_GRAPHQL_URL=" + url + "/graphql",
		"INPUT_TOKEN=" + token, "INPUT_MODE=auto", "INPUT_API-URL=" + url,
	}, nil
}
