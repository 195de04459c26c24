package gitpush_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/gitpush"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/gitref"
)

// A world is the embedded GitHub behind a proxy that decides how pushes arrive, and a clone of
// acme/app on branch fix with one commit to push.
type world struct {
	*testing.T
	hub   *githubsim.Server
	store *gitref.Store
	dir   string
	git   gitpush.Git
	said  *bytes.Buffer

	turn  sync.Mutex // of the pushes that meet their fate: libcurl repeats what broke off
	mu    sync.Mutex
	fate  func(deliver func()) bool // of the next push: what happens, and whether its answer is heard
	stays string                    // the proxy's address
}

var issue = claim.Issue{Owner: "acme", Repo: "app", Number: 7}

const hold = 30 * time.Minute

func newWorld(t *testing.T) *world {
	t.Helper()
	hub, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{
			Login: "bot", Token: "tok-bot",
			Permissions: map[string]string{"acme/app": "write", "acme/fork": "write"},
		}},
		Repos: []githubsim.SeedRepo{
			{Name: "acme/app", DefaultBranch: "main"},
			{Name: "acme/fork", DefaultBranch: "main"},
		},
	}, githubsim.Options{Dir: t.TempDir(), RateLimit: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}

	api, err := github.New(github.Options{
		REST:    "https://api.github.com/",
		GraphQL: "https://api.github.com/graphql",
		Token:   github.NewSecret("tok-bot"),
		HTTP:    hub.Transport(),
	})
	if err != nil {
		t.Fatal(err)
	}

	w := &world{
		T:     t,
		hub:   hub,
		store: gitref.New(api, gitref.Options{}),
		said:  &bytes.Buffer{},
	}
	w.listen()
	w.clone()

	return w
}

// listen puts the proxy in front of the server.
func (w *world) listen() {
	at, stop, err := w.hub.Listen("127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}

	w.Cleanup(stop)
	to, err := url.Parse(at)
	if err != nil {
		w.Fatal(err)
	}

	through := httputil.NewSingleHostReverseProxy(to)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		fate := w.next()
		if fate == nil || !strings.HasSuffix(r.URL.Path, "/git-receive-pack") || r.Method != http.MethodPost {
			through.ServeHTTP(rw, r)
			return
		}

		body, _ := io.ReadAll(r.Body)
		answer := httptest.NewRecorder()
		again := r.Clone(w.Context())
		deliver := func() {
			again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			through.ServeHTTP(answer, again)
		}

		if !w.fated(fate, deliver) {
			panic(http.ErrAbortHandler) // and again when it is repeated, which libcurl does by itself
		}
		w.meet(nil)
		deliver()

		for name, values := range answer.Header() {
			rw.Header()[name] = values
		}
		rw.WriteHeader(answer.Code)
		_, _ = rw.Write(answer.Body.Bytes())
	}))
	w.Cleanup(proxy.Close)
	w.stays = strings.Replace(proxy.URL, "//", "//x:tok-bot@", 1)
}

func (w *world) fated(fate func(func()) bool, deliver func()) bool {
	w.turn.Lock()
	defer w.turn.Unlock()
	return fate(deliver)
}

// meet sets the fate of the next push.
func (w *world) meet(fate func(deliver func()) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fate = fate
}

func (w *world) next() func(func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fate
}

func (w *world) clone() {
	home := w.TempDir()
	w.dir = filepath.Join(home, "app")
	w.git = gitpush.Git{Say: w.said, Git: git.Git{Dir: w.dir, Env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=maintenance.auto", "GIT_CONFIG_VALUE_0=false",
		// A machine whose clock is years ahead.
		"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.com", "GIT_COMMITTER_NAME=ann",
		"GIT_COMMITTER_EMAIL=ann@example.com",
		"GIT_AUTHOR_DATE=2031-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2031-01-01T00:00:00Z",
	}}}
	w.run(home, "clone", "-q", w.stays+"/acme/app.git", "app")
	w.run(w.dir, "switch", "-q", "-c", "fix")
	w.commit("one")
}

// run runs git by hand.
func (w *world) run(dir string, args ...string) string {
	w.Helper()
	out, err := w.try(dir, args...)
	if err != nil {
		w.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func (w *world) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, w.git.Env
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

func (w *world) commit(message string) string {
	w.Helper()
	w.run(w.dir, "commit", "-q", "--allow-empty", "-m", message)
	return w.run(w.dir, "rev-parse", "HEAD")
}

// at is where a reference of acme/app is by the server's own files; empty is not there.
func (w *world) at(ref string) string {
	w.Helper()
	dir, err := w.hub.GitDir("acme/app")
	if err != nil {
		w.Fatal(err)
	}

	out, err := w.try(dir, "rev-parse", "--verify", "--quiet", ref)
	if err != nil {
		return ""
	}

	return out
}

func (w *world) claim(name string) lease.Lease {
	w.Helper()
	l, err := w.store.Acquire(w.Context(),
		lease.Ask{Issue: issue, Worker: claim.Worker{Codename: name, FiringID: "1"}, TTL: hold})
	if err != nil {
		w.Fatalf("%s claims: %v", name, err)
	}

	return l
}

// stolen is what happens while a push is on its way: the lease runs out and bob takes it.
func (w *world) stolen() {
	w.hub.Skip(hold + gitref.DefaultGrace)
	w.claim("bob")
}

// push is what is checked out, to branch fix, under the lease.
func (w *world) push(l lease.Lease) gitpush.Push {
	w.Helper()
	step, err := w.store.Push(w.Context(), l)
	if err != nil {
		w.Fatal(err)
	}

	return gitpush.Push{
		Remote: "origin",
		Branch: "fix",
		Source: w.run(w.dir, "rev-parse", "HEAD"),
		With:   (*gitpush.Step)(&step),
	}
}
