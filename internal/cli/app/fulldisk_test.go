package app

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
)

// A fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestAnswerUnwritten: an answer that nobody can read is no success, whatever the command. It is said
// once that what was done is not undone; a claim's hold stands.
func TestAnswerUnwritten(t *testing.T) {
	w, err := newWorldWith("", func(seed *githubsim.Seed) {
		seed.Users[0].Permissions["acme/line"] = "write"
		seed.Repos = append(seed.Repos, githubsim.SeedRepo{
			Name:   "acme/line",
			Files:  map[string]string{config.Path: "preset: stages\nstages: [build, review]\n"},
			Issues: []githubsim.SeedIssue{{Number: 1, Title: "x", Labels: []string{"stage:build"}}},
		})
	})
	if err != nil {
		t.Fatal(err)
	}

	vars := map[string]string{"LABEL_STATE_HOME": t.TempDir()}
	dir := cloneOf(t, "https://github.com/acme/app.git")
	plan := filepath.Join(dir, "plan.md")
	if err := os.WriteFile(plan, []byte("Retry."), 0o600); err != nil {
		t.Fatal(err)
	}

	if err := errors.Join(w.AddLabels("acme/web", 1, "olga", "do-not-pickup"),
		w.AddLabels("acme/app", 3, "olga", "agent:done")); err != nil {
		t.Fatal(err)
	}

	worker := " --codename lucius --firing-id l1"
	for n, line := range []string{
		"reconcile acme/app#3 --dry-run",
		"reconcile acme/app#3 --dry-run",
		"next --list --repo acme/app",
		"next --repo acme/app --no-claim",
		"claim acme/app#1 --dry-run" + worker,
		"claim acme/app#1" + worker,
		"claim acme/app#1 --codename lucius",
		"claim acme/app#1 --codename lucius",
		"status acme/app#1",
		"status --mine --repo acme/app",
		"log acme/app#1",
		"log acme/web#1",
		"status --mine --repo acme/web",
		"dedup-check acme/app#2",
		"renew acme/app#1 --dry-run" + worker,
		"renew acme/app#1" + worker,
		"claim acme/app#1 --force --dry-run --codename rex --firing-id r1",
		"olga claim acme/app#1 --force --dry-run",
		"plan acme/app#1 --dry-run --body-file " + plan + worker,
		"plan acme/app#1 --body-file " + plan + worker,
		"olga approve acme/app#1 --dry-run",
		"olga approve acme/app#1",
		"plan acme/app#1 --wait 1s" + worker,
		"olga release acme/app#1 --ask --dry-run",
		"olga release acme/app#1 --ask",
		"release acme/app#1 --dry-run" + worker,
		"olga release acme/app#1 --force --dry-run",
		"release acme/app#1" + worker,
		"next --repo acme/app" + worker + "n",
		"olga release acme/web#1",
		"olga claim acme/app#2 --dry-run",
		"olga claim acme/app#2",
		"olga claim acme/app#2",
		"olga release acme/app#2 --dry-run",
		"olga release acme/app#2",
		"olga release acme/app#3 --force --dry-run",
		"olga release acme/app#3 --force",
		"labels check acme/app",
		"labels sync acme/app",
		"reconcile acme/app#2",
		"sweep-claims --repo acme/app",
		"sweep-claims --repo acme/app --dry-run",
		"stats --repo acme/app",
		"board --repo acme/app",
		"olga repo resume acme/app --dry-run",
		"olga repo pause acme/app --dry-run",
		"olga repo pause acme/app",
		"olga repo pause acme/app",
		"repo list acme/app",
		"olga repo resume acme/app",
		"claim acme/line#1" + worker,
		"advance acme/line#1 --dry-run" + worker,
		"advance acme/line#1" + worker,
		"status acme/line#1",
		"version",
		"claim --help",
		"doctor acme/app",
		"doctor acme/app",
		"hook install",
		"hook install",
		"hook status",
		"hook status",
		"hook uninstall",
		"init --dry-run",
		"init --dry-run",
		"init --yes", // each does one step: the settings, the workflow, the hook
		"init --yes",
		"init --yes",
		"init --yes",
		"init --yes",
		"init",
		"agent status",
		"agent status",
		"agent install claude-code --dry-run",
		"agent install claude-code --dry-run",
		"agent install claude-code --yes",
		"agent uninstall claude-code --yes",
		"completion bash",
		"agent status",
		"man",
	} {
		args, told := append(strings.Fields(line), []string{"--json"}[n%2:]...), bytes.Buffer{}
		vars["GH_TOKEN"] = "tok-agents"
		if args[0] == "olga" {
			vars["GH_TOKEN"], args = "tok-olga", args[1:]
		}

		term := quiet(t, dir, w.Transport(), vars)
		term.Out, term.Err, term.Env.Executable = fullDisk{}, &told, "" // the hook is the one on PATH
		code := cli.Run(t.Context(), append([]string{"label-state"}, args...), term)
		if code != answer.ExitUnknown || strings.Count(told.String(), "the answer could not be written") != 1 {
			t.Errorf("%s: exit %d\n%s", line, code, &told)
		}

		if took := "label-state: next acme/app#"; strings.HasSuffix(line, worker+"n") && !strings.HasPrefix(told.String(), took) {
			t.Errorf("%s: %s\nwant the issue that it took", line, &told)
		}
		if line == "claim acme/app#1"+worker {
			want := "label-state: claim acme/app#1: the answer could not be written: no space left on device; what " +
				"was done is not undone\nhint: see its state: label-state status acme/app#1\n"
			labels, err := w.Labels("acme/app", 1)
			if told.String() != want || err != nil || !slices.Contains(labels, "agent:in-flight") {
				t.Errorf("labels %v, %v\n%s\nwant\n%s", labels, err, &told, want)
			}
		}
	}
}
