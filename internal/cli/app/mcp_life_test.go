package app

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli/feature"
	"github.com/label-state/label-state/internal/cli/queue"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/mcp"
)

// TestToolLife is the whole life of an issue as a coding agent sees it, with a server process for
// each client: taken, planned, not approved by its own login, approved by another, renewed,
// delivered, done.
func TestToolLife(t *testing.T) {
	t.Parallel()
	w := withGit(t)
	ar := newArena(t)
	ar.quicken(w)
	lucius, twin, olga := ar.client("tok-agents", "--codename", "lucius"), ar.client("tok-agents",
		"--approver"), ar.client("tok-olga", "--approver")

	var taken queue.ItemView
	lucius.want("yes", "next", map[string]any{"ttl": "1h"}, &taken)
	issue := map[string]any{"issue": taken.Item.URL, "firing_id": taken.Firing}
	var p answer.Answer
	lucius.want("yes", "plan", map[string]any{
		"issue": taken.Item.URL, "firing_id": taken.Firing,
		"body": "1. Retry three times.\n--wait 8h",
	}, &p)
	if p.Answer != "posted" || p.Worker != "lucius:"+taken.Firing {
		t.Errorf("plan: %+v", p)
	}

	if got := lucius.want("no", "plan",
		map[string]any{
			"issue": taken.Item.URL, "firing_id": taken.Firing,
			"body": "Another.",
		}, nil); !strings.Contains(got.Error, "a plan waits for its answer already") {
		t.Errorf("a second plan: %+v", got)
	}

	short := map[string]any{"issue": taken.Item.URL, "firing_id": taken.Firing, "wait": "10ms"}
	if got := lucius.want("waiting", "plan_wait", short, &p); got.isError || got.Code != answer.ExitUnknown ||
		p.Answer != "waiting" || !strings.Contains(got.Hint, "call plan_wait again") {
		t.Errorf("nobody has answered: %+v", got)
	}

	// Neither has the worker's server a tool for it, nor is its login let by another one.
	if _, err := lucius.CallTool(t.Context(),
		&sdk.CallToolParams{Name: "approve", Arguments: map[string]any{"issue": taken.Item.URL}}); err == nil {
		t.Error("a worker's server approves")
	}

	if got := twin.want("no", "approve", map[string]any{"issue": "1"}, nil); !strings.Contains(got.Error,
		"agents wrote the plan itself") {
		t.Errorf("its own plan: %+v", got)
	}

	wants(t, w, 1, "agent:plan-pending-approval")

	var m answer.Answer
	olga.want("yes", "approve", map[string]any{"issue": "1"}, &m)
	if got := lucius.want("yes", "plan_wait", short, &p); p.Answer != "approved" || p.By != "olga" || got.isError {
		t.Errorf("approved: %+v", got)
	}

	wants(t, w, 1, "agent:in-flight")
	lucius.want("yes", "renew", issue, nil)
	if err := w.pull("acme/app", "agents", 1); err != nil {
		t.Fatal(err)
	}

	lucius.want("yes", "release", map[string]any{"issue": taken.Item.URL, "firing_id": taken.Firing, "pr": ar.url +
		"/acme/app/pull/4"}, &m)
	wants(t, w, 1, "agent:pr-open")
	lucius.want("no", "renew", issue, nil)
	if got := lucius.call("board", nil); len(got.Results) != 3 ||
		!strings.Contains(string(got.Results[2]), `"state":"pr-open"`) {
		t.Errorf("board: %s", got.Results)
	}

	// The next one is rejected, in words that obey nobody.
	lucius.want("yes", "next", nil, &taken)
	lucius.want("yes", "plan", map[string]any{"issue": "2", "firing_id": taken.Firing, "body": "Rewrite it all."}, nil)
	olga.want("yes", "reject", map[string]any{"issue": "2", "reason": "too large\x1b[2J\u202e"}, nil)
	got := lucius.want("no", "plan_wait", map[string]any{"issue": "2", "firing_id": taken.Firing}, &p)
	if got.isError || p.Answer != "rejected" || p.Reason != "too large[2J" ||
		!slices.Contains(got.Untrusted, "result") {
		t.Errorf("rejected: %+v", got)
	}

	wants(t, w, 2, "agent:implement")
}

