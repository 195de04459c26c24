package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/cli/queue"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/mcp"
	"github.com/label-state/label-state/internal/setup"
)

// TestToolDay is an agent's day: it takes the next issue, the hook's record knows it, it renews,
// somebody else is refused, it reports, and the board and the log say so.
func TestToolDay(t *testing.T) {
	w, dir := embedded(t), cloneOf(t, "https://github.com/acme/app.git")
	term := quiet(t, dir, w.Transport(), nil)
	lucius, fox := newAgent(t, term), newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil),
		func(o *mcp.Options) { o.Codename = "fox" })

	var taken queue.ItemView
	lucius.want("yes", "next", map[string]any{"ttl": "30m", "prompt": true}, &taken)
	if taken.Item.ID != "github-1" || taken.Codename != "lucius" || taken.Token == 0 ||
		!strings.Contains(taken.Prompt, "untrusted") {
		t.Errorf("next: %+v", taken)
	}

	recorded(t, term, "acme/app", 1, taken.Firing)

	if got := fox.want("no", "claim", map[string]any{"issue": taken.Item.URL}, nil); !got.isError ||
		!strings.Contains(got.Error, "claim acme/app#1: ") ||
		!strings.Contains(got.Hint, `: status {"issue":"acme/app#1"}`) {
		t.Errorf("refused: %+v", got)
	}

	if got := fox.want("no", "dedup_check", map[string]any{"issue": "acme/app#1"}, nil); got.isError {
		t.Errorf("no is an answer: %+v", got)
	}
	lucius.want("yes", "dedup_check", map[string]any{"issue": "1"}, nil)

	var renewed answer.Answer
	lucius.want("yes", "renew", map[string]any{"issue": "acme/app#1"}, &renewed)
	if renewed.Answer != "renewed" || renewed.FiringID != taken.Firing {
		t.Errorf("renew: %+v", renewed)
	}

	var s cli.StatusView
	fox.want("yes", "status", map[string]any{"issue": "acme/app#1"}, &s)
	if s.Holder == nil || s.Holder.Codename != "lucius" {
		t.Errorf("status: %+v", s)
	}

	lucius.want("yes", "release", map[string]any{
		"issue": "github-1", "done": true,
		"reason": "retries three times",
	}, nil)
	if got := fox.want("yes", "log", map[string]any{"issue": "acme/app#1"}, nil); len(got.Results) != 2 ||
		!strings.Contains(string(got.Results[1]), `"outcome":"success"`) {
		t.Errorf("log: %s", got.Results)
	}

	if _, err := os.Stat(filepath.Join(dir, ".git/label-state/holds/acme@app@1.json")); err == nil {
		t.Error("the worktree still has a hold that was ended")
	}
}

// recorded wants the worktree to know the hold, which is how the hook knows who pushes.
func recorded(t *testing.T, term cli.Terminal, repo string, number int, firing string) {
	t.Helper()
	holds, err := term.Env.Holds()
	if err != nil {
		t.Fatal(err)
	}

	owner, name, _ := strings.Cut(repo, "/")
	h, found, err := holds.Load(claim.Issue{Owner: owner, Repo: name, Number: number})
	if err != nil || !found || h.Worker.FiringID != firing || h.Token == 0 {
		t.Errorf("recorded %+v, %v, %v; want the run %s", h, found, err, firing)
	}
}

