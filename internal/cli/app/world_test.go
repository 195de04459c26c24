package app

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/workflow"
)

// A world is the GitHub of one script.
type world struct {
	*githubsim.Server
	url   string
	fault atomic.Pointer[func(*http.Request) *githubsim.Fault]
	seen  int // requests that wrote has counted already
	slack *workspace
}

func worldOf(ts *testscript.TestScript) *world { return ts.Value("world").(*world) }

func newWorld(dir string) (*world, error) { return newWorldWith(dir, func(*githubsim.Seed) {}) }

// newWorldWith is a world that begins changed.
func newWorldWith(dir string, change func(*githubsim.Seed)) (*world, error) {
	f, err := os.Open("testdata/seed.json")
	if err != nil {
		return nil, err
	}

	defer f.Close()
	seed, err := githubsim.LoadSeed(f)
	if err != nil {
		return nil, err
	}

	change(&seed)
	w := &world{}
	if w.Server, err = githubsim.New(seed, githubsim.Options{Dir: dir}); err != nil {
		return nil, err
	}

	w.Fault = func(r *http.Request) *githubsim.Fault {
		if f := w.fault.Load(); f != nil {
			return (*f)(r)
		}
		return nil
	}

	return w, nil
}

// setUp makes the world and an environment that knows nothing of this machine but its PATH.
func setUp(e *testscript.Env) error {
	w, err := newWorldWith(filepath.Join(e.WorkDir, ".github-server"), func(s *githubsim.Seed) {
		s.Repos = append(s.Repos, githubsim.SeedRepo{
			Name:  workflow.Action,
			Files: map[string]string{"action.yml": "name: label-state\n"},
		})
		for _, u := range s.Users {
			if u.Login == "olga" {
				u.Permissions[workflow.Action] = "write"
			}
		}
	})
	if err != nil {
		return err
	}

	return w.settle(e)
}

// settle lets a script live in the world.
func (w *world) settle(e *testscript.Env) error {
	url, stop, err := w.Listen("127.0.0.1:0")
	if err != nil {
		return err
	}

	w.url = url
	e.Defer(stop)
	e.Values["world"] = w
	home := filepath.Join(e.WorkDir, ".home")
	quick, gitconfig := filepath.Join(home, "quick.yml"), filepath.Join(home, ".gitconfig")
	if err := errors.Join(os.MkdirAll(home, 0o700),
		os.WriteFile(quick, []byte("version: 1\nclaim: {settle: 0s}\n"), 0o600),
		os.WriteFile(gitconfig, []byte("[maintenance]\n\tauto = false\n"), 0o600)); err != nil {
		return err
	}

	for name, value := range map[string]string{
		"HOME": home, "XDG_STATE_HOME": "", "XDG_CONFIG_HOME": "",
		"GORACE":              "atexit_sleep_ms=10", // else the race detector adds a second to every command
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": gitconfig, "GIT_TERMINAL_PROMPT": "0",
		"GIT_CEILING_DIRECTORIES": filepath.Dir(e.WorkDir),
		"SIM":                     w.url, "REMOTE": strings.Replace(w.url, "//", "//x:tok-agents@", 1) +
			"/acme/app.git", "BUSY": strings.TrimPrefix(w.url, "http://"),
		"LABEL_STATE_API_URL": w.url, "LABEL_STATE_TOKEN": "tok-agents", "LABEL_STATE_CONFIG": quick,
	} {
		e.Setenv(name, value)
	}

	return nil
}