// withGit is a world whose repositories have commits.
func withGit(t *testing.T) *world {
	t.Helper()
	w, err := newWorld(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// quicken lets the arena's programs live in the world, with claims that do not settle.
func (a *arena) quicken(w *world) {
	a.Helper()
	url, stop, err := w.Listen("127.0.0.1:0")
	if err != nil {
		a.Fatal(err)
	}

	a.Cleanup(stop)
	a.at(url, w.Requests)
	quick := filepath.Join(a.TempDir(), "quick.yml")
	if err := os.WriteFile(quick, []byte("version: 1\nclaim: {settle: 0s}\n"), 0o600); err != nil {
		a.Fatal(err)
	}

	a.env = append(a.env, "LABEL_STATE_CONFIG="+quick)
}

// client is a client of a server process of its own that knows acme/app.
func (a *arena) client(token string, args ...string) agent {
	a.Helper()
	cmd := a.command(a.Context(), append([]string{"mcp", "--repo", "acme/app", "--toolset", "all"}, args...)...)
	cmd.Env = append(slices.Clone(a.env), "LABEL_STATE_TOKEN="+token, "LABEL_STATE_CODENAME=rex")
	return connected(a, &sdk.CommandTransport{Command: cmd})
}

func wants(t *testing.T, w *world, number int, labels ...string) {
	t.Helper()
	if got, err := w.Labels("acme/app", number); err != nil || !slices.Equal(got, labels) {
		t.Errorf("#%d has the labels %q, %v; want %q", number, got, err, labels)
	}
}

// TestToolsTogether: calls of one client at the same time do not get into each other's way: each
// has its own answer, and of those for one issue exactly one wins. The server's own repository keeps
// none from naming another.
func TestToolsTogether(t *testing.T) {
	w := embedded(t)
	a := newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Repo = "acme/app" })
	issues := []string{"acme/app#1", "acme/app#2", "acme/app#3", "acme/web#1"}
	const each = 3
	answers := make([]toolAnswer, each*len(issues))
	var running sync.WaitGroup
	for n := range answers {
		running.Go(func() { answers[n] = a.call("claim", map[string]any{"issue": issues[n%len(issues)]}) })
	}

	running.Wait()
	won := map[string]int{}
	for n, got := range answers {
		var h answer.Answer
		if err := json.Unmarshal(got.Result, &h); err != nil || h.Issue != issues[n%len(issues)] {
			t.Errorf("%s has the answer for %s, %v", issues[n%len(issues)], h.Issue, err)
		}

		if got.Answer == "yes" {
			won[h.Issue]++
		} else if got.Answer != "no" {
			t.Errorf("%+v", got)
		}
	}

	for _, i := range issues {
		if won[i] != 1 {
			t.Errorf("%s was won %d times", i, won[i])
		}
	}
}

// TestToolBundle: all or nothing, by name, and only by whom it was claimed.
func TestToolBundle(t *testing.T) {
	w := embedded(t)
	home := map[string]string{"LABEL_STATE_HOME": t.TempDir()}
	lucius := newAgent(t, quiet(t, t.TempDir(), w.Transport(), home))
	fox := newAgent(t, quiet(t, t.TempDir(), w.Transport(), home), func(o *mcp.Options) { o.Codename = "fox" })
	both := []string{"acme/app#1", "acme/web#1"}
	var b feature.BundleView
	lucius.want("yes", "bundle_claim", map[string]any{"name": "checkout", "issues": both, "ttl": "1h"}, &b)
	if !b.Whole || b.Codename != "lucius" || len(b.Issues) != 2 {
		t.Errorf("claimed: %+v", b)
	}

	if got := fox.want("no", "bundle_claim",
		map[string]any{
			"name": "other",
			"issues": append([]string{"acme/app#2"},
				both...),
		}, nil); !strings.Contains(got.Error, "nothing was taken") {
		t.Errorf("overlapping: %+v", got)
	}

	wants(t, w, 2, "agent:implement")
	if got := fox.want("no", "bundle_release", map[string]any{"name": "checkout"}, nil); !strings.Contains(got.Error,
		"lucius:"+b.Firing+" claimed it") {
		t.Errorf("somebody else's: %+v", got)
	}

	fox.want("yes", "bundle_status", map[string]any{"name": "checkout"}, &b)
	if b.Answer != "held" || !b.Whole {
		t.Errorf("status: %+v", b)
	}

	lucius.want("refused", "bundle_claim", map[string]any{"name": "../../../x", "issues": both}, nil)
	lucius.want("yes", "bundle_release",
		map[string]any{"name": "checkout", "outcome": "failure", "reason": "no API"}, &b)
	if b.Answer != "released" {
		t.Errorf("released: %+v", b)
	}
}