// TestToolsNameIssues: every tool about an issue takes every form that names one, and its answer
// says which it was.
func TestToolsNameIssues(t *testing.T) {
	w, dir := embedded(t), cloneOf(t, "https://github.com/acme/app.git")
	a := newAgent(t, quiet(t, dir, w.Transport(), nil))
	forms := []string{"1", "#1", "github-1", "app#1", "acme/app#1", "https://github.com/acme/app/issues/1"}
	for n, form := range forms {
		a.want("yes", "claim", map[string]any{"issue": form, "firing_id": fmt.Sprint("run-", n)}, nil)
		for _, tool := range []string{"dedup_check", "status", "renew", "release"} {
			var said struct{ Issue string }
			if a.want("yes", tool, map[string]any{"issue": form}, &said); said.Issue != "acme/app#1" {
				t.Errorf("%s of %s is about %q", tool, form, said.Issue)
			}
		}
	}

	var taken struct {
		Issue string
		Item  struct{ ID, Issue string }
	}

	for form, issue := range map[string]string{
		"github-2":                             "acme/app#2",
		"https://github.com/acme/app/issues/3": "acme/app#3",
	} {
		a.want("yes", "claim", map[string]any{"issue": form}, nil)
		if a.want("yes", "release", map[string]any{"issue": form, "done": true}, &taken); taken.Issue != issue {
			t.Errorf("release of %s is about %q", form, taken.Issue)
		}
	}

	a.want("yes", "next", nil, &taken)
	if taken.Issue != taken.Item.Issue || !strings.HasPrefix(taken.Issue, "acme/app#") ||
		strings.TrimPrefix(taken.Item.ID, "github-") != strings.TrimPrefix(taken.Issue, "acme/app#") {
		t.Errorf("next: %+v", taken)
	}
}

// TestToolsHoldPulls: the tools take a pull request's number and its URL as they take an issue's:
// one agent holds it, another is told who, and the issue that it closes is a hold of its own.
func TestToolsHoldPulls(t *testing.T) {
	w, dir := embedded(t), cloneOf(t, "https://github.com/acme/app.git")
	number, err := w.OpenPull("acme/app", "agents", githubsim.Pull{Title: "Retry", Head: "retry", Body: "Closes #1"})
	if err != nil {
		t.Fatal(err)
	}

	name, url := fmt.Sprint("acme/app#", number), fmt.Sprint("https://github.com/acme/app/pull/", number)
	a := newAgent(t, quiet(t, dir, w.Transport(), nil))
	fox := newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Codename = "fox" })

	var h answer.Answer
	a.want("yes", "claim", map[string]any{"issue": url}, &h)
	if h.Issue != name || h.Token == 0 {
		t.Errorf("claim: %+v", h)
	}

	recorded(t, quiet(t, dir, w.Transport(), nil), "acme/app", number, h.FiringID)
	wants(t, w, number, "agent:in-flight")
	if got := fox.want("no", "claim", map[string]any{"issue": name}, nil); !got.isError ||
		!strings.Contains(got.Error, "held by lucius") {
		t.Errorf("refused: %+v", got)
	}

	a.want("yes", "renew", map[string]any{"issue": fmt.Sprint(number)}, &h)
	if h.Issue != name || h.Answer != "renewed" {
		t.Errorf("renew: %+v", h)
	}

	var s cli.StatusView
	fox.want("yes", "status", map[string]any{"issue": name}, &s)
	if !s.Pull || s.Answer != "held" || s.Holder == nil || s.Holder.Codename != "lucius" {
		t.Errorf("status: %+v", s)
	}

	var closed cli.StatusView
	fox.want("yes", "status", map[string]any{"issue": "acme/app#1"}, &closed)
	if closed.Pull || closed.Holder != nil {
		t.Errorf("status of the issue: %+v", closed)
	}

	a.want("yes", "release", map[string]any{"issue": fmt.Sprint("#", number), "outcome": "success"}, nil)
	wants(t, w, number)
	fox.want("yes", "claim", map[string]any{"issue": name}, nil)
	if got := a.want("no", "renew", map[string]any{"issue": name, "firing_id": h.FiringID},
		nil); !strings.Contains(got.Hint, "stop work on it") {
		t.Errorf("renew of what has ended: %+v", got)
	}

	// Once it is merged there is nothing to hold.
	if err := w.MergePull("acme/app", number, "olga"); err != nil {
		t.Fatal(err)
	}

	if got := a.want("no", "claim", map[string]any{"issue": name}, nil); !strings.Contains(got.Error, "merged") {
		t.Errorf("claim of a merged one: %+v", got)
	}
}

