package pushcheck

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/setup"
)

// TestTrial: the hook that is tried says what a push would meet. It reads, sends nothing that
// writes, and waits no longer than a push.
func TestTrial(t *testing.T) {
	for name, c := range map[string]struct {
		vars   map[string]string
		url    string
		conf   string // that LABEL_STATE_CONFIG names
		fault  int    // status of every answer
		repo   string
		reason string
	}{
		"all is well": {
			map[string]string{"GH_TOKEN": "tok-ann"},
			"https://github.com/acme/app.git", "", 0,
			"acme/app", "",
		},
		"no token": {
			nil, "https://github.com/acme/app.git", "", 0, "acme/app",
			"no token for github.com; set GH_TOKEN or GITHUB_TOKEN, or run: gh auth login",
		},
		"no token for GitHub's own host of an enterprise": {
			nil, "https://acme.ghe.com/acme/app.git", "", 0, "acme/app",
			"no token for acme.ghe.com; ",
		},
		"a bad token": {
			map[string]string{"GH_TOKEN": "tok-nobody"},
			"https://github.com/acme/app.git", "", 0,
			"acme/app", "token refused (HTTP 401: Bad credentials)",
		},
		"not there": {
			map[string]string{"GH_TOKEN": "tok-ann"},
			"https://github.com/acme/nope.git", "", 0,
			"acme/nope", "repository acme/nope not found",
		},
		"a path": {
			nil, "/srv/git/app.git", "", 0, "",
			"the remote is not on GitHub; if its issues are: git config label-state.repo OWNER/NAME",
		},
		"an unknown host": {
			nil, "https://git.example.com/acme/app.git", "", 0, "acme/app",
			"git.example.com is not a known GitHub host; if it is one: git config label-state.host git.example.com",
		},
		"turned off": {
			map[string]string{"LABEL_STATE_SKIP_DEDUP_CHECK": "1"},
			"https://github.com/acme/app.git",
			"", 0, "", "LABEL_STATE_SKIP_DEDUP_CHECK turns the check off; unset LABEL_STATE_SKIP_DEDUP_CHECK",
		},
		"a broken setting": {
			map[string]string{"GH_TOKEN": "tok-ann"},
			"https://github.com/acme/app.git",
			"planets: 9\n", 0, "", "",
		},
		"too late": {
			map[string]string{"GH_TOKEN": "tok-ann"},
			"https://github.com/acme/app.git",
			"hook: {timeout: 100ms}\n", 0, "acme/app", "no answer in time (hook.timeout)",
		},
		"GitHub is down": {
			map[string]string{"GH_TOKEN": "tok-ann"},
			"https://github.com/acme/app.git", "", 503,
			"acme/app", "GitHub could not answer (HTTP 503",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, err := githubsim.New(githubsim.Seed{
				Users: []githubsim.SeedUser{{
					Login: "ann", Token: "tok-ann",
					Permissions: map[string]string{"acme/app": "write"},
				}},
				Repos: []githubsim.SeedRepo{{Name: "acme/app"}},
			}, githubsim.Options{})
			if err != nil {
				t.Fatal(err)
			}

			server.Fault = func(*http.Request) *githubsim.Fault {
				if c.fault == 0 {
					return nil
				}
				return &githubsim.Fault{Status: c.fault}
			}

			h, stderr := newHook(t, nil, c.vars, TryFlag, "origin", c.url)
			var stdout bytes.Buffer
			h.Stdout, h.Version, h.Env.HTTP = &stdout, "v1.2.3", server.Transport()
			h.Env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, nil }
			h.Env.Run = func(context.Context, setup.Command) ([]byte, error) { return nil, errors.New("no such thing") }
			if c.conf != "" {
				file := filepath.Join(h.Env.Dir, "own.yml")
				if err := os.WriteFile(file, []byte(c.conf), 0o600); err != nil {
					t.Fatal(err)
				}
				c.vars["LABEL_STATE_CONFIG"] = file
				h.Start = h.Start.Add(-time.Second)
				c.reason = cmp.Or(c.reason, file+":1: planets: unknown key")
			}

			code := h.Run(t.Context())
			var got Trial
			if err := json.Unmarshal(stdout.Bytes(), &got); err != nil || code != exitPass || stderr.Len() > 0 {
				t.Fatalf("exit %d, %v with %s%s", code, err, &stdout, stderr)
			}

			if got.Version != "v1.2.3" || got.Repo != c.repo || got.Checked != (c.reason == "") ||
				!strings.HasPrefix(got.Reason+"; "+got.Remedy, c.reason) {
				t.Errorf("%+v, want %q of %q", got, c.reason, c.repo)
			}

			for _, r := range server.Requests() {
				if r.Writes() {
					t.Errorf("it wrote: %s %s", r.Method, r.Path)
				}
			}
		})
	}
}
