package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/ledger"
)

// sweeping sweeps acme/app once and returns what became of it.
func sweeping(c *Client, change func(*ledger.Settings), dry bool) ledger.Report {
	set := ledger.DefaultSettings()
	set.Minimize = true
	if change != nil {
		change(&set)
	}

	l := ledger.New(c, clock.Machine{}, func() string { return "0123abcd" }, set)
	repo := claim.Repo{Owner: "acme", Name: "app"}
	return l.Sweep(context.Background(), c, ledger.Sweep{Repos: []claim.Repo{repo}, By: "sweep-1", DryRun: dry})
}

// folded lists which comments of an issue are minimized.
func folded(t *testing.T, c *Client, n int) string {
	t.Helper()
	f, err := c.Facts(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: n})
	if err != nil {
		t.Fatal(err)
	}

	var out []string
	for _, e := range f.Log.Log {
		out = append(out, fmt.Sprintf("%s %s %t", e.Record.Kind, e.Record.Worker.Codename, e.Minimized))
	}

	return strings.Join(out, ", ")
}

// TestSweepMinimizes: the comments of ended holds are minimized, once, and count as before; those
// of a hold that lives, talk and plans are not. A second sweep sends no mutation.
func TestSweepMinimizes(t *testing.T) {
	sim := simulated(t)
	c := connect(t, sim.Transport())
	if r := sweeping(c, nil, true); r.Minimized != 0 || r.NotMinimized != nil {
		t.Errorf("a dry run: %d %v", r.Minimized, r.NotMinimized)
	}

	r := sweeping(c, nil, false)
	if r.NotMinimized != nil || r.Minimized == 0 {
		t.Fatalf("%d minimized, %v", r.Minimized, r.NotMinimized)
	}

	before, _ := c.Facts(t.Context(), claim.Issue{Owner: "acme", Repo: "app", Number: 4})
	if got, want := folded(t, c, 4), "claim drake true, release drake true, claim erin true, release erin true"; got != want {
		t.Errorf("ended: %s, want %s", got, want)
	}

	if len(before.Log.Claims) != 2 || before.Log.Claims[0].End == nil || before.Log.Claims[0].End.PR == "" {
		t.Errorf("minimized records count as before: %+v", before.Log.Claims)
	}
	open, err := sim.AddIssue("acme/app", "bot", "Work", "", "agent:implement")
	if err != nil {
		t.Fatal(err)
	}

	if _, err := sim.AddComment("acme/app", open, "bot",
		"<!-- agent-claim:codename=zoe firing_id=z1 nonce=n1 ttl=4h state=held -->"); err != nil {
		t.Fatal(err)
	}

	if _, err := sim.AddComment("acme/app", open, "bot", "<!-- agent-plan:codename=zoe firing_id=z1 -->"); err != nil {
		t.Fatal(err)
	}
	sent := &minimizing{next: sim.Transport()}
	c = connect(t, sent)
	for range 2 { // the first folds what the sweep above has ended
		sweeping(c, nil, false)
	}

	if got, want := folded(t, c, open), "claim zoe false, plan zoe false"; got != want {
		t.Errorf("a hold that lives: %s, want %s", got, want)
	}
	sent.seen = 0
	if r := sweeping(c, nil, false); r.Minimized != 0 || sent.seen != 0 {
		t.Errorf("again: %d minimized by %d mutations", r.Minimized, sent.seen)
	}
}

// TestSweepMinimizesAtMost: one sweep minimizes a hundred comments, the next goes on.
func TestSweepMinimizesAtMost(t *testing.T) {
	sim := simulated(t)
	for n := range 60 {
		for _, body := range []string{
			"claim:codename=w firing_id=r%d nonce=n state=held -->",
			"release:codename=w firing_id=r%d outcome=cancelled -->",
		} {
			if _, err := sim.AddComment("acme/app", 1, "bot", "<!-- agent-"+fmt.Sprintf(body, n)); err != nil {
				t.Fatal(err)
			}
		}
	}

	c := connect(t, sim.Transport())
	total := 0
	for range 2 {
		r := sweeping(c, nil, false)
		if r.Minimized > 100 || r.NotMinimized != nil {
			t.Errorf("%d minimized, %v", r.Minimized, r.NotMinimized)
		}
		total += r.Minimized
	}

	if total < 120 {
		t.Errorf("%d minimized in two sweeps", total)
	}
}

// TestMinimizeRefused: a token that may not minimize is said once, and the sweep is complete.
func TestMinimizeRefused(t *testing.T) {
	sim := simulated(t)
	c := connect(t, sim.Transport(), as("tok-tia"),
		func(o *Options) { o.Trust.Logins = []string{"bot", "tia", "rob", "mal"} })
	r := sweeping(c, nil, false)
	if r.Minimized != 0 || !isDenied(r.NotMinimized) || !r.Complete() {
		t.Errorf("%d minimized, %v; complete %t: %v", r.Minimized, r.NotMinimized, r.Complete(), r.Skipped)
	}

	if off := sweeping(connect(t, sim.Transport()), func(s *ledger.Settings) { s.Minimize = false },
		false); off.Minimized != 0 {
		t.Errorf("not asked for: %d", off.Minimized)
	}

	gone := []claim.Comment{{Node: "IC_kwSUM6OQ"}}
	if n, err := connect(t, sim.Transport()).Minimize(t.Context(), gone); n != 0 || err != nil {
		t.Errorf("a comment that is gone: %d, %v", n, err)
	}
}

func isDenied(err error) bool {
	var e *PermissionError
	return errors.As(err, &e)
}

// minimizing counts the mutations that minimize.
type minimizing struct {
	next http.RoundTripper
	seen int
}

func (m *minimizing) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}

		r.Body = io.NopCloser(bytes.NewReader(body))
		if bytes.Contains(body, []byte("minimizeComment")) {
			m.seen++
		}
	}

	return m.next.RoundTrip(r)
}