// TestRenewBefore: who holds an issue is told when a third of the lease is over, by GitHub's clock;
// others are not.
func TestRenewBefore(t *testing.T) {
	w, dir := embedded(t), cloneOf(t, "https://github.com/acme/app.git")
	a := newAgent(t, quiet(t, dir, w.Transport(), nil))
	fox := newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Codename = "fox" })
	due := func(answer string, until, renew time.Time) {
		t.Helper()
		if until.Sub(renew) != time.Hour {
			t.Errorf("%s: until %s, renew before %s", answer, until, renew)
		}
	}

	var h answer.Answer
	a.want("yes", "claim", map[string]any{"issue": "1", "ttl": "90m"}, &h)
	due("claim", h.Until, h.RenewBefore)
	a.want("yes", "renew", map[string]any{"issue": "1"}, &h)
	due("renew", h.Until, h.RenewBefore)
	var s cli.StatusView
	a.want("yes", "status", map[string]any{"issue": "1"}, &s)
	due("status", s.Holder.Until, s.Holder.RenewBefore)
	var others cli.StatusView
	if fox.want("yes", "status", map[string]any{"issue": "acme/app#1"}, &others); !others.Holder.RenewBefore.IsZero() {
		t.Errorf("somebody else is told to renew before %s", others.Holder.RenewBefore)
	}

	fox.want("yes", "status", map[string]any{"issue": "acme/app#1", "codename": "lucius", "firing_id": h.FiringID}, &s)
	due("status with the key", s.Holder.Until, s.Holder.RenewBefore)
	var taken queue.ItemView
	a.want("yes", "next", map[string]any{"ttl": "90m"}, &taken)
	until, err := time.Parse(time.RFC3339, taken.Until)
	renew, bad := time.Parse(time.RFC3339, taken.Renew)
	if err != nil || bad != nil {
		t.Fatal(err, bad)
	}
	due("next", until, renew)
}

// TestToolsBesideOthers: where a worktree has holds of several workers, a server means those of its
// own, and no hint of it leads to another's.
func TestToolsBesideOthers(t *testing.T) {
	w, dir := embedded(t), cloneOf(t, "https://github.com/acme/app.git")
	full := newAgent(t, quiet(t, dir, w.Transport(), nil), func(o *mcp.Options) { o.Codename = "full" })
	mm := newAgent(t, quiet(t, dir, w.Transport(), nil), func(o *mcp.Options) { o.Codename = "mm" })
	full.want("yes", "claim", map[string]any{"issue": "1"}, nil)
	full.want("yes", "claim", map[string]any{"issue": "2"}, nil)
	if got := mm.want("no", "release", map[string]any{"issue": "1"}, nil); !strings.Contains(got.Error,
		"is not mm's but full's") || got.Hint != `see who holds it: status {"issue":"acme/app#1"}` {
		t.Errorf("another's hold: %+v", got)
	}

	if got := mm.want("refused", "release", nil, nil); !strings.Contains(got.Error, "this worktree has no hold for mm") {
		t.Errorf("no hold of its own: %+v", got)
	}

	mm.want("yes", "claim", map[string]any{"issue": "3"}, nil)
	var m answer.Answer
	mm.want("yes", "release", nil, &m)
	if m.Issue != "acme/app#3" {
		t.Errorf("released %s", m.Issue)
	}
}

