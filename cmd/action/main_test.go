package main

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/setup"
)

// A runner runs the program as a workflow's step, against the embedded GitHub.
type runner struct {
	*testing.T
	server *githubsim.Server
	dir    string
	env    map[string]string
	stores map[string]lease.Opener
}

func newRunner(t *testing.T, repos ...githubsim.SeedRepo) *runner {
	t.Helper()
	roles := map[string]string{}
	for _, r := range repos {
		roles[r.Name] = "write"
	}

	server, err := githubsim.New(githubsim.Seed{Repos: repos, Users: []githubsim.SeedUser{
		{Login: "agents", Token: "tok-agents", Permissions: roles},
		{Login: "github-actions[bot]", Token: "tok-actions", Permissions: roles},
	}}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{T: t, server: server, dir: t.TempDir()}
	r.env = map[string]string{
		"GITHUB_REPOSITORY": "acme/app", "GITHUB_EVENT_NAME": "schedule",
		"GITHUB_EVENT_PATH": r.file("event.json", "{}"),
		"GITHUB_API_URL":    "https://api.github.com", "GITHUB_OUTPUT": r.file("output", ""),
		"GITHUB_STEP_SUMMARY": r.file("summary", ""),
		"INPUT_TOKEN":         "tok-actions", "INPUT_MAX-AGE-HOURS": "4",
	}

	return r
}

func (r *runner) file(name, text string) string {
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}

	return path
}

func (r *runner) read(name string) string {
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

// run runs the program in the folder and checks its exit code and some of what it says.
func (r *runner) run(code int, parts ...string) string {
	r.Helper()
	var log bytes.Buffer
	env := setup.Environment{
		Getenv: func(name string) string { return r.env[name] },
		Dir:    r.dir,
		Stderr: &log,
		HTTP:   r.server.Transport(),
		Stores: r.stores,
		Run: func(_ context.Context, c setup.Command) ([]byte, error) {
			r.Errorf("the Action runs %s", c)
			return nil, exec.ErrNotFound
		},
	}

	if got := run(r.Context(), env, &log); got != code {
		r.Errorf("exit %d, want %d", got, code)
	}
	all := log.String() + r.read("summary") + r.read("output")
	for _, p := range parts {
		if !strings.Contains(all, p) {
			r.Errorf("nothing says %q:\n%s", p, all)
		}
	}

	return log.String()
}

func repository(name, config string, labels ...string) githubsim.SeedRepo {
	r := githubsim.SeedRepo{
		Name: name, DefaultBranch: "main",
		Issues: []githubsim.SeedIssue{{Title: "Work", Author: "agents", Labels: labels}},
	}
	if config != "" {
		r.Files = map[string]string{".github/label-state.yml": config, "other.yml": "guard: warn"}
	}
	return r
}

func (r *runner) labels(repo, want string) {
	r.Helper()
	if got, err := r.server.Labels(repo, 1); err != nil || strings.Join(got, " ") != want {
		r.Errorf("labels of %s: %q, %v; want %q", repo, got, err, want)
	}
}

// TestRepositoriesByTheirOwnConfiguration: one run, two repositories, two sets of names.
func TestRepositoriesByTheirOwnConfiguration(t *testing.T) {
	r := newRunner(t, repository("acme/app", "", "agent:pr-open"),
		repository("acme/ready", "preset: ready", "agent:pr-open"),
		repository("acme/broken", "prest: ready", "agent:pr-open"))
	r.env["INPUT_REPOS"] = "acme/app acme/ready"
	r.run(0, "2 examined, 0 released, 2 repaired", "examined<<")
	r.labels("acme/app", "agent:implement")
	r.labels("acme/ready", "ready")
	r.env["INPUT_REPOS"] = "acme/broken acme/app"
	r.run(1, "not examined: acme/broken", "prest", "1 examined")
	r.labels("acme/broken", "agent:pr-open")
}

// TestTypoOnTheDefaultBranch: a configuration that cannot be used stops whatever writes. The guard
// judges without what is wrong, so that the pull request which corrects the file can be merged, and
// the run writes nothing.
func TestTypoOnTheDefaultBranch(t *testing.T) {
	for name, c := range map[string]struct {
		event, branch string
		code          int
		says          string
	}{
		"a sweep": {"schedule", "mine", 2, "clame: unknown key; did you mean "},
		"the holder's own": {
			"pull_request", "mine", 0,
			"::warning::acme/app:.github/label-state.yml:2: clame: unknown key",
		},
		"somebody else's":           {"pull_request", "other", 1, "acme/app#2 closes acme/app#1: held by lucius"},
		"an event of another issue": {"issues", "mine", 2, "clame: unknown key"},
		"the input guard: warn":     {"pull_request", "other", 0, "acme/app#2 closes acme/app#1: held by lucius"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, repository("acme/app", "preset: ready\nclame: {ttl: 2h}\n", "agent-working"))
			_, r.env["INPUT_GUARD"], _ = strings.Cut(name, "input guard: ")
			body := "<!-- agent-claim:codename=lucius firing_id=l1 nonce=12345678 ttl=14400 state=held hb=0 branch=mine -->"
			if _, err := r.server.AddComment("acme/app", 1, "agents", body); err != nil {
				t.Fatal(err)
			}

			if _, err := r.server.OpenPull("acme/app", "agents",
				githubsim.Pull{Title: "Work", Head: c.branch, Body: "Closes #1"}); err != nil {
				t.Fatal(err)
			}

			r.env["GITHUB_EVENT_NAME"] = c.event
			r.file("event.json", `{"action": "opened", "sender": {"login": "agents", "type": "User"}, "repository": {"full_name": "acme/app"}, "issue": {"number": 1},`+
				` "pull_request": {"number": 2, "head": {"repo": {"full_name": "acme/app"}}}}`)

			r.run(c.code, c.says)

			r.labels("acme/app", "agent-working")
			for _, one := range r.server.Requests() {
				if one.Writes() {
					t.Errorf("wrote: %s %s", one.Method, one.Path)
				}
			}
		})
	}
}