// TestToolChain: what is begun by one call is waited for by another, no longer than a call may.
func TestToolChain(t *testing.T) {
	t.Parallel()
	w := withGit(t)
	a := newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil))
	if err := w.pull("acme/app", "agents", 2); err != nil { // makes the branch work
		t.Fatal(err)
	}

	a.want("refused", "chain_status", map[string]any{"feature": "../x"}, nil)
	a.want("refused", "chain_wait", map[string]any{"feature": "retry"}, nil)
	plan := map[string]any{
		"feature": "retry", "parent": "acme/app#1",
		"pr": []string{"acme/app:work:main=Retry, then give up"}, "dry_run": true,
	}
	var c feature.ChainView
	a.want("yes", "chain_execute", plan, &c)
	if c.Answer != "dry-run" || len(c.Parts) != 1 {
		t.Errorf("dry run: %+v", c)
	}

	plan["dry_run"] = false
	a.want("yes", "chain_execute", plan, &c)
	if c.Answer != "done" || c.Parts[0].PR == "" {
		t.Errorf("executed: %+v", c)
	}

	if got := a.want("waiting", "chain_wait", map[string]any{"feature": "retry", "wait": "2s"}, &c); got.isError ||
		c.Answer != "pending" || !strings.Contains(got.Hint, "call chain_wait again") {
		t.Errorf("pending: %+v", got)
	}

	if err := w.SetCheck("acme/app", 4, "olga", "test", "completed", "failure"); err != nil {
		t.Fatal(err)
	}

	if got := a.want("no", "chain_wait", map[string]any{"feature": "retry"}, &c); got.isError || c.Answer != "red" {
		t.Errorf("red: %+v", got)
	}
	a.want("yes", "chain_status", map[string]any{"feature": "retry"}, &c)
}

// TestToolStages: a worker advances what it holds, and nothing else.
func TestToolStages(t *testing.T) {
	w, err := newWorldWith(t.TempDir(), func(seed *githubsim.Seed) {
		seed.Repos[0].Files = map[string]string{config.Path: "version: 1\npreset: stages\nstages: [ready, processing, done]\n"}
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "quick.yml")
	if err := os.WriteFile(file, []byte("version: 1\nclaim: {settle: 0s}\n"), 0o600); err != nil {
		t.Fatal(err)
	}

	if err := w.AddLabels("acme/app", 1, "olga", "stage:ready"); err != nil {
		t.Fatal(err)
	}

	if err := w.RemoveLabel("acme/app", 1, "olga", "agent:implement"); err != nil {
		t.Fatal(err)
	}
	a := newAgent(t, quiet(t, t.TempDir(), w.Transport(), map[string]string{"LABEL_STATE_CONFIG": file}))
	if got := a.want("refused", "advance", map[string]any{"issue": "acme/app#1"}, nil); !strings.Contains(got.Error,
		"no hold on acme/app#1") {
		t.Errorf("not held: %+v", got)
	}

	var h answer.Answer
	a.want("yes", "claim", map[string]any{"issue": "acme/app#1"}, &h)
	var m answer.Answer
	a.want("yes", "advance", map[string]any{"issue": "acme/app#1", "firing_id": h.FiringID}, &m)
	if m.Answer != "advanced" {
		t.Errorf("advanced: %+v", m)
	}

	wants(t, w, 1, "stage:processing")
}
