package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/label-state/label-state/internal/agenthost"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/programs"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
	"github.com/label-state/label-state/internal/testmain"
)

// folder is where program puts the hook, for as long as the tests run.
var folder string

// program makes the hook when it is first asked for, within a test, and returns its file, whose name
// is that by which the shim finds it.
var program = sync.OnceValues(func() (file string, err error) {
	file = filepath.Join(folder, "label-state-pre-push")
	for to, name := range map[string]string{file: "pre-push", file + "-check": "pre-push-check"} {
		if err := programs.Copy(name, to, "-ldflags", "-X main.version=v1.2.3"); err != nil {
			return "", err
		}
	}

	return file, nil
})

func TestMain(m *testing.M) {
	os.Exit(testmain.Tests{Play: func() int { return testMain(m) }, AtOnce: 4}.Run())
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "pre-push")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}

	defer os.RemoveAll(dir)
	folder = dir
	return m.Run()
}

// TestPush plays real pushes to the embedded GitHub with the compiled hook behind the shim. Each
// script starts in a fresh clone of acme/app on branch work, with the hook installed and
// LABEL_STATE_TOKEN set. An ordinary run plays those that show each outcome, and a sample of the others.
func TestPush(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Files: scripts(t),
		Setup: setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"asked":   asked,
			"offline": offline,
			"slow":    slow,
			"absent":  absent,
			"hold":    hold,
			"paged":   paged,
			"leases":  leases,
			"later":   later,
			"publish": publish,
		},
	})
}

func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d scripts, %v", len(all), err)
	}

	outcomes := []string{"fork.txtar", "passes.txtar", "refused.txtar", "stages.txtar", "trouble.txtar", "unknown.txtar"}
	return slices.DeleteFunc(all, func(file string) bool {
		name := filepath.Base(file)
		return !slices.Contains(outcomes, name) && !sample.Plays(name, 0, 5)
	})
}

// A world is what one script meets.
type world struct {
	sim    *githubsim.Server
	stop   func()
	absent atomic.Bool  // whether nothing is there
	slow   atomic.Int64 // how late answers to the API are, in nanoseconds
	asked  int          // requests that a script has looked at already
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value("world").(*world) }

func setUp(e *testscript.Env) error {
	seed, err := readSeed(time.Now())
	if err != nil {
		return err
	}

	w := &world{}
	if w.sim, err = githubsim.New(seed, githubsim.Options{Dir: filepath.Join(e.WorkDir, ".git-server")}); err != nil {
		return err
	}

	w.sim.Fault = func(r *http.Request) *githubsim.Fault {
		late := time.Duration(w.slow.Load())
		if w.absent.Load() {
			return &githubsim.Fault{Status: http.StatusNotFound}
		}
		if late == 0 || strings.Contains(r.URL.Path, ".git/") {
			return nil
		}

		return &githubsim.Fault{Delay: late}
	}

	base, stop, err := w.sim.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}

	w.stop = stop
	e.Defer(stop)
	e.Values["world"] = w
	return clone(e, base)
}

// clone makes $WORK/app, a clone of acme/app.
func clone(e *testscript.Env, base string) error {
	home, app := filepath.Join(e.WorkDir, ".home"), filepath.Join(e.WorkDir, "app")
	hooks, err := filepath.Abs("../../hooks")
	if err != nil {
		return err
	}
	hook, err := program()
	if err != nil {
		return err
	}

	signed := strings.Replace(base, "://", "://x:tok-bot@", 1)
	for name, value := range map[string]string{
		"HOME": home, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "TZ": "UTC", "BASE": base,
		"PATH":   filepath.Dir(hook) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"REMOTE": signed, "LABEL_STATE_API_URL": base, "LABEL_STATE_TOKEN": "tok-bot",
	} {
		e.Setenv(name, value)
	}

	config := "[maintenance]\n\tauto = false\n[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n[core]\n\thooksPath = " + hooks + "\n"
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644); err != nil {
		return err
	}

	e.Cd = app
	for _, args := range [][]string{
		{"clone", "-q", signed + "/acme/app.git", app},
		{"-C", app, "switch", "-q", "-c", "work"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Env = e.Vars
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", args[0], err, out)
		}
	}

	return nil
}

// publish FILE makes it acme/app's configuration, on the default branch.
func publish(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: publish FILE")
	}
	ts.Check(worldOf(ts).sim.CommitFile("acme/app", ".github/label-state.yml", ts.ReadFile(args[0])))
}

var ago = regexp.MustCompile(`@[0-9a-z]+@`)

// readSeed reads testdata/seed.json, where @2h@ stands for the time two hours ago.
func readSeed(now time.Time) (githubsim.Seed, error) {
	data, err := os.ReadFile("testdata/seed.json")
	if err != nil {
		return githubsim.Seed{}, err
	}

	data = ago.ReplaceAllFunc(data, func(m []byte) []byte {
		d, parseErr := time.ParseDuration(strings.Trim(string(m), "@"))
		if parseErr != nil {
			err = parseErr
		}
		return []byte(now.Add(-d).UTC().Format(time.RFC3339))
	})

	if err != nil {
		return githubsim.Seed{}, err
	}

	return githubsim.LoadSeed(bytes.NewReader(data))
}