// TestSweepReadsAtOnce: the configuration comes with the first page of what is swept.
func TestSweepReadsAtOnce(t *testing.T) {
	r := newRunner(t, repository("acme/app", "", "agent:implement"))
	r.run(0, "1 examined, 0 released, 0 repaired")
	var asked []string
	for _, one := range r.server.Requests() {
		asked = append(asked, one.Method+" "+one.Path+" "+one.GraphQL)
	}

	if want := 3; len(asked) != want { // that, whether the repository is archived, and its issue
		t.Errorf("%d requests, want %d:\n%s", len(asked), want, strings.Join(asked, "\n"))
	}
}

// TestConfigurationIsPublished: what lies in the workspace decides nothing, and nobody can point
// elsewhere.
func TestConfigurationIsPublished(t *testing.T) {
	r := newRunner(t, repository("acme/app", "preset: ready", "agent:pr-open"))
	r.file(".github/label-state.yml", "preset: agent")
	r.file(".git/config", "[remote \"origin\"]\n\turl = https://github.com/acme/app\n")
	r.env["LABEL_STATE_CONFIG"] = filepath.Join(r.dir, ".github/label-state.yml")
	r.env["LABEL_STATE_API_URL"] = "https://elsewhere.example"
	r.run(0, "1 repaired")
	r.labels("acme/app", "ready")
	r.env["INPUT_CONFIG"] = "none.yml"
	r.run(2, "::error::", "acme/app:none.yml")
	r.env["INPUT_CONFIG"] = "other.yml"
	r.run(0)
}

// TestCannotBegin: what is wrong is one error, in the summary and the outputs too, and no request
// is made for it.
func TestCannotBegin(t *testing.T) {
	for name, change := range map[string]func(*runner){
		"input mode":                                        func(r *runner) { r.env["INPUT_MODE"] = "guess" },
		"input max-age-hours":                               func(r *runner) { r.env["INPUT_MAX-AGE-HOURS"] = "-5" },
		"input token is empty":                              func(r *runner) { r.env["INPUT_TOKEN"] = "" },
		"GITHUB_REPOSITORY is not set":                      func(r *runner) { r.env["GITHUB_REPOSITORY"] = "" },
		`GITHUB_REPOSITORY is "acme": expected OWNER/NAME`:  func(r *runner) { r.env["GITHUB_REPOSITORY"] = "acme" },
		`GITHUB_REPOSITORY is "acme/": expected OWNER/NAME`: func(r *runner) { r.env["GITHUB_REPOSITORY"] = "acme/" },
		"read event schedule":                               func(r *runner) { r.file("event.json", "{") },
		"input api-url":                                     func(r *runner) { r.env["INPUT_API-URL"] = "ftp://x" },
		"open GITHUB_OUTPUT":                                func(r *runner) { r.env["GITHUB_OUTPUT"] = filepath.Join(r.dir, "no", "folder") },
		"token refused":                                     func(r *runner) { r.env["INPUT_TOKEN"] = "tok-wrong" },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t, repository("acme/app", "", "agent:implement"))
			change(r)
			code := 2
			if name == "token refused" {
				code = 3
			}

			log := r.run(code, name)
			if strings.Count(log, "::error") != 1 {
				t.Errorf("errors:\n%s", log)
			}

			if masked := strings.HasPrefix(log, "::add-mask::"); masked != (r.env["INPUT_TOKEN"] != "") {
				t.Errorf("masked first: %t:\n%s", masked, log)
			}

			if asked := r.server.Requests(); code == 2 && len(asked) > 0 {
				t.Errorf("asked %v", asked)
			}
			if name == "open GITHUB_OUTPUT" { // nobody is told by it
				return
			}

			again := strings.Contains(r.read("output"), "\nrun again")
			if again != (code == 3) {
				t.Errorf("to run again helps: %t", again)
			}
		})
	}
}

