package try

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/programs"
	"github.com/label-state/label-state/internal/setup"
)

// TestSimAction: on sim's own GitHub a contributor takes an issue by a comment. Talk, and what the
// Action itself does, start no run. The seed lacks the workflow's user and its file.
func TestSimAction(t *testing.T) {
	seed, err := githubsim.LoadSeed(strings.NewReader(defaultSeed))
	if err != nil {
		t.Fatal(err)
	}
	seed.Users = slices.DeleteFunc(seed.Users, func(u githubsim.SeedUser) bool { return u.Login == "github-actions[bot]" })
	seed.Repos = append(seed.Repos, githubsim.SeedRepo{
		Name:  "acme/own",
		Files: map[string]string{cli.WorkflowPath: "mine", "README.md": "read"},
	})
	seed = forWorkflow(seed)
	if own := seed.Repos[len(seed.Repos)-1].Files; own[cli.WorkflowPath] != "mine" || own["README.md"] != "read" {
		t.Errorf("the seed's own files became %q", own)
	}
	if text := seed.Repos[0].Files[cli.WorkflowPath]; !strings.Contains(text, "issue_comment") {
		t.Errorf("a command finds no workflow that runs on comments: %q", text)
	}

	server, err := githubsim.New(seed, githubsim.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}

	url, stop, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()

	var out bytes.Buffer
	program := filepath.Join(t.TempDir(), "action")
	if err := programs.Copy("action", program); err != nil {
		t.Fatal(err)
	}

	call := &cli.Call{Terminal: cli.Terminal{Out: &out, Err: &out, Env: setup.Environment{Environ: os.Environ()}}}
	w, err := workflowOf(call, program, url, t.TempDir(), seed)
	if err != nil {
		t.Fatal(err)
	}

	for _, text := range []string{"I would like to work on this.", "/claim"} {
		if _, err := server.AddComment("acme/app", 3, "rob", text); err != nil {
			t.Fatal(err)
		}
	}

	runs := 0
	for seen, more := 0, true; more; {
		events, err := server.EventsSince(seen)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if starts(e) {
				w.run(t.Context(), e)
				runs++
			}
		}
		seen, more = seen+len(events), len(events) > 0
	}

	issue, err := server.Issue("acme/app", 3)
	if err != nil || runs != 1 || len(issue.Assignees) != 1 || issue.Assignees[0] != "rob" {
		t.Errorf("%d runs, assigned to %v (%v):\n%s", runs, issue.Assignees, err, out.String())
	}
}
