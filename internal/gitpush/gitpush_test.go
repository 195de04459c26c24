package gitpush_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/gitpush"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/sample"
)

const branch = "refs/heads/fix"

const nobody = "label-state <label-state@users.noreply.github.com>"

var chain = gitref.RefName(issue)

// TestPushWithTheLease: the branch and the lease move together. The commit that git made extends
// the lease by nothing, whatever the machine's clock says, and the holder goes on from it.
func TestPushWithTheLease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.claim("ann")
	for n := range 3 {
		p := w.push(l)
		if got, err := w.git.Push(t.Context(), p); err != nil || got != gitpush.Landed {
			t.Fatalf("push %d: %v, %v\n%s", n, got, err, w.said)
		}

		if w.at(branch) != p.Source || w.at(chain+"^") != p.With.Before {
			t.Errorf("push %d: branch at %s, chain at %s", n, w.at(branch), w.at(chain))
		}
		if who := w.run(w.served(), "log", "-1", "--format=%an <%ae> %cn <%ce>", chain); who != nobody+" "+nobody {
			t.Errorf("push %d: the chain's commit is by %s", n, who)
		}
		got, held, err := w.store.Look(t.Context(), issue)
		if err != nil || !held || got.Worker != l.Worker || got.Token != l.Token || !got.Expires.Equal(l.Expires) {
			t.Errorf("push %d: the lease is %+v, %t, %v, want it as it was: %+v", n, got, held, err, l)
		}

		w.commit("more")
	}

	if got, err := w.store.Renew(t.Context(), l); err != nil || got.Token != l.Token {
		t.Errorf("renew: %+v, %v", got, err)
	}
	w.hub.Skip(hold + gitref.DefaultGrace)
	if bob := w.claim("bob"); bob.Token <= l.Token {
		t.Errorf("bob's token is %d after %d", bob.Token, l.Token)
	}
}

// TestThere: what is there already is not pushed, and needs no lease to be.
func TestThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.push(w.claim("ann"))
	for _, want := range []gitpush.Result{gitpush.Landed, gitpush.There} {
		if got, err := w.git.Push(t.Context(), p); err != nil || got != want {
			t.Errorf("push: %v, %v, want %v", got, err, want)
		}
	}
}

// TestOnItsWay: whatever happens between the check and the push, and however late the push arrives,
// it lands while the lease is its pusher's or not at all (guarantees.md#evidence).
func TestOnItsWay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fate  func(w *world, deliver func()) bool
		moved string // by the error; empty wants another answer
		lands bool
	}{
		"lease stolen":  {func(w *world, _ func()) bool { w.stolen(); return true }, chain, false},
		"lease renewed": {func(w *world, _ func()) bool { w.claim("ann"); return true }, chain, false},
		"branch moved": {func(w *world, _ func()) bool {
			w.run(w.served(), "update-ref", branch, "main")
			return true
		}, branch, false},
		"answer lost":   {func(_ *world, deliver func()) bool { deliver(); return false }, "", true},
		"stolen after":  {func(w *world, deliver func()) bool { deliver(); w.stolen(); return false }, "", true},
		"arrives twice": {func(_ *world, deliver func()) bool { deliver(); return true }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.push(w.claim("ann"))
			w.meet(func(deliver func()) bool { return c.fate(w, deliver) })
			got, err := w.git.Push(t.Context(), p)
			moved, _ := errors.AsType[*gitpush.MovedError](err)
			if (moved != nil) != (c.moved != "") || moved != nil && moved.Ref != c.moved {
				t.Errorf("push: %v, %v, want that %q moved\n%s", got, err, c.moved, w.said)
			}

			if lands := w.at(branch) == p.Source; lands != c.lands || lands != (got == gitpush.Landed) {
				t.Errorf("push: %v, %v; landed: %t, want %t", got, err, lands, c.lands)
			}
		})
	}
}

