//go:build e2e

// Package hooks runs real hook managers, each set up as docs/hook.md says, around the real compiled
// hook, with real pushes to the embedded GitHub.
package hooks

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// programs is the folder of the compiled label-state, and of both stages of the hook.
var programs string

// whole is what "go install ./cmd/label-state" installs; small are the programs that a release has
// besides.
var (
	whole = []string{"label-state"}
	small = []string{"label-state-pre-push", "label-state-pre-push-check"}
)

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hooks")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	defer os.RemoveAll(dir)
	programs = dir
	for name, source := range map[string]string{
		"label-state": "label-state", "label-state-pre-push": "pre-push",
		"label-state-pre-push-check": "pre-push-check",
	} {
		build := exec.Command("go", "build", "-o", filepath.Join(dir, name), "../../cmd/"+source)
		build.Stdout, build.Stderr = os.Stderr, os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build:", err)
			return 1
		}
	}

	return m.Run()
}

// A world is an embedded GitHub, whose issue 1 drake holds in run d1, and a clone of its acme/app
// on branch work. Of our programs there is label-state alone, in ~/go/bin, which is on PATH.
type world struct {
	sim   *githubsim.Server
	dir   string // everything is below it
	clone string
	env   []string
	bin   string // our programs
	other string // where another tool's hook, if there is one, leaves the input it got

	short  bool // a desktop's PATH does not lead to the hook here
	brings bool // a hook manager has built programs of its own
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	ago := time.Now().Add(-2 * time.Hour)
	sim, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{
			Login: "bot", Token: "tok-bot",
			Permissions: map[string]string{"acme/app": "write"},
		}},
		Repos: []githubsim.SeedRepo{{
			Name: "acme/app", Files: map[string]string{"README.md": "app\n"},
			Issues: []githubsim.SeedIssue{
				{
					Number:    1,
					Title:     "Retry the upload on 503",
					CreatedAt: &ago,
					Comments: []githubsim.SeedComment{{
						Author: "bot", CreatedAt: &ago,
						Body: "<!-- agent-claim:codename=drake firing_id=d1 nonce=n1 ttl=14400 state=held -->",
					}},
				},
				{Number: 2, Title: "Free"},
			},
		}},
	}, githubsim.Options{Dir: filepath.Join(dir, "server")})
	if err != nil {
		t.Fatal(err)
	}
	base, stop, err := sim.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	w := &world{
		sim:   sim,
		dir:   dir,
		clone: filepath.Join(dir, "app"),
		env:   environment(dir, base),
		bin:   binFolder(dir),
	}
	w.install(t, whole)
	write(t, filepath.Join(dir, "home", ".gitconfig"),
		"[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tignoredHook = false\n")
	w.must(t, dir, "git", "clone", "-q", strings.Replace(base, "://", "://x:tok-bot@", 1)+"/acme/app.git", w.clone)
	w.must(t, w.clone, "git", "switch", "-q", "-c", "work")

	return w
}

// binFolder is where "go install" puts programs of a developer whose home is below dir.
func binFolder(dir string) string { return filepath.Join(dir, "home", "go", "bin") }

// install installs programs.
func (w *world) install(t *testing.T, names []string) {
	t.Helper()
	if err := os.MkdirAll(w.bin, 0o755); err != nil {
		t.Fatal(err)
	}

	for _, name := range names {
		if err := os.Link(filepath.Join(programs, name), filepath.Join(w.bin, name)); err != nil {
			w.must(t, w.dir, "cp", filepath.Join(programs, name), w.bin)
		}
	}
}

// environment is that of a developer whose GitHub is base.
func environment(dir, base string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if name != "CI" && !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "LABEL_STATE_") &&
			!strings.HasPrefix(name, "PRE_COMMIT") {
			env = append(env, kv)
		}
	}

	return append(env,
		"HOME="+filepath.Join(dir, "home"), "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "XDG_STATE_HOME=",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"PATH="+binFolder(dir)+string(filepath.ListSeparator)+os.Getenv("PATH"), "SAW="+filepath.Join(dir, "saw"),
		"LABEL_STATE_API_URL="+base, "LABEL_STATE_TOKEN=tok-bot", "NO_COLOR=1")
}

