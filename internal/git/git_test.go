package git_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	m.run(clone, "config", "status.showUntrackedFiles", "no")
	if err := os.WriteFile(filepath.Join(clone, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := g.Ask(t.Context(), git.Status()...); err != nil || out != "?? new" {
		t.Errorf("status: %q, %v", out, err)
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

	for env, want := range map[string]string{
		sub:                        sub + " is not a git directory",
		"gone":                     "follow GIT_DIR: ",
		"../.git":                  "",
		m.at("clone", ".git", "x"): "no such file",
	} {
		place, err := git.Find(sub, env)
		if want == "" && (err != nil || place != git.Place{Dir: m.at("clone", ".git")}) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want) || place.Dir != "") {
			t.Errorf("GIT_DIR=%s: %+v, %v, want %q", env, place, err, want)
		}
	}

	dot := filepath.Join(sub, ".git")
	for text, want := range map[string]string{
		"gitdir: ..\n":      "which is none",
		"gitdir: \n":        dot + " does not say where it is",
		"../.git\n":         dot + " does not say where it is",
		"gitdir: ../.git\n": "",
	} {
		if err := os.WriteFile(dot, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}

		place, err := git.Find(sub, "")
		if want == "" && (err != nil || place.Dir != m.at("clone", ".git")) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %+v, %v, want %q", text, place, err, want)
		}
	}

	if _, err := git.Linked(clone); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder is no link: %v", err)
	}

	if _, err := git.Find(filepath.Join(dot, "x"), ""); err == nil || errors.Is(err, git.ErrNone) {
		t.Errorf("below a file: %v", err)
	}
}