// TestHostIsNobodys: a host of the Action has no pauses of its own, and needs no home.
func TestHostIsNobodys(t *testing.T) {
	r := newRunner(t, repository("acme/app", "contributors: {claim: all, pull_requests: claim}", "agent:implement"))
	if _, err := r.server.OpenPull("acme/app", "stranger",
		githubsim.Pull{Title: "Work", Head: "mine", Body: "Closes #1"}); err != nil {
		t.Fatal(err)
	}
	r.run(0, "stranger holds acme/app#1")
}

// TestHostOfServer: a pull request names an issue by a URL of the server whose API is asked, port and all.
func TestHostOfServer(t *testing.T) {
	for named, holds := range map[string]bool{"https://git.example:8443": true, "https://git.example": false} {
		r := newRunner(t, repository("acme/app", "contributors: {claim: all, pull_requests: claim}", "agent:implement"))
		r.env["GITHUB_API_URL"] = "https://git.example:8443/api/v3"
		if _, err := r.server.OpenPull("acme/app", "stranger",
			githubsim.Pull{Title: "Work", Head: "mine", Body: "Closes " + named + "/acme/app/issues/1"}); err != nil {
			t.Fatal(err)
		}
		if log := r.run(0); strings.Contains(log, "stranger holds acme/app#1") != holds {
			t.Errorf("%s is the server's: want %t:\n%s", named, holds, log)
		}
	}
}

// TestHoldIsNotGiven: a sweep that could not write an author's hold is red.
func TestHoldIsNotGiven(t *testing.T) {
	r := newRunner(t, repository("acme/app", "contributors: {claim: all, pull_requests: claim}", "agent:implement"))
	if _, err := r.server.OpenPull("acme/app", "stranger",
		githubsim.Pull{Title: "Work", Head: "mine", Body: "Closes #1"}); err != nil {
		t.Fatal(err)
	}
	r.server.Fault = func(q *http.Request) *githubsim.Fault {
		if q.Method != http.MethodPost || !strings.HasSuffix(q.URL.Path, "/comments") {
			return nil
		}
		return &githubsim.Fault{Status: 422, Body: `{"message":"not welcome"}`}
	}
	r.run(1, "acme/app#1 could not be given to the author of acme/app#2", "1 not examined")
}

// TestTokenStaysSecret: it is masked first, and appears nowhere else.
func TestTokenStaysSecret(t *testing.T) {
	r := newRunner(t, repository("acme/app", "", "agent:implement"))
	r.server.Fault = func(*http.Request) *githubsim.Fault {
		return &githubsim.Fault{Status: 403, Body: `{"message":"not welcome"}`}
	}

	log := r.run(3)
	rest, found := strings.CutPrefix(log, "::add-mask::tok-actions\n")
	if all := rest + r.read("summary") + r.read("output"); !found || strings.Contains(all, "tok-actions") ||
		!strings.Contains(all, "not welcome") {
		t.Errorf("log:\n%s", log)
	}
}

// TestWithoutRunner: on a developer's machine there are no files to write to.
func TestWithoutRunner(t *testing.T) {
	r := newRunner(t, repository("acme/app", "", "agent:pr-open"))
	r.env["GITHUB_OUTPUT"], r.env["GITHUB_STEP_SUMMARY"], r.env["GITHUB_EVENT_PATH"] = "", "", ""
	r.run(0, "1 repaired")
	r.labels("acme/app", "agent:implement")
}

// TestEventIsMissing: an event that the runner names and that is not there is no empty event.
func TestEventIsMissing(t *testing.T) {
	r := newRunner(t, repository("acme/app", "", "agent:pr-open"))
	r.env["GITHUB_EVENT_PATH"] = filepath.Join(r.dir, "none.json")
	r.run(2, "read the event: open ")
	r.labels("acme/app", "agent:pr-open")
}
