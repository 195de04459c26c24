//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

const (
	repo     = "acme/app"
	tools    = "acme/tools"  // has one issue, whose claim expired
	tokAct   = "tok-actions" // github-actions[bot]: the token of a workflow run
	tokFork  = "tok-fork"    // the same for a run started from a fork
	tokApp   = "tok-app"     // an App that is installed on several repositories
	tokDev   = "tok-dev"     // a person who may write, whose login lucius uses
	tokEve   = "tok-eve"     // another person who may write
	implt    = "agent:implement"
	inFlight = "agent:in-flight"
	prOpen   = "agent:pr-open"
	done     = "agent:done"
)

// A world is an embedded GitHub on loopback and the runner that talks to it.
type world struct {
	*githubsim.Server
	runner
}

// newWorld starts an embedded GitHub with the issues, numbered from 1.
func newWorld(t *testing.T, issues ...githubsim.SeedIssue) world {
	t.Helper()
	needDocker(t)
	for n := range issues {
		issues[n].Number, issues[n].Author = n+1, "dev"
	}

	write := map[string]string{repo: "write", tools: "write"}
	conf := map[string]string{".github/label-state.yml": "version: 1\ntrust: {apps: [github-actions, label-state]}\n"}
	other := held("Sharpen the saw", 6*time.Hour)
	other.Number, other.Author = 1, "dev"
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{Login: "github-actions[bot]", Token: tokAct, Permissions: write},
			{
				Login:       "github-actions[bot]",
				Token:       tokFork,
				Permissions: write,
				ReadOnly:    true,
			},
			{Login: "label-state[bot]", Token: tokApp, Permissions: write},
			{Login: "dev", Token: tokDev, Permissions: write},
			{Login: "eve", Token: tokEve, Permissions: write},
		},
		Repos: []githubsim.SeedRepo{{
			Name:          repo,
			DefaultBranch: "main",
			Issues:        issues,
			Files:         conf,
			Labels:        []githubsim.SeedLabel{{Name: implt}, {Name: inFlight}, {Name: prOpen}, {Name: done}},
		}, {
			Name:          tools,
			DefaultBranch: "main",
			Issues:        []githubsim.SeedIssue{other},
			Files:         conf,
			Labels:        []githubsim.SeedLabel{{Name: implt}, {Name: inFlight}},
		}},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	base, stop, err := server.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)
	return world{server, runner{meta: readMetadata(t), repo: repo, api: base}}
}

// held is an issue whose claim had its last heartbeat so long ago.
func held(title string, ago time.Duration) githubsim.SeedIssue {
	at := time.Now().Add(-ago).UTC().Truncate(time.Second)
	return githubsim.SeedIssue{
		Title:     title,
		Labels:    []string{inFlight},
		CreatedAt: &at,
		Comments: []githubsim.SeedComment{{
			Author: "dev", CreatedAt: &at,
			Body: fmt.Sprintf("<!-- agent-claim:codename=lucius firing_id=run-1 ts=%s -->\nlucius took this.",
				at.Format(time.RFC3339)),
		}},
	}
}

func free(title string) githubsim.SeedIssue {
	return githubsim.SeedIssue{Title: title, Labels: []string{implt}}
}

// send makes one request as a person would and returns the answer.
func (w world) send(t *testing.T, token, method, path string, body any) []byte {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}

	req, err := http.NewRequestWithContext(t.Context(), method, w.api+"/repos/"+repo+path,
		strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}

	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}

	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}

	if resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s\n%s", method, path, resp.Status, answer)
	}

	return answer
}

// labels returns the issue's labels, sorted.
func (w world) labels(t *testing.T, number int) []string {
	t.Helper()
	var issue struct{ Labels []struct{ Name string } }
	if err := json.Unmarshal(w.send(t, tokDev, http.MethodGet, fmt.Sprintf("/issues/%d", number), nil),
		&issue); err != nil {
		t.Fatal(err)
	}

	names := []string{}
	for _, l := range issue.Labels {
		names = append(names, l.Name)
	}

	slices.Sort(names)
	return names
}

func (w world) wantLabels(t *testing.T, number int, want ...string) {
	t.Helper()
	if got := w.labels(t, number); !slices.Equal(got, want) {
		t.Errorf("labels of #%d = %q, want %q", number, got, want)
	}
}

// comments returns the issue's comments, oldest first.
func (w world) comments(t *testing.T, number int) []string {
	t.Helper()
	var list []struct{ Body string }
	if err := json.Unmarshal(w.send(t, tokDev, http.MethodGet, fmt.Sprintf("/issues/%d/comments", number), nil),
		&list); err != nil {
		t.Fatal(err)
	}

	bodies := []string{}
	for _, c := range list {
		bodies = append(bodies, c.Body)
	}

	return bodies
}

// after returns the step for the newest delivery of the event that change causes.
func (w world) after(t *testing.T, event, action string, change func()) step {
	t.Helper()
	before, err := w.Events()
	if err != nil {
		t.Fatal(err)
	}

	change()
	fresh, err := w.EventsSince(len(before))
	if err != nil {
		t.Fatal(err)
	}

	for _, e := range slices.Backward(fresh) {
		if e.Name == event && e.Action == action {
			return step{event: event, file: e.Payload, token: tokAct}
		}
	}

	t.Fatalf("no %s %s among %d events", event, action, len(fresh))
	return step{}
}

// opened opens pull request 2, or the next number, which closes issue 1, as the token's owner.
func (w world) opened(t *testing.T, token string) step {
	t.Helper()
	return w.after(t, "pull_request", "opened", func() {
		w.send(t, token, http.MethodPost, "/pulls", map[string]string{
			"title": "Retry the upload", "body": "Closes #1", "head": "retry", "base": "main",
		})
	})
}

// queued opens a pull request that closes issue 1, as the token's owner, and puts it into the merge
// queue.
func (w world) queued(t *testing.T, token string) step {
	t.Helper()
	w.opened(t, token)
	return w.after(t, "merge_group", "checks_requested", func() {
		if _, err := w.Enqueue(repo, 2, "eve"); err != nil {
			t.Fatal(err)
		}
	})
}

// commented is the delivery of a new comment on issue 1 by the token's owner.
func (w world) commented(t *testing.T, token, body string) step {
	t.Helper()
	return w.after(t, "issue_comment", "created", func() {
		w.send(t, token, http.MethodPost, "/issues/1/comments", map[string]string{"body": body})
	})
}

// writes returns the requests since the first n that asked for a change.
func (w world) writes(n int) []string {
	var out []string
	for _, r := range w.Requests()[n:] {
		if r.Writes() {
			out = append(out, r.Method+" "+r.Path)
		}
	}

	return out
}

func sweep() step {
	return step{event: "schedule", file: json.RawMessage(`{"schedule":"17 * * * *"}`), token: tokAct}
}

func wantExit(t *testing.T, r result, want int) {
	t.Helper()
	if r.code != want {
		t.Fatalf("exit %d, want %d\n%s", r.code, want, r.log)
	}
}

func wantOutput(t *testing.T, r result, name, want string) {
	t.Helper()
	if got := r.outputs[name]; got != want {
		t.Errorf("output %s = %q, want %q", name, got, want)
	}
}