// TestToolsOutsideClone: without a clone nothing is recorded, and whoever holds says so itself. A
// release that names nobody who holds never takes a person's hold away.
func TestToolsOutsideClone(t *testing.T) {
	w := embedded(t)
	a := newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Repo = "acme/app" })
	var h answer.Answer
	a.want("yes", "claim", map[string]any{"issue": "2", "branch": "fix"}, &h)
	if got := a.want("refused", "renew", map[string]any{"issue": "2"}, nil); !strings.Contains(got.Error,
		"no hold on acme/app#2") {
		t.Errorf("renew: %+v", got)
	}

	a.want("yes", "renew", map[string]any{"issue": "2", "firing_id": h.FiringID}, nil)
	var m answer.Answer
	a.want("yes", "release", map[string]any{
		"issue": "2", "firing_id": h.FiringID, "outcome": "failure",
		"reason": "tests do not build",
	}, &m)
	if m.Answer != "released" || strings.Join(m.Is, " ") != "agent:implement" {
		t.Errorf("release: %+v", m)
	}

	if err := w.AddLabels("acme/app", 3, "olga", "do-not-pickup"); err != nil {
		t.Fatal(err)
	}
	a.want("refused", "release", map[string]any{"issue": "3"}, nil)
	a.want("no", "release", map[string]any{"issue": "3", "firing_id": "none"}, nil)
	if got, err := w.Labels("acme/app", 3); err != nil || !strings.Contains(strings.Join(got, " "), "do-not-pickup") {
		t.Errorf("labels %q, %v: a person's hold is gone", got, err)
	}

	if got := a.want("no", "renew", map[string]any{"issue": "2", "firing_id": h.FiringID}, nil); !got.isError ||
		!strings.Contains(got.Hint, "stop work on it") {
		t.Errorf("renew of what has ended: %+v", got)
	}
}

// TestToolsHoldOutsideClone: a server of a repository means by a status without an issue what it holds.
func TestToolsHoldOutsideClone(t *testing.T) {
	w := embedded(t)
	terminal := quiet(t, t.TempDir(), w.Transport(), nil)
	terminal.Env.Outside = t.TempDir()
	a := newAgent(t, terminal, func(o *mcp.Options) { o.Repo = "acme/app" })

	var none answer.Answer
	a.want("yes", "status", nil, &none)
	if none.Answer != answer.None {
		t.Errorf("holds nothing: %+v", none)
	}

	a.want("yes", "claim", map[string]any{"issue": "2"}, nil)
	var s cli.StatusView
	a.want("yes", "status", nil, &s)
	if s.Issue != "acme/app#2" {
		t.Errorf("holds %s", s.Issue)
	}
}

// TestToolBoard: the board, the log and the list are the same words, marked as other people's.
func TestToolBoard(t *testing.T) {
	w := embedded(t)
	a := newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Repo = "acme/app" })
	a.want("yes", "claim", map[string]any{"issue": "1"}, nil)

	for limit, want := range map[int]int{1: 1, 5: 2} {
		got := a.want("yes", "list", map[string]any{"limit": limit}, nil)
		if len(got.Results) != want || !strings.Contains(strings.Join(got.Untrusted, " "), "results.title") {
			t.Errorf("list of %d: %+v", limit, got)
		}
	}

	for uri, want := range map[string]int{"label-state://acme/app/board": 3, "label-state://acme/app/issues/1/log": 1} {
		r, err := a.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}

		var out toolAnswer
		if err := json.Unmarshal([]byte(r.Contents[0].Text), &out); err != nil || len(out.Results) != want ||
			len(out.Untrusted) == 0 {
			t.Errorf("%s: %d results, want %d; %v", uri, len(out.Results), want, err)
		}
	}

	if _, err := a.ReadResource(t.Context(),
		&sdk.ReadResourceParams{URI: "label-state://acme/app/issues/99/log"}); err == nil ||
		!strings.Contains(err.Error(), "log acme/app#99") {
		t.Errorf("a log that is not there: %v", err)
	}
}

