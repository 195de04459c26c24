//go:build e2e

package hooks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hookFile is where git looks for the clone's pre-push hook.
func (w *world) hookFile() string { return filepath.Join(w.clone, ".git", "hooks", "pre-push") }

func (w *world) wantStatus(t *testing.T, want string) {
	t.Helper()
	out, err := w.run(w.clone, "label-state", "hook", "status")
	if !strings.HasPrefix(out, want) {
		t.Fatalf("label-state hook status: %v, want %s\n%s", err, want, out)
	}
}

// TestAlone: label-state alone is the hook, and so are the small programs beside it.
func TestAlone(t *testing.T) {
	t.Run("label-state", func(t *testing.T) { alone(t, newWorld(t)) })
	t.Run("with the small programs", func(t *testing.T) {
		w := newWorld(t)
		w.install(t, small)
		alone(t, w)
	})
}

func alone(t *testing.T, w *world) {
	said := w.shell(t, snippet(t, "For one clone", 1))
	if !strings.Contains(said, "pushes from here are checked") {
		t.Errorf("hook install: %s", said)
	}

	w.guards(t)
	w.wantStatus(t, "current")
	w.shell(t, snippet(t, "For one clone", 2))
	if _, err := os.Stat(w.hookFile()); err == nil {
		t.Error("the hook is still there")
	}
}

func TestBehindAnother(t *testing.T) {
	w := newWorld(t)
	w.otherHook(t, w.hookFile())
	w.shell(t, snippet(t, "For one clone", 1))
	w.guards(t)
	w.shell(t, snippet(t, "For one clone", 2))
	if out, err := w.push(t); err != nil || strings.Contains(out, "label-state") {
		t.Errorf("after uninstall: %v\n%s", err, out)
	}

	if text, err := os.ReadFile(w.hookFile()); err != nil || !strings.Contains(string(text), "another tool's") {
		t.Errorf("the other hook is not back: %v\n%s", err, text)
	}
}

func TestGlobal(t *testing.T) {
	w := newWorld(t)
	w.otherHook(t, w.hookFile())
	w.shell(t, snippet(t, "For every repository", 1))
	w.guards(t)
	w.shell(t, snippet(t, "For every repository", 2))
	w.commit(t, "Retry again, closes #1")
	if out, err := w.push(t); err != nil {
		t.Errorf("after uninstall: %v\n%s", err, out)
	}
}

// TestWorktree: a linked worktree has the hook of its clone.
func TestWorktree(t *testing.T) {
	w := newWorld(t)
	w.shell(t, snippet(t, "For one clone", 1))
	linked := *w
	linked.clone = filepath.Join(w.dir, "linked")
	w.git(t, "switch", "-q", "main")
	w.git(t, "worktree", "add", "-q", linked.clone, "work")
	linked.guards(t)
}

// TestUsersFolder: the user's own core.hooksPath, which serves all repositories, and that is said.
func TestUsersFolder(t *testing.T) {
	w := newWorld(t)
	w.git(t, "config", "--global", "core.hooksPath", filepath.Join(w.dir, "hooks"))
	if said := w.shell(t, snippet(t, "For one clone", 1)); !strings.Contains(said,
		"the hook serves all your repositories") {
		t.Errorf("hook install: %s", said)
	}

	w.guards(t)
}

// TestGoNames: what "go install ./cmd/..." installs besides, under the names of its folders, is
// neither used nor in the way.
func TestGoNames(t *testing.T) {
	w := newWorld(t)
	write(t, filepath.Join(w.bin, "pre-push"), "#!/bin/sh\necho stale >&2\n")
	write(t, filepath.Join(w.bin, "pre-push-check"), "#!/bin/sh\necho stale >&2\n")
	if said := w.shell(t, "label-state init --yes"); !strings.Contains(said, "pushes from here are checked") {
		t.Errorf("init: %s", said)
	}

	w.guards(t)
}

// TestHooksFolder has git look into this repository's own hooks folder.
func TestHooksFolder(t *testing.T) {
	w := newWorld(t)
	w.copyScript(t)
	w.shell(t, snippet(t, "With a folder of hooks in the repository", 1))
	w.guards(t)

	w = newWorld(t)
	folder, err := filepath.Abs("../../hooks")
	if err != nil {
		t.Fatal(err)
	}

	w.git(t, "config", "core.hooksPath", folder)
	w.guards(t)
}

// copyScript copies this repository's hooks/pre-push into the clone.
func (w *world) copyScript(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("../../hooks/pre-push")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(w.clone, "hooks", "pre-push"), string(text))
}

// TestFence: a worker whose claim ran out and was swept is still at work when another has taken the
// issue over.
func TestFence(t *testing.T) {
	w := newWorld(t)
	w.shell(t, snippet(t, "For one clone", 1))
	heir := *w
	heir.clone = filepath.Join(w.dir, "heir")
	w.git(t, "worktree", "add", "-q", "-b", "heir", heir.clone, "origin/main")

	w.shell(t, "label-state claim 2 --codename lucius --ttl 1h --branch work")
	w.commit(t, "Closes #2")
	w.passes(t, "")
	w.sim.Skip(9 * time.Hour)
	heir.shell(t, "label-state sweep-claims --repo acme/app")
	w.sim.Skip(9 * time.Hour) // the issue rests for a while
	heir.shell(t, "label-state claim 2 --codename drake --branch heir")

	w.commit(t, "Closes #2 at last")
	out, err := w.push(t)
	if err == nil || !strings.Contains(out, "in flight: drake") || !strings.Contains(out, "your hold (run ") {
		t.Fatalf("the fence is open: %v\n%s", err, out)
	}

	heir.commit(t, "Closes #2 really")
	if out, err := heir.push(t, "heir"); err != nil || strings.Contains(out, "label-state:") {
		t.Fatalf("the heir: %v\n%s", err, out)
	}
}
