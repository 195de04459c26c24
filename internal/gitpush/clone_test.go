package gitpush_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/gitpush"
)

// TestRemote: where a branch is pushed to is git's to say, then origin, then the only one there is.
func TestRemote(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	remote := func(want string) {
		t.Helper()
		if got, err := w.git.Remote(t.Context(), "fix"); got != want || (err == nil) != (want != "") {
			t.Errorf("remote: %q, %v, want %q", got, err, want)
		}
	}

	remote("origin")
	w.run(w.dir, "remote", "add", "other", "https://example.com/x.git")
	w.run(w.dir, "config", "branch.fix.pushRemote", "other")
	remote("other")
	if got, err := w.git.Remote(t.Context(), ""); err != nil || got != "origin" {
		t.Errorf("on no branch: %q, %v", got, err)
	}
	w.run(w.dir, "config", "--unset", "branch.fix.pushRemote")
	w.run(w.dir, "remote", "remove", "origin")
	remote("other")
	w.run(w.dir, "remote", "rename", "other", "one")
	w.run(w.dir, "remote", "add", "two", "https://example.com/y.git")
	remote("")
}

// TestHead: the commit and the branch, or why there is none.
func TestHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if oid, branch, err := w.git.Head(t.Context()); err != nil || branch != "fix" ||
		oid != w.run(w.dir, "rev-parse", "fix") {
		t.Errorf("head: %s, %s, %v", oid, branch, err)
	}

	w.run(w.dir, "switch", "-q", "--detach")
	if oid, branch, err := w.git.Head(t.Context()); err != nil || branch != "" || oid == "" {
		t.Errorf("detached: %s, %q, %v", oid, branch, err)
	}

	w.run(w.dir, "switch", "-q", "--orphan", "empty")
	if _, _, err := w.git.Head(t.Context()); !answer.Is(err, answer.Usage) {
		t.Errorf("no commit: %v", err)
	}

	w.git.Dir = t.TempDir()
	if _, _, err := w.git.Head(t.Context()); !answer.Is(err, answer.Usage) {
		t.Errorf("no clone: %v", err)
	}
}

// TestNotFoundOut: a git that ends with a signal has not said no, whatever it was asked.
func TestNotFoundOut(t *testing.T) {
	t.Parallel()
	head := func(w *world) error { _, _, err := w.git.Head(w.Context()); return err }
	remote := func(w *world) error { _, err := w.git.Remote(w.Context(), "fix"); return err }
	push := func(w *world) error {
		p := w.push(w.claim("ann"))
		w.run(w.dir, "push", "-q", "origin", "main:"+branch)
		_, err := w.git.Push(w.Context(), p)
		return err
	}
	w := newWorld(t)
	for what, ask := range map[string]func(*world) error{
		"rev-parse --git-dir": head,
		"rev-parse --verify":  head,
		"symbolic-ref":        head,
		"for-each-ref":        remote,
		"remote":              remote,
		"remote get-url":      push,
		"cat-file":            push,
		"merge-base":          push,
		"ls-remote":           push,
		"commit-tree":         push,
	} {
		w.wrap(`case " $* " in *" ` + what + ` "*) kill -9 $$ ;; esac`)
		operation, _, _ := strings.Cut(what, " ")
		err := ask(w)
		if err == nil || !strings.HasPrefix(err.Error(), "git "+operation+" in ") || answer.Is(err, answer.Usage) {
			t.Errorf("%s: %v, want that it is not known", what, err)
		}
		if w.git.Path = ""; w.at(branch) != "" {
			w.run(w.dir, "push", "-q", "origin", ":"+branch)
		}
	}
}

// TestNotCompared: neither has one that failed to compare two commits.
func TestNotCompared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.push(w.claim("ann"))
	w.run(w.dir, "push", "-q", "origin", "main:"+branch)
	w.wrap(`case " $* " in *" merge-base "*) exit 128 ;; esac`)
	var moved *gitpush.MovedError
	if got, err := w.git.Push(t.Context(), p); err == nil || errors.As(err, &moved) {
		t.Errorf("push: %v, %v, want that it is not known", got, err)
	}
}