// asked [N]: the API was asked N times since the script looked last, and nothing was written there.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: asked [N]")
	}
	w := worldOf(ts)
	api := w.api()
	fresh := api[w.asked:]
	w.asked = len(api)

	for _, r := range fresh {
		ts.Logf("%s %s %s %d", r.Method, r.Path, r.GraphQL, r.Status)
		if r.Writes() {
			ts.Fatalf("the hook wrote: %s %s %s", r.Method, r.Path, r.GraphQL)
		}
	}

	if got := fmt.Sprint(len(fresh)); len(args) == 1 && got != args[0] {
		ts.Fatalf("%s requests, want %s", got, args[0])
	}
}

// leases NUMBER CODENAME FIRING TTL takes the lease of acme/app#NUMBER in the references of the
// repository and tells nobody else.
func leases(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: leases NUMBER CODENAME FIRING TTL")
	}
	number, err := strconv.Atoi(args[0])
	ts.Check(err)
	ttl, err := time.ParseDuration(args[3])
	ts.Check(err)
	base := ts.Getenv("BASE")
	client, err := github.New(github.Options{
		REST:    base + "/",
		GraphQL: base + "/graphql",
		Token:   github.NewSecret("tok-bot"),
		HTTP:    http.DefaultTransport,
		Clock:   setup.Clock(),
	})
	ts.Check(err)
	_, err = gitref.New(client, gitref.Options{}).Acquire(context.Background(), lease.Ask{
		Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: number},
		Worker: claim.Worker{Codename: args[1], FiringID: args[2]}, TTL: ttl,
	})
	ts.Check(err)
	worldOf(ts).asked = len(worldOf(ts).api())
}

// later DURATION lets so much time pass on GitHub.
func later(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: later DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	worldOf(ts).sim.Skip(d)
}

// api are the requests that were not git's.
func (w *world) api() []githubsim.Request {
	return slices.DeleteFunc(w.sim.Requests(),
		func(r githubsim.Request) bool { return strings.Contains(r.Path, ".git/") })
}

// offline stops the server.
func offline(ts *testscript.TestScript, _ bool, _ []string) { worldOf(ts).stop() }

// absent has GitHub answer 404 to everything, as a server does that is somewhere else.
func absent(ts *testscript.TestScript, _ bool, _ []string) { worldOf(ts).absent.Store(true) }

// slow DURATION delays every answer of the API from now on; git is served at once.
func slow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: slow DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	worldOf(ts).slow.Store(int64(d))
}

// hold NUMBER CODENAME FIRING [HOST:SESSION [live]] records a claim of acme/app#NUMBER in the
// worktree, as "label-state claim" does; of a session that has ended, unless it is live.
func hold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 || len(args) > 5 {
		ts.Fatalf("usage: hold NUMBER CODENAME FIRING [HOST:SESSION [live]]")
	}
	var beat agenthost.Beat
	if len(args) > 3 {
		beat.Session, _ = agenthost.ParseSession(args[3])
	}

	if len(args) == 4 {
		beat.Ended = time.Now()
	}

	var number int
	_, err := fmt.Sscan(args[0], &number)
	ts.Check(err)
	dir, err := state.GitDir(ts.MkAbs("."), "")
	ts.Check(err)
	ts.Check(state.OpenHolds(dir).Save(state.Hold{
		Issue:   claim.Issue{Owner: "acme", Repo: "app", Number: number},
		Worker:  claim.Worker{Codename: args[1], FiringID: args[2]},
		Comment: 1,
		TTL:     4 * time.Hour,
		Until:   time.Now().Add(time.Hour),
		Beat:    beat,
	}))
}

// pipe is an input and its other end; both are closed with the test.
func pipe(t *testing.T) (in, out *os.File) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { errors.Join(in.Close(), out.Close()) })
	return in, out
}

// built is program for a test that writes while the program runs, which takes a while to make.
func built(t *testing.T) (file string) {
	t.Helper()
	file, err := program()
	if err != nil {
		t.Fatal(err)
	}

	return file
}

// saidOf is what the program says, with an input and twenty seconds.
func saidOf(t *testing.T, in *os.File) (said string, err error) {
	hook := built(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, hook, "origin", "https://github.com/acme/app.git")
	cmd.Dir, cmd.Stdin = t.TempDir(), in
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// TestInputWithoutEnd is lefthook without use_stdin: whoever holds the other end of the input, and
// whatever they wrote, the program ends.
func TestInputWithoutEnd(t *testing.T) {
	t.Parallel()
	for _, written := range []string{"", "refs/heads/work " + strings.Repeat("1", 40) + " refs/heads/work " +
		strings.Repeat("0", 40) + "\n"} {
		t.Run(fmt.Sprint(len(written)), func(t *testing.T) {
			t.Parallel()
			in, out := pipe(t)
			if _, err := out.WriteString(written); err != nil {
				t.Fatal(err)
			}

			said, err := saidOf(t, in)
			if want := "label-state: not checked, pushing anyway: read from git: the input does not end\n"; err != nil || said != want {
				t.Errorf("%v with\n%s", err, said)
			}
		})
	}
}
