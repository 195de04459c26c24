package git_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/git"
)

// A machine has a home of its own, and a file that every program of a stranger's writes to.
type machine struct {
	*testing.T
	dir  string
	env  []string
	seen string
}

func newMachine(t *testing.T) machine {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	return machine{t, dir, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}, filepath.Join(dir, "seen")}
}

func (m machine) at(parts ...string) string {
	return filepath.Join(append([]string{m.dir}, parts...)...)
}

// run is git as a person has it, with no protection.
func (m machine) run(dir string, args ...string) {
	m.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, m.env
	if out, err := cmd.CombinedOutput(); err != nil {
		m.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// evil is a command line that leaves a trace.
func (m machine) evil() string { return "!echo ran >>" + m.seen + "; false" }

// embed makes a bare repository with configuration of a stranger's at docs/x in a clone, as a
// checkout does.
func (m machine) embed() (clone, bare string) {
	m.Helper()
	clone, bare = m.at("clone"), m.at("clone", "docs", "x")
	m.run(m.dir, "init", "-q", clone)
	m.run(m.dir, "init", "-q", "--bare", bare)

	for key, value := range map[string]string{
		"credential.helper": m.evil(), "core.fsmonitor": m.evil()[1:], "core.sshCommand": m.evil()[1:],
		"core.pager":      m.evil()[1:],
		"alias.rev-parse": m.evil(), "remote.origin.url": "ssh://host/a/b", "core.bare": "false", "core.worktree": ".",
	} {
		m.run(bare, "config", key, value)
	}

	return clone, bare
}

func (m machine) untouched() {
	m.Helper()
	if text, err := os.ReadFile(m.seen); err == nil {
		m.Errorf("a program of the repository ran: %s", text)
		_ = os.Remove(m.seen)
	}
}

// TestEmbeddedRepositoryIsNotUsed: neither found nor run in, however deep one stands in it; git by
// itself runs what it says.
func TestEmbeddedRepositoryIsNotUsed(t *testing.T) {
	m := newMachine(t)
	clone, bare := m.embed()
	plain := exec.Command("git", "credential", "fill")
	plain.Dir, plain.Env, plain.Stdin = bare, append(m.env, "GIT_TERMINAL_PROMPT=0",
		"GIT_ASKPASS="), strings.NewReader("protocol=https\nhost=x\n\n")
	_ = plain.Run()
	if _, err := os.Stat(m.seen); err != nil {
		t.Fatal("this git does not fall for it: the test shows nothing")
	}

	_ = os.Remove(m.seen)
	for _, dir := range []string{bare, filepath.Join(bare, "refs"), filepath.Join(bare, "objects", "info")} {
		var strange *git.EmbeddedError
		if place, err := git.Find(dir, ""); !errors.As(err, &strange) || strange.Dir != bare ||
			strange.Around != clone {
			t.Errorf("Find(%s) = %+v, %v", dir, place, err)
		}

		g := git.Git{Dir: dir, Env: m.env}
		for name, do := range map[string]func() error{
			"ask":  func() error { _, err := g.Ask(t.Context(), "rev-parse", "--git-dir"); return err },
			"feed": func() error { _, err := g.Feed(t.Context(), "", "cat-file", "--batch"); return err },
			"do":   func() error { _, err := g.Do(t.Context(), "fetch", "origin"); return err },
			"help": func() error {
				_, err := g.Help(t.Context(), "protocol=https\nhost=x\n\n", "credential", "fill")
				return err
			},
			"talk": func() error { _, _, err := g.Talk(t.Context(), &bytes.Buffer{}, "status"); return err },
			"stream": func() error {
				return g.Stream(t.Context(), "", []string{"rev-list", "HEAD"}, func(*bufio.Reader) error { return nil })
			},
		} {
			if err := do(); !errors.As(err, &strange) {
				t.Errorf("%s in %s: %v", name, dir, err)
			}
			m.untouched()
		}
	}
}

// TestGitRefusesByItself: what a program that git starts asks git is refused, too.
func TestGitRefusesByItself(t *testing.T) {
	m := newMachine(t)
	clone, bare := m.embed()
	m.run(clone, "config", "alias.inside", "!cd '"+bare+"' && git credential fill <<-x\nprotocol=https\nhost=x\n\nx\n")
	_, _ = git.Git{Dir: clone, Env: m.env}.Do(t.Context(), "inside")
	m.untouched()
}

// TestQuestionsStartNothing: what the clone's own configuration names for looking at files, and for
// fetching, does not run for a question; that is the user's own, and runs when git is to do
// something.
func TestQuestionsStartNothing(t *testing.T) {
	m := newMachine(t)
	clone := m.at("clone")
	m.run(m.dir, "init", "-q", clone)
	m.run(clone, "commit", "-q", "--allow-empty", "-m", "one")
	m.run(clone, "config", "core.fsmonitor", m.evil()[1:])
	m.run(clone, "config", "core.sshCommand", m.evil()[1:])
	m.run(clone, "config", "core.pager", m.evil()[1:])
	m.run(clone, "config", "pager.status", "true")
	m.run(clone, "config", "alias.status", m.evil())
	m.run(clone, "config", "extensions.partialClone", "origin")
	m.run(clone, "config", "remote.origin.promisor", "true")
	m.run(clone, "config", "remote.origin.url", "ssh://host/a/b")
	_ = os.Remove(m.seen)
	g := git.Git{Dir: clone, Env: m.env}
	if _, err := g.Ask(t.Context(), "status", "--porcelain"); err != nil {
		t.Error(err)
	}

	if _, err := g.Ask(t.Context(), "cat-file", "-e", strings.Repeat("1", 40)); err == nil {
		t.Error("an object that is nowhere is there")
	}
	m.untouched()
}

// TestRepositoriesThatAreFound: everything that is not in somebody else's clone works as before.
func TestRepositoriesThatAreFound(t *testing.T) {
	m := newMachine(t)
	clone, bare := m.embed()
	m.run(m.dir, "init", "-q", "--bare", m.at("own.git"))
	m.run(clone, "commit", "-q", "--allow-empty", "-m", "one")
	m.run(clone, "worktree", "add", "-q", m.at("linked"))

	for _, c := range []struct{ dir, env, repo, want string }{
		{dir: clone, want: ".git"},
		{dir: m.at("clone", "docs"), want: m.at("clone", ".git")},
		{dir: m.at("clone", ".git"), want: "."},
		{dir: m.at("clone", ".git", "refs"), want: m.at("clone", ".git")},
		{dir: m.at("own.git"), want: "."},
		{dir: m.at("own.git", "refs"), want: m.at("own.git")},
		{dir: m.at("linked"), want: m.at("clone", ".git", "worktrees", "linked")},
		{dir: bare, env: m.at("clone", ".git"), want: m.at("clone", ".git")},
		{dir: m.dir, repo: m.at("own.git"), want: m.at("own.git")},
	} {
		g := git.Git{Dir: c.dir, Env: m.env, Repo: c.repo}
		if c.env != "" {
			g.Env = append(g.Env, "GIT_DIR="+c.env)
		}

		if got, err := g.Ask(t.Context(), "rev-parse", "--git-dir"); err != nil || got != c.want {
			t.Errorf("in %s: %s, %v; want %s", c.dir, got, err, c.want)
		}
	}

	if _, err := (git.Git{Dir: m.dir, Env: m.env}).Ask(t.Context(), "rev-parse", "--git-dir"); git.Code(err) != 128 {
		t.Errorf("outside: %v", err)
	}
}

// TestLeadsNowhere: GIT_DIR, or the .git of a worktree, that leads to no git directory is an error;
// what is above is not looked at instead.
func TestLeadsNowhere(t *testing.T) {
	m := newMachine(t)
	clone := m.at("clone")
	m.run(m.dir, "init", "-q", clone)
	sub := m.at("clone", "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}

	if place, err := git.Find(clone, sub); err == nil {
		t.Errorf("GIT_DIR of a plain folder: %+v", place)
	}

	if err := os.WriteFile(filepath.Join(sub, ".git"), []byte("gitdir: ..\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	if place, err := git.Find(sub, ""); err == nil {
		t.Errorf(".git that names a plain folder: %+v", place)
	}
}

// TestErrors: repository, operation and cause, each once.
func TestErrors(t *testing.T) {
	m := newMachine(t)
	clone := m.at("clone")
	m.run(m.dir, "init", "-q", clone)
	g := git.Git{Dir: clone, Env: m.env}
	over, cancel := context.WithCancel(t.Context())
	cancel()

	for _, c := range []struct {
		err  func() error
		want string
		no   bool
	}{
		{func() error { _, err := g.Do(t.Context(), "fetch", m.at("gone")); return err }, "git fetch in " + clone +
			": '" + m.at("gone") + "' does not appear to be a git repository", false},
		{
			func() error { _, err := g.Do(t.Context(), "worktree", "add", m.at("x"), "nope"); return err },
			"git worktree in " + clone + ": invalid reference: nope", false,
		},
		{func() error { _, err := g.Ask(t.Context(), "config", "a.b"); return err }, "git config in " + clone +
			": exit code 1", true},
		{func() error { _, err := g.Ask(over, "version"); return err }, "git version in " + clone +
			": context canceled", false},
		{func() error { _, _, err := g.Talk(over, &bytes.Buffer{}, "push"); return err }, "git push in " + clone +
			": context canceled", false},
		{func() error {
			_, err := git.Git{Dir: m.dir, Env: m.env, Repo: m.at("gone")}.Ask(t.Context(), "rev-parse", "HEAD")
			return err
		}, "git rev-parse in " + m.at("gone") + ": not a git repository: '" + m.at("gone") + "'", false},
	} {
		err := c.err()
		if err == nil || err.Error() != c.want || git.No(err) != c.no {
			t.Errorf("%v (no: %t)\nwant %s", err, git.No(err), c.want)
		}
	}
}

// TestLocate: a git in a folder that may be the clone's is not run.
func TestLocate(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}

	t.Chdir(filepath.Dir(dir))
	for _, c := range []struct {
		env  []string
		want string
	}{
		{nil, ""},
		{[]string{"PATH=relative:"}, ""},
		{[]string{"PATH=" + filepath.Base(dir)}, ""},
		{[]string{"PATH=/nowhere", "PATH=" + dir}, filepath.Join(dir, "git")},
		{[]string{"PATH=/nowhere" + string(os.PathListSeparator) + dir}, filepath.Join(dir, "git")},
		{[]string{"PATH=/nowhere", "GIT_EXEC_PATH=" + dir}, filepath.Join(dir, "git")},
	} {
		g := git.Git{Env: c.env}
		if err := g.Locate(); g.Path != c.want || (err == nil) != (c.want != "") {
			t.Errorf("Locate with %q: %q, %v", c.env, g.Path, err)
		}
	}
}