// TestCommon: what all worktrees share is where commondir says.
func TestCommon(t *testing.T) {
	m := newMachine(t)
	clone := m.at("clone")
	m.run(m.dir, "init", "-q", clone)
	m.run(clone, "commit", "-q", "--allow-empty", "-m", "one")
	m.run(clone, "worktree", "add", "-q", m.at("linked"))
	own, err := git.Linked(m.at("linked"))
	if err != nil {
		t.Fatal(err)
	}

	for _, dir := range []string{own, m.at("clone", ".git")} {
		if got, err := git.Common(dir); err != nil || got != m.at("clone", ".git") {
			t.Errorf("of %s: %s, %v", dir, got, err)
		}
	}

	if err := os.Remove(filepath.Join(own, "commondir")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(own, "commondir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := git.Common(own); err == nil {
		t.Errorf("commondir is a folder: %s", got)
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

// fake is a program of the shell in the place of git.
func (m machine) fake(script string) git.Git {
	m.Helper()
	path := m.at("fake")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		m.Fatal(err)
	}
	return git.Git{Dir: m.dir, Env: append(m.env, "GIT_ASKPASS=ask", "SSH_ASKPASS=ask"), Path: path}
}

// read is Stream with all of what git prints.
func read(ctx context.Context, g git.Git, stdin string, args ...string) (out string, err error) {
	err = g.Stream(ctx, stdin, args, func(r *bufio.Reader) error {
		text, err := io.ReadAll(r)
		out = string(text)
		return err
	})
	return out, err
}

// TestWhatGitGets: the words, the variables and the input of each way to run it.
func TestWhatGitGets(t *testing.T) {
	m := newMachine(t)
	g := m.fake(`echo "$*"
echo "$LC_ALL $GIT_TERMINAL_PROMPT $GIT_OPTIONAL_LOCKS ($GIT_ASKPASS$SSH_ASKPASS) $SSH_ASKPASS_REQUIRE"
echo "$GIT_NO_LAZY_FETCH $GIT_ALLOW_PROTOCOL $GIT_FLUSH $GCM_INTERACTIVE"
cat`)
	const quiet = "\nC 0 0 () never\n"
	for name, c := range map[string]struct {
		run  func() (string, error)
		want string
	}{
		"ask": {
			func() (string, error) { return g.Ask(t.Context(), "x", "y") },
			"-c core.fsmonitor=false x y" + quiet + "1 none  ",
		},
		"feed": {
			func() (string, error) { return g.Feed(t.Context(), "in", "x") },
			"-c core.fsmonitor=false x" + quiet + "1 none  \nin",
		},
		"do": {func() (string, error) { return g.Do(t.Context(), "x") }, "x" + quiet + "   "},
		"help": {
			func() (string, error) { return g.Help(t.Context(), "in", "x") },
			"-c credential.interactive=false x" + quiet + "   never\nin",
		},
		"talk": {func() (string, error) {
			out, code, err := g.Talk(t.Context(), &bytes.Buffer{}, "x")
			return out, errors.Join(err, exitError(code))
		}, "x\n   (askask) \n   \n"},
		"stream": {
			func() (string, error) { return read(t.Context(), g, "in", "x") },
			"-c core.fsmonitor=false x" + quiet + "1 none 0 \nin",
		},
	} {
		if got, err := c.run(); err != nil || got != "-c safe.bareRepository=explicit "+c.want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", name, err, got, c.want)
		}
	}
}

func exitError(code int) error {
	if code == 0 {
		return nil
	}
	return fmt.Errorf("exit code %d", code)
}

// TestCause: of all that git said, the line that says what went wrong.
func TestCause(t *testing.T) {
	m := newMachine(t)
	g := m.fake(`echo out; printf %s "$SAYS" >&2; [ "$CODE" ] || kill -9 $$; exit "$CODE"`)
	for _, c := range []struct {
		says, code, want string
		no               bool
	}{
		{"", "127", "exit code 127", true},
		{"", "128", "exit code 128", false},
		{"", "", "signal: killed", false},
		{"warning: old\nerror: bad.\nfatal: worse\n", "1", "bad", true},
		{"fatal: worse\nerror: bad\n", "1", "worse", true},
		{"ssh: no\nfatal: Could not read from remote repository.\n\nCheck it.\n", "128", "ssh: no", false},
		{"fatal: Could not read from remote repository.\n", "128", "Could not read from remote repository", false},
		{"one\n\n two \n\n", "2", "two", true},
	} {
		g.Env = append(m.env, "SAYS="+c.says, "CODE="+c.code)
		_, asked := g.Ask(t.Context(), "-q", "x")
		_, streamed := read(t.Context(), g, "", "-q", "x")
		for _, err := range []error{asked, streamed} {
			if err == nil || err.Error() != "git x in "+m.dir+": "+c.want || git.No(err) != c.no {
				t.Errorf("%q: %v (no: %t), want %s", c.says, err, git.No(err), c.want)
			}
		}

		var said bytes.Buffer
		out, code, err := g.Talk(t.Context(), &said, "x")
		if out != "out\n" || fmt.Sprint(code) != cmp.Or(c.code, "-1") || (err == nil) != (c.code != "") ||
			said.String() != c.says {
			t.Errorf("talk: %q, %d, %v, said %q", out, code, err, &said)
		}
	}
}

// TestStreamEnds: what the reader says counts, unless git has cut its answer off.
func TestStreamEnds(t *testing.T) {
	m := newMachine(t)
	enough := errors.New("enough")
	for _, c := range []struct {
		script string
		says   error
		want   string
	}{
		{"exec yes", enough, "enough"},
		{"exit 3", io.ErrUnexpectedEOF, "exit code 3"},
		{"exit 0", io.ErrUnexpectedEOF, "unexpected EOF"},
	} {
		err := m.fake(c.script).Stream(t.Context(), "", []string{"x"}, func(r *bufio.Reader) error {
			_, _ = r.Peek(1)
			return c.says
		})
		if err == nil || err.Error() != "git x in "+m.dir+": "+c.want {
			t.Errorf("%s: %v, want %s", c.script, err, c.want)
		}
	}

	over, cancel := context.WithCancel(t.Context())
	err := m.fake("echo; exec sleep 100").Stream(over, "", []string{"x"}, func(r *bufio.Reader) error {
		cancel()
		_, err := io.ReadAll(r)
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
}

// TestStopped: a git whose time is over is asked to end, so that it removes what it has half made, and
// the reason is the caller's.
func TestStopped(t *testing.T) {
	m := newMachine(t)
	g := m.fake(`trap 'echo tidied >>seen; exit 1' TERM; echo >up; while :; do sleep 0.01; done`)
	over := errors.New("the time is over")
	for name, run := range map[string]func(context.Context) error{
		"do":   func(ctx context.Context) error { _, err := g.Do(ctx, "x"); return err },
		"talk": func(ctx context.Context) error { _, _, err := g.Talk(ctx, io.Discard, "x"); return err },
	} {
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			for ; ; time.Sleep(time.Millisecond) {
				if os.Remove(m.at("up")) == nil {
					cancel(over)
					return
				}
			}
		}()
		if err := run(ctx); !errors.Is(err, over) {
			t.Errorf("%s: %v", name, err)
		}

		text, _ := os.ReadFile(m.seen)
		if _ = os.Remove(m.seen); string(text) != "tidied\n" {
			t.Errorf("%s: git did not tidy up: %q", name, text)
		}
	}
}

// TestElsewhere: what points git at another repository is left out, and nothing else.
func TestElsewhere(t *testing.T) {
	all := []string{"PATH=/bin", "GIT_DIR=x", "GIT_INDEX_FILE=y", "GIT_DIRECTORY=z", "GIT_SSH_COMMAND=ssh"}
	if got := strings.Join(git.Elsewhere(all), " "); got != "PATH=/bin GIT_DIRECTORY=z GIT_SSH_COMMAND=ssh" {
		t.Errorf("left: %s", got)
	}
}