// TestOperatorTools: pause refuses claims until resume, and a forced release ends a hold for its
// holder.
func TestOperatorTools(t *testing.T) {
	w := embedded(t)
	olga := newAgent(t, quiet(t, t.TempDir(), w.Transport(), map[string]string{"GH_TOKEN": "tok-olga"}),
		func(o *mcp.Options) { o.Repo = "acme/app" })
	a := newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil), func(o *mcp.Options) { o.Repo = "acme/app" })
	var h answer.Answer
	a.want("yes", "claim", map[string]any{"issue": "1"}, &h)
	olga.want("yes", "pause", map[string]any{"reason": "release week"}, nil)
	if got := a.want("no", "claim", map[string]any{"issue": "2"}, nil); !strings.Contains(got.Error, "release week") {
		t.Errorf("paused: %+v", got)
	}

	if got := a.want("no", "next", nil, nil); got.isError || got.Code != answer.ExitNoWork {
		t.Errorf("no work is an answer: %+v", got)
	}
	if got := olga.want("yes", "board", nil, nil); !strings.Contains(strings.Join(got.Notes, "\n"), "acme/app is paused") {
		t.Errorf("the board of what is paused: %+v", got)
	}
	olga.want("yes", "resume", nil, nil)
	if got := a.want("no", "next", map[string]any{"label": []string{"nope"}}, nil); !strings.Contains(string(got.Result),
		`{"when":"later: the same call"}`) {
		t.Errorf("what to do later: %s", got.Result)
	}
	a.want("yes", "claim", map[string]any{"issue": "2"}, nil)
	if got := olga.want("yes", "force_release", map[string]any{"issue": "1", "reason": "gone"},
		nil); len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "lost acme/app#1 by force") {
		t.Errorf("forced: %+v", got)
	}

	a.want("no", "renew", map[string]any{"issue": "1", "firing_id": h.FiringID}, nil)
}

// TestToolTrouble: a typo, a missing token, a GitHub that is away: never yes, never no.
func TestToolTrouble(t *testing.T) {
	w := embedded(t)
	none := quiet(t, t.TempDir(), w.Transport(), map[string]string{"GH_TOKEN": ""})
	none.Env.Run = func(context.Context, setup.Command) ([]byte, error) { return nil, exec.ErrNotFound }
	none.Env.Exec = func(context.Context, git.Command) ([]byte, error) { return nil, exec.ErrNotFound }
	a := newAgent(t, none)
	if got := a.want("unknown", "claim", map[string]any{"issue": "acme/app#1"}, nil); !got.isError ||
		!strings.Contains(got.Error, "token") || !strings.Contains(got.Hint, "gh auth login") {
		t.Errorf("no token: %+v", got)
	}

	a = newAgent(t, quiet(t, t.TempDir(), w.Transport(), nil))
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"claim", map[string]any{"issue": "acme/app#1", "time_to_live": "2h"}, `unknown argument "time_to_live"`},
		{"claim", map[string]any{"issue": "acme/app#1", "ttl": "2 hours"}, `ttl "2 hours": expected a duration`},
		{"claim", map[string]any{"issue": "acme/app#1", "ttl": "-1h"}, "must be positive"},
		{"claim", map[string]any{"issue": "acme/../app#1"}, "acme/../app#1"},
		{"claim", map[string]any{"issue": "--force"}, "--force"},
		{"claim", map[string]any{"issue": "acme/app#1", "codename": "a b"}, `codename "a b"`},
		{"release", map[string]any{"issue": "github-01"}, "github-01"},
		{"next", map[string]any{"repo": "acme"}, "acme"},
	} {
		if got := a.want("refused", c.tool, c.arguments, nil); !got.isError || !strings.Contains(got.Error, c.want) ||
			got.Hint == "" {
			t.Errorf("%s %v: %+v", c.tool, c.arguments, got)
		}
	}

	a.want("unknown", "claim", map[string]any{"issue": "acme/app#99"}, nil)
	for _, r := range w.Requests() {
		if r.Writes() {
			t.Errorf("wrote %s %s", r.Method, r.Path)
		}
	}
}

// away is a network without GitHub.
type away struct{}

func (away) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, errors.New("no route to host")
}

func TestToolAway(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, quiet(t, dir, away{}, nil), func(o *mcp.Options) { o.Timeout = 3 * time.Second })
		start := time.Now()
		for _, name := range []string{"claim", "dedup_check", "status", "log"} {
			if got := a.want("unknown", name, map[string]any{"issue": "acme/app#1"}, nil); !got.isError ||
				got.Hint == "" {
				t.Errorf("%s: %+v", name, got)
			}
		}

		if d := time.Since(start); d > 4*3*time.Second {
			t.Errorf("took %s", d)
		}

		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
}
