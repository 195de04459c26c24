package outgoing

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/testmain"
)

// A sandbox is a folder in which real git runs with nothing of the user's, on a clock that the test
// moves.
type sandbox struct {
	t     testing.TB
	dir   string
	clock int64
	env   []string // further variables
}

// begin is when a sandbox's clock starts, in seconds.
const begin = 1_700_000_000

func newSandbox(t testing.TB) *sandbox {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &sandbox{t: t, dir: dir, clock: begin}
}

func (s *sandbox) path(name string) string { return filepath.Join(s.dir, name) }

func (s *sandbox) environ() []string {
	date := strconv.FormatInt(s.clock, 10) + " +0000"
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull,
		"LC_ALL=C",
		"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.com", "GIT_COMMITTER_DATE=" + date,
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
		"GIT_ALLOW_PROTOCOL=file",
		"GIT_CONFIG_KEY_1=maintenance.auto", "GIT_CONFIG_VALUE_1=false",
	}

	return append(env, s.env...)
}

// run runs git in a folder of the sandbox.
func (s *sandbox) run(folder, stdin string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = s.path(folder)
	cmd.Env = s.environ()
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		s.t.Logf("git %s: %v: %s", strings.Join(args, " "), err, &stderr)
	}

	return strings.TrimRight(string(out), "\n"), err
}