// TestLate: the connection breaks, nobody knows, somebody else takes the issue over, and then the
// push arrives. Without the lease it lands: that is what other ways of deciding cannot promise.
func TestLate(t *testing.T) {
	t.Parallel()
	for name, strict := range map[string]bool{"with the lease": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.push(w.claim("ann"))
			if !strict {
				p.With = nil
			}

			arrive := make(chan func(), 16)
			w.meet(func(deliver func()) bool { arrive <- deliver; return false })
			got, err := w.git.Push(t.Context(), p)
			if !answer.Is(err, answer.Unread) {
				t.Fatalf("push: %v, %v, want that nobody knows\n%s", got, err, w.said)
			}

			w.stolen()
			(<-arrive)()
			if landed := w.at(branch) == p.Source; landed == strict {
				t.Errorf("landed: %t", landed)
			}
		})
	}
}

// TestLateUnderTheHold: what arrives late while nothing has changed lands, and a push that is made
// again instead keeps it out.
func TestLateUnderTheHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.claim("ann")
	p := w.push(l)
	arrive := make(chan func(), 16)
	w.meet(func(deliver func()) bool { arrive <- deliver; return false })
	if _, err := w.git.Push(t.Context(), p); err == nil {
		t.Fatal("pushed without a connection")
	}

	w.meet(nil)
	second := w.commit("instead")
	if got, err := w.git.Push(t.Context(), w.push(l)); err != nil || got != gitpush.Landed {
		t.Fatalf("again: %v, %v\n%s", got, err, w.said)
	}

	(<-arrive)()
	if w.at(branch) != second {
		t.Errorf("the branch is at %s, want %s", w.at(branch), second)
	}
}

// TestPushAfterTheLoss: the lease was lost before, and the store says so; with a step from before,
// git does.
func TestPushAfterTheLoss(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.claim("ann")
	p := w.push(l)
	w.stolen()
	if _, err := w.store.Push(t.Context(), l); !errors.Is(err, lease.ErrLost) {
		t.Errorf("step: %v, want that it is lost", err)
	}

	var moved *gitpush.MovedError
	if got, err := w.git.Push(t.Context(), p); !errors.As(err, &moved) || moved.Ref != chain || w.at(branch) != "" {
		t.Errorf("push: %v, %v, branch at %q", got, err, w.at(branch))
	}
}

// TestWithoutAtomic is why the push is atomic, and why the lease's step must lead somewhere: git
// pushes what it can of several references, and sends no condition for one that stays where it is.
// If this stopped failing, git would have become stricter.
func TestWithoutAtomic(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]func(tip, next string) []string{
		"not atomic": func(tip, next string) []string {
			return []string{"--force-with-lease=" + chain + ":" + tip, "origin", next + ":" + chain}
		},
		"unchanged": func(tip, _ string) []string {
			return []string{"--atomic", "--force-with-lease=" + chain + ":" + tip, "origin", tip + ":" + chain}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.claim("ann")
			tip := w.at(chain)
			w.run(w.dir, "fetch", "-q", "origin", chain)
			next := w.run(w.dir, "commit-tree", tip+"^{tree}", "-p", tip, "-m", "label-state: push")
			w.meet(func(func()) bool { w.stolen(); return true })
			_, _ = w.try(w.dir, append(append([]string{"push"}, args(tip, next)...), "HEAD:"+branch)...)
			if w.at(branch) == "" || w.at(chain) == tip {
				t.Errorf("branch at %q, chain at %q (was %s)", w.at(branch), w.at(chain), tip)
			}
		})
	}
}

