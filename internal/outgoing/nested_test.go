package outgoing_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	gitprogram "github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/outgoing"
)

// TestRemoteBelowAnother: what a remote named origin/fork has, origin has not.
func TestRemoteBelowAnother(t *testing.T) {
	for name, pack := range map[string]bool{"loose": false, "packed": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			git := func(args ...string) string {
				t.Helper()
				words := append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)
				out, err := exec.Command("git", words...).CombinedOutput()
				if err != nil {
					t.Fatalf("git %v: %v: %s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}

			git("init", "-q", ".")
			git("commit", "-q", "--allow-empty", "-m", "base")
			base := git("rev-parse", "HEAD")
			git("commit", "-q", "--allow-empty", "-m", "Fixes #1")
			head := git("rev-parse", "HEAD")
			git("remote", "add", "origin", "https://github.com/acme/app.git")
			git("remote", "add", "origin/fork", "https://github.com/x/app.git")
			git("update-ref", "refs/remotes/origin/main", base)
			git("update-ref", "refs/remotes/origin/fork/work", head)
			if pack {
				git("gc", "-q")
			}

			leave, _, err := outgoing.Commits(t.Context(), gitprogram.Git{Dir: dir, Env: os.Environ()}, outgoing.Push{
				Remote: "origin",
				URL:    "https://github.com/acme/app.git",
				Updates: []outgoing.Update{{
					LocalRef:  "refs/heads/main",
					LocalOID:  head,
					RemoteRef: "refs/heads/main",
					RemoteOID: base,
				}},
			})
			if err != nil || len(leave) != 1 {
				t.Errorf("%d commits leave, error %v; want 1", len(leave), err)
			}
		})
	}
}