// run runs a program, as the world's own PATH knows it, in dir and returns all that it prints.
func (w *world) run(dir, name string, args ...string) (string, error) {
	cmd := exec.Command("env", append([]string{name}, args...)...)
	cmd.Dir, cmd.Env = dir, w.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) must(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := w.run(dir, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func (w *world) git(t *testing.T, args ...string) string {
	t.Helper()
	return w.must(t, w.clone, "git", args...)
}

// shell runs lines in the clone, as somebody types them who follows the page.
func (w *world) shell(t *testing.T, lines string) string {
	t.Helper()
	return w.must(t, w.clone, "sh", "-ec", lines)
}

// as is the same world for somebody with more environment.
func (w *world) as(env ...string) *world {
	out := *w
	out.env = append(w.env[:len(w.env):len(w.env)], env...)
	return &out
}

func (w *world) commit(t *testing.T, message string) {
	t.Helper()
	w.git(t, "commit", "-q", "--allow-empty", "--no-verify", "-m", message)
}

// remote is where the remote's branch work is; empty when there is none.
func (w *world) remote(t *testing.T) string {
	t.Helper()
	oid, _, _ := strings.Cut(w.git(t, "ls-remote", "origin", "refs/heads/work"), "\t")
	return oid
}

// guards pushes what the hook must stop, what it must let through, and what is none of its
// business, and wants another tool's hook, where there is one, to run and to have git's own input
// whenever ours lets the push go.
func (w *world) guards(t *testing.T) {
	t.Helper()
	w.commit(t, "Tidy up, see #1")
	w.passes(t, w.lines(t))
	w.commit(t, "Retry, closes #1")
	w.refuses(t)
	w.as("LABEL_STATE_CODENAME=drake", "LABEL_STATE_FIRING_ID=d1").passes(t, w.lines(t))
	w.passes(t, "") // nothing to push
	w.refusesElsewhere(t)
	oid := w.git(t, "rev-parse", "HEAD")
	w.passes(t, fmt.Sprintf("(delete) %s refs/heads/work %s\n", zero, oid), ":work")
	w.guardsDesktop(t)
	w.letsGo(t)
}

// guardsDesktop pushes as a program that a desktop has started, with a PATH that does not lead to
// ours.
func (w *world) guardsDesktop(t *testing.T) {
	t.Helper()
	if w.short {
		return
	}

	desktop := w.as("PATH=" + os.Getenv("PATH"))
	desktop.commit(t, "From a desktop, closes #1")
	desktop.refuses(t)
	w.git(t, "reset", "-q", "--soft", "HEAD~1")
}

// letsGo pushes from a machine on which our programs are not there any more: the push goes on, with
// one line about it.
func (w *world) letsGo(t *testing.T) {
	t.Helper()
	if w.brings {
		return
	}

	if err := os.Rename(w.bin, w.bin+".gone"); err != nil {
		t.Fatal(err)
	}

	defer func() {
		if err := os.Rename(w.bin+".gone", w.bin); err != nil {
			t.Fatal(err)
		}
	}()
	w.commit(t, "Unguarded, closes #1")
	out, err := w.push(t)
	if lines := strings.Count(out, "label-state: "); err != nil || lines != 1 ||
		!strings.Contains(out, "label-state: not checked, pushing anyway: label-state was not found") {
		t.Errorf("without the program: %v, %d lines\n%s", err, lines, out)
	}

	if w.remote(t) != w.git(t, "rev-parse", "HEAD") {
		t.Errorf("the push did not arrive\n%s", out)
	}
}

// refusesElsewhere pushes a branch that is not checked out, while the one that is has nothing to
// push: managers that look at its files see none.
func (w *world) refusesElsewhere(t *testing.T) {
	t.Helper()
	w.git(t, "branch", "-q", "--set-upstream-to=origin/work")
	w.git(t, "switch", "-q", "-C", "side")
	w.commit(t, "Retry once more, closes #1")
	w.git(t, "switch", "-q", "work")
	if out, err := w.push(t, "side"); err == nil || !strings.Contains(out, "push refused") {
		t.Fatalf("a branch that is not checked out was not refused: %v\n%s", err, out)
	}
}

const zero = "0000000000000000000000000000000000000000"

// lines is what git will tell a hook about a push of work.
func (w *world) lines(t *testing.T) string {
	t.Helper()
	was := w.remote(t)
	if was == "" {
		was = zero
	}
	return fmt.Sprintf("refs/heads/work %s refs/heads/work %s\n", w.git(t, "rev-parse", "HEAD"), was)
}

// passes wants the push to arrive without a word from us; input is what another tool's hook must
// have got.
func (w *world) passes(t *testing.T, input string, refs ...string) {
	t.Helper()
	out, err := w.push(t, refs...)
	if err != nil || strings.Contains(out, "label-state:") {
		t.Fatalf("the push went wrong, or not in silence: %v\n%s", err, out)
	}

	if len(refs) == 0 && w.remote(t) != w.git(t, "rev-parse", "HEAD") {
		t.Fatalf("the push did not arrive\n%s", out)
	}

	if got, err := os.ReadFile(w.other); w.other != "" && (err != nil || string(got) != input) {
		t.Fatalf("the other hook got %q (%v), want %q\n%s", got, err, input, out)
	}
}

// refuses wants the push to fail with our message, and nothing to arrive.
func (w *world) refuses(t *testing.T) {
	t.Helper()
	was := w.remote(t)
	out, err := w.push(t)
	if err == nil || !strings.Contains(out, "push refused, #1 ") ||
		!strings.Contains(out, "in flight: drake (run d1) since ") {
		t.Fatalf("not refused: %v\n%s", err, out)
	}

	if got := w.remote(t); got != was {
		t.Fatalf("refused, and yet it arrived: %s, was %q\n%s", got, was, out)
	}
}

// push pushes work, or the refs, and leaves what another tool's hook got of it, or nothing.
func (w *world) push(t *testing.T, refs ...string) (string, error) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(w.dir, "saw")); err != nil {
		t.Fatal(err)
	}

	if refs == nil {
		refs = []string{"work"}
	}

	return w.run(w.clone, "git", append([]string{"push", "origin"}, refs...)...)
}

// otherHook makes file another tool's pre-push hook.
func (w *world) otherHook(t *testing.T, file string) {
	t.Helper()
	write(t, file, "#!/bin/sh\n# another tool's\ncat >\"$SAW\"\n")
	w.other = filepath.Join(w.dir, "saw")
}

// write makes an executable file and the folders it is in.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}