// TestRefused: what git, a hook or the remote does not want is a no, and nothing has moved. An
// ordinary run plays half of it.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(w *world, p *gitpush.Push)
		want    string
	}{
		"pre-push hook": {
			func(w *world, _ *gitpush.Push) { w.hook(w.dir+"/.git", "pre-push", "exit 1") },
			"the pre-push hook of this clone refused it",
		},
		"remote's hook": {func(w *world, _ *gitpush.Push) {
			w.hook(w.served(), "update", `[ "$1" != refs/heads/fix ]`)
		}, "refused: hook declined"},
		"remote's hook for all": {
			func(w *world, _ *gitpush.Push) { w.hook(w.served(), "pre-receive", "exit 1") },
			"refused: pre-receive hook declined",
		},
		"behind": {func(w *world, p *gitpush.Push) {
			w.run(w.dir, "push", "-q", "origin", "HEAD:"+branch)
			p.Source = w.run(w.dir, "rev-parse", "main")
		}, branch + " is at "},
		"beside": {func(w *world, p *gitpush.Push) {
			w.run(w.dir, "push", "-q", "origin", "HEAD:"+branch)
			w.run(w.dir, "reset", "-q", "--hard", "main")
			p.Source = w.commit("beside")
		}, branch + " is at "},
		"never seen": {func(w *world, p *gitpush.Push) {
			dir := w.served()
			theirs := w.run(dir, "commit-tree", "main^{tree}", "-p", "main", "-m", "theirs")
			w.run(dir, "update-ref", branch, theirs)
		}, branch + " is at "},
		"no such lease": {func(w *world, p *gitpush.Push) { p.Remote = w.stays + "/acme/fork.git" }, chain +
			" is not there"},
		"several addresses": {func(w *world, _ *gitpush.Push) {
			for _, repo := range []string{"app", "fork"} {
				w.run(w.dir, "remote", "set-url", "--add", "--push", "origin", w.stays+"/acme/"+repo+".git")
			}
		}, "origin pushes to several addresses"},
		"no remote":    {func(_ *world, p *gitpush.Push) { p.Remote = "nowhere" }, "/app: exit code 128"},
		"empty remote": {func(_ *world, p *gitpush.Push) { p.Remote = "" }, `"" is not a remote`},
		"not a remote": {
			func(_ *world, p *gitpush.Push) { p.Remote = "--upload-pack=true" },
			`"--upload-pack=true" is not a remote`,
		},
		"no connection": {
			func(_ *world, p *gitpush.Push) { p.Remote = "http://127.0.0.1:1/acme/app.git" },
			"git ls-remote in ",
		},
	} {
		if !sample.Plays(name, 0, 2) {
			continue
		}

		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.push(w.claim("ann"))
			c.prepare(w, &p)
			before, tip := w.at(branch), w.at(chain)
			got, err := w.git.Push(t.Context(), p)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("push: %v, %v, want %q\n%s", got, err, c.want, w.said)
			}

			if w.at(branch) != before || w.at(chain) != tip {
				t.Errorf("branch at %q, chain at %q; want %q and %q", w.at(branch), w.at(chain), before, tip)
			}
		})
	}
}

// hook writes a hook.
func (w *world) hook(dir, name, script string) {
	w.Helper()
	file := filepath.Join(dir, "hooks", name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
		os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o755)); err != nil {
		w.Fatal(err)
	}
}

// served is the server's own repository.
func (w *world) served() string {
	w.Helper()
	dir, err := w.hub.GitDir("acme/app")
	if err != nil {
		w.Fatal(err)
	}
	return dir
}

// TestGivenUp: a push whose time is over while the remote is silent is ended, and nobody knows; the
// reason is the context's.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.push(w.claim("ann"))
	ctx, cancel := context.WithCancelCause(t.Context())
	silence := make(chan struct{})
	defer close(silence)
	w.meet(func(func()) bool {
		w.meet(nil)
		cancel(errors.New("the time is over"))
		<-silence
		return false
	})
	got, err := w.git.Push(ctx, p)
	unread, _ := errors.AsType[*answer.Problem](err)
	if !answer.Is(err, answer.Unread) || len(unread.Next) != 1 || !strings.Contains(err.Error(), "the time is over") ||
		w.at(branch) != "" {
		t.Errorf("push: %v, %v, branch at %q\n%s", got, err, w.at(branch), w.said)
	}
}