func (s *sandbox) git(folder string, args ...string) string {
	s.t.Helper()
	out, err := s.run(folder, "", args...)
	if err != nil {
		s.t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// commit makes an empty commit a minute later and returns its id.
func (s *sandbox) commit(folder, message string) string {
	s.t.Helper()
	s.clock += 60
	s.git(folder, "commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", message)
	return s.git(folder, "rev-parse", "HEAD")
}

// raw stores a commit object as given, however strange.
func (s *sandbox) raw(folder, text string) string {
	s.t.Helper()
	out, err := s.run(folder, text, "hash-object", "-t", "commit", "-w", "--literally", "--stdin")
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func (s *sandbox) write(name, text string) {
	s.t.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// pair makes a bare repository "hub" with three commits on main and a clone of it, "w".
func (s *sandbox) pair() {
	s.t.Helper()
	from, err := template()
	if err != nil {
		s.t.Fatal(err)
	}

	if err := os.CopyFS(s.dir, os.DirFS(from)); err != nil {
		s.t.Fatal(err)
	}
	config, err := os.ReadFile(s.path("w/.git/config"))
	if err != nil {
		s.t.Fatal(err)
	}

	s.write("w/.git/config", strings.ReplaceAll(string(config), from, s.dir))
	s.clock += 3 * 60
}

// template makes the pair once, and returns the folder; a copy starts no git.
var template = sync.OnceValues(func() (dir string, err error) {
	if dir, err = filepath.EvalSymlinks(shared); err != nil {
		return "", err
	}
	s := &sandbox{dir: dir, clock: begin}
	for _, args := range []string{
		". init --quiet --bare -b main hub", ". clone --quiet " + s.path("hub") + " w", "w checkout --quiet -b main",
		"w commit --quiet --allow-empty -m one", "w commit --quiet --allow-empty -m two",
		"w commit --quiet --allow-empty -m three",
		"w push --quiet -u origin main", "w remote set-head origin main",
	} {
		words := strings.Fields(args)
		if words[1] == "commit" {
			s.clock += 60
		}

		cmd := exec.Command("git", words[1:]...)
		cmd.Dir, cmd.Env = s.path(words[0]), s.environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("git %s: %w: %s", args, err, out)
		}
	}

	return dir, nil
})

// shared is a folder of all tests.
var shared string

// TestMain makes it.
func TestMain(m *testing.M) {
	os.Exit(testmain.Tests{Play: func() int {
		var err error
		if shared, err = os.MkdirTemp("", "outgoing-test-*"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}

		defer os.RemoveAll(shared)
		return m.Run()
	}}.Run())
}

// hook is a pre-push hook that writes down everything git gives it and refuses the push.
const hook = `#!/bin/sh
cat >"$OUT/stdin"; printf %s "$1" >"$OUT/remote"; printf %s "$2" >"$OUT/url"; pwd >"$OUT/pwd"; env >"$OUT/env"; exit 1
`

// push lets real git begin a push, args and all, and returns what its hook is told. It does not
// happen.
func (s *sandbox) push(folder string, args ...string) (git.Git, Push) {
	s.t.Helper()
	s.write("hooks/pre-push", hook)
	s.write("out/stdin", "none")
	s.env = append(s.env, "OUT="+s.path("out"))
	s.run(folder, "", append([]string{"-c", "core.hooksPath=" + s.path("hooks")}, args...)...)
	read := func(name string) string {
		data, err := os.ReadFile(s.path("out/" + name))
		if err != nil {
			s.t.Fatalf("the hook did not run: %v", err)
		}
		return string(data)
	}

	updates, err := ReadUpdates(strings.NewReader(read("stdin")))
	if err != nil {
		s.t.Fatal(err)
	}

	at := git.Git{Dir: strings.TrimSpace(read("pwd")), Env: strings.Split(strings.TrimSpace(read("env")), "\n")}
	return at, Push{Remote: read("remote"), URL: read("url"), Updates: updates}
}

// expected is the answer by its definition: what the pushed objects reach, less what the remote's
// reach, two plain sets. The remote has what git says of each updated reference, and what the
// tracking branches say, without those of updated references.
func (s *sandbox) expected(at git.Git, p Push, remotes []string, stale ...string) []string {
	s.t.Helper()
	ask := func(args ...string) ([]string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = at.Dir, append(slices.Clip(at.Env), "GIT_NO_REPLACE_OBJECTS=1")
		out, err := cmd.Output()
		return strings.Fields(string(out)), err
	}

	gone := map[string]bool{}
	add := func(oid string) {
		reached, err := ask("rev-list", oid)
		if err == nil {
			for _, r := range reached {
				gone[r] = true
			}
		}
	}

	for _, oid := range remoteOIDs(p.Updates) {
		add(oid)
	}

	for _, name := range remotes {
		for _, u := range p.Updates {
			stale = append(stale, "refs/remotes/"+name+strings.TrimPrefix(u.RemoteRef, "refs/heads"))
		}
		lines, err := ask("for-each-ref", "--format=%(objectname),%(refname),%(symref)", "refs/remotes/"+name+"/")
		if err != nil {
			s.t.Fatal(err)
		}

		var tips []string
		for _, line := range lines {
			fields := strings.Split(line, ",")
			if !slices.Contains(stale, fields[1]) && !slices.Contains(stale, fields[2]) {
				tips = append(tips, fields[0])
			}
		}

		slices.Sort(tips)
		for _, oid := range slices.Compact(tips) {
			add(oid)
		}
	}

	leaves := map[string]bool{}
	for _, oid := range pushed(p.Updates) {
		reached, _ := ask("rev-list", oid)
		for _, r := range reached {
			if !gone[r] {
				leaves[r] = true
			}
		}
	}

	return slices.Sorted(maps.Keys(leaves))
}

func oidsOf(commits []Commit) []string {
	list := make([]string, 0, len(commits))
	for _, c := range commits {
		list = append(list, c.OID)
	}
	slices.Sort(list)
	return list
}

// leaving are the commits that leave, by Commits and, where those are not exact, Leaving.
func leaving(ctx context.Context, at git.Git, p Push) ([]Commit, error) {
	found, exact, err := Commits(ctx, at, p)
	if err == nil && !exact {
		found, err = Leaving(ctx, at, p, found)
	}
	return found, err
}

// askGit is leaving by git alone.
func askGit(ctx context.Context, at git.Git, p Push) ([]Commit, error) {
	if len(pushed(p.Updates)) == 0 {
		return nil, nil
	}
	repo, err := openRepository(at)
	if err != nil {
		return nil, err
	}
	g, err := openGit(ctx, at, repo, p)
	if err != nil {
		return nil, err
	}

	found, exact, err := g.commits(ctx, nil, false)
	if err == nil && !exact {
		found, err = g.confirm(ctx, found)
	}

	return found, err
}