// TestToldAtOnce: what git has said of a push counts where the remote cannot be looked at afterwards.
func TestToldAtOnce(t *testing.T) {
	t.Parallel()
	for _, declined := range []bool{false, true} {
		w := newWorld(t)
		p := w.push(w.claim("ann"))
		w.run(w.dir, "push", "-q", "origin", "main:"+branch)
		if declined {
			w.hook(w.served(), "update", "exit 1")
		}
		w.wrap(`case "$*" in *" push "*) touch pushed ;; *ls-remote*) [ ! -e pushed ] || exit 128 ;; esac`)
		got, err := w.git.Push(t.Context(), p)
		if (got == gitpush.Landed) == declined || answer.Is(err, answer.NotPushed) != declined {
			t.Errorf("declined %t: push: %v, %v\n%s", declined, got, err, w.said)
		}
	}
}

// TestToldNothing: a git that says nothing of a push leaves it open whether it has landed.
func TestToldNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.push(w.claim("ann"))
	w.wrap(`case "$*" in *"push --porcelain"*) exit 0 ;; esac`)
	got, err := w.git.Push(t.Context(), p)
	if got == gitpush.Landed || !answer.Is(err, answer.Unread) || !strings.Contains(err.Error(), "git push in "+w.dir) {
		t.Errorf("push: %v, %v, want that it is not known", got, err)
	}
}

// wrap has a script run before each git.
func (w *world) wrap(script string) {
	w.Helper()
	w.git.Path = filepath.Join(filepath.Dir(w.dir), "wrapped")
	if err := os.WriteFile(w.git.Path, []byte("#!/bin/sh\n"+script+"\nexec git \"$@\"\n"), 0o755); err != nil {
		w.Fatal(err)
	}
}

// TestBranchNames holds the rules for a branch's name against git's own.
func TestBranchNames(t *testing.T) {
	t.Parallel()
	g := git.Git{Dir: t.TempDir(), Env: os.Environ()}
	names := []string{
		"fix", "agent/issue-7", "a b", "a..b", "@{-1}", "@", "x:y", "-x", "HEAD", "a.lock", "a.lock/b",
		"a/.b", "a//b", "a/", "a.", "a.b", "größe", "a@b", "a{b", "a@{b", "~", "a-",
	}
	for c := rune(1); c <= ' '; c++ {
		names = append(names, fmt.Sprintf("a%cb", c))
	}

	for _, c := range "~^:?*[\\]{}|\"'$&%!;,\x7f" {
		names = append(names, fmt.Sprintf("a%cb", c))
	}

	for _, name := range names {
		out, err := g.Ask(t.Context(), "check-ref-format", "--branch", name)
		takes := err == nil && out == name
		if _, refused := claim.ParseBranch(name); (refused == nil) != takes {
			t.Errorf("branch %q: git takes it: %v; ours: %v", name, takes, refused)
		}
	}
}

// TestElsewhere: a remote that pushes elsewhere than it fetches is asked there, and what is asked
// for by
// --set-upstream is set once the commit is there.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.run(w.dir, "config", "remote.origin.url", "http://127.0.0.1:1/acme/app.git")
	w.run(w.dir, "config", "remote.origin.pushurl", w.stays+"/acme/app.git")
	p := w.push(w.claim("ann"))
	var err error
	if p.Options, err = gitpush.ReadOptions([]string{"-u", "-q"}); err != nil {
		t.Fatal(err)
	}

	if got, err := w.git.Push(t.Context(), p); err != nil || got != gitpush.Landed {
		t.Fatalf("push: %v, %v\n%s", got, err, w.said)
	}

	if err := w.git.Track(t.Context(), p, "fix"); err != nil {
		t.Error(err)
	}

	w.wrap(`case "$*" in *" config "*) exit 4 ;; esac`)
	if err := w.git.Track(t.Context(), p, ""); err != nil {
		t.Errorf("on no branch: %v", err)
	}
	if err := w.git.Track(t.Context(), p, "fix"); err == nil {
		t.Error("it follows although git could not write that")
	}

	if got := w.run(w.dir, "for-each-ref", "--format=%(upstream)", "refs/heads/fix"); got != "refs/remotes/origin/fix" {
		t.Errorf("fix follows %q", got)
	}
}
