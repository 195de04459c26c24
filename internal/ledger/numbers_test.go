package ledger_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestMargin: a holder stops a margin before its lease ends, a hundredth of it at least and a
// quarter at most (spec-writing.md#what-a-worker-does).
func TestMargin(t *testing.T) {
	for lease, margin := range map[time.Duration]time.Duration{
		20 * time.Second: 5 * time.Second,
		10 * time.Minute: 10 * time.Second, 10 * time.Hour: 6 * time.Minute,
	} {
		alone(t, func(t *testing.T, w *world) {
			l, _ := w.ledger(nil)
			h, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "ann"}, TTL: lease})
			if err != nil {
				t.Fatal(err)
			}

			const slack = 2 * time.Second // of times in whole seconds
			time.Sleep(time.Until(h.Until) - margin - slack)
			if !l.Owns(h) {
				t.Errorf("a lease of %s is over earlier than %s before its end", lease, margin)
			}

			time.Sleep(2 * slack)
			if l.Owns(h) {
				t.Errorf("a lease of %s is not over %s before its end", lease, margin)
			}
		})
	}
}

// TestTokenStays: once a renewal has recorded the token, one that does not know it loses nothing.
func TestTokenStays(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(nil)
		h := take(t, l, "ann")
		for _, token := range []int64{h.Token, 0} {
			got, err := l.Renew(t.Context(), issue, h.Record.Worker, token)
			if err != nil || got.Token != h.Token || got.Record.Token != h.Token {
				t.Errorf("token %d after a renewal with %d, %v; want %d", got.Token, token, err, h.Token)
			}
		}
	})
}

// TestAgeing: a sweep tells which holds have gone more than half their lease without a heartbeat.
func TestAgeing(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		h := take(t, l, "ann")
		for _, late := range []bool{false, true} {
			r := l.Sweep(t.Context(), scan{f}, ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "s"})
			if len(r.Holds) != 1 || r.Holds[0].Late != late || !r.Holds[0].Until.Equal(h.Until) {
				t.Errorf("holds %+v, want one, late: %v", r.Holds, late)
			}
			time.Sleep(ttl/2 + time.Second)
		}

		closed := f.look(issue)
		closed.Open = false
		one := func(yield func(lifecycle.Facts, error) bool) { yield(closed, nil) }
		if r := l.Tend(t.Context(), one, ledger.Sweep{By: "s", DryRun: true}); len(r.Examined) != 1 || len(r.Holds) != 0 {
			t.Errorf("%+v, want no hold of a closed issue", r)
		}
	})
}

// TestRuns: a run and a sweep are named for people, by the time in UTC, and for records, by a word.
func TestRuns(t *testing.T) {
	berlin := time.Date(2026, 5, 1, 1, 30, 0, 0, time.FixedZone("", 7200))
	if got := ledger.SweepID(berlin, "word"); got != "sweep-20260430-233000-word" {
		t.Errorf("a sweep is %s", got)
	}

	for run, want := range map[string]string{"": "20000101-000000-word", "77": "77-word"} {
		synctest.Test(t, func(t *testing.T) {
			l := ledger.New(nil, virtual{}, func() string { return "word" }, ledger.Settings{Run: run})
			if got := bundle(t, []ledger.Part{{Issue: issue, Ledger: l}}).Worker(claim.Worker{}).FiringID; got != want {
				t.Errorf("a claim of run %q is %s, want %s", run, got, want)
			}
		})
	}
}

// TestForceLeavesContenders: who takes the label off means the holder. What was not confirmed by
// then is somebody else's beginning.
func TestForceLeavesContenders(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		take(t, l, "ann")
		cyd := claim.Worker{Codename: "cyd", FiringID: "c1"}
		post(t, f, claim.Record{Kind: claim.KindClaim, Worker: cyd, Nonce: "n"})
		_, ended, err := l.ForceBefore(t.Context(), issue, time.Now(), "olga", "label taken off")
		if err != nil || len(ended) != 1 || ended[0].Record.Worker.Codename != "ann" {
			t.Errorf("ended %v, %v; want ann's hold alone", ended, err)
		}
	})
}

// TestExpiryOfClosed: a hold that ran out after its issue was closed is not a failed attempt:
// nothing was left to do.
func TestExpiryOfClosed(t *testing.T) {
	for name, c := range map[string]struct {
		story    []string
		outcome  string
		attempts int
	}{
		"closed": {[]string{"olga on", "tick", "tick", "sue on"}, claim.OutcomeCancelled, 0},
		"open":   {[]string{"tick", "tick", "sue on"}, claim.OutcomeStaleSwept, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := told(t, scenario{
				cast: []role{holder("ann"), sweeper("sue", 1), person(closes())}, tick: term,
				ticks: 2,
			}, c.story...)
			log := p.look().log
			if end := log.Claims[0].End; end == nil || end.Outcome != c.outcome || len(log.Attempts) != c.attempts {
				t.Errorf("%+v and %d attempts, want %s and %d", end, len(log.Attempts), c.outcome, c.attempts)
			}
		})
	}
}

// TestOwnLateLabel: the claimed label of a hold lands after its release. It is newer than every
// record, as that of an older tool would be, but the releaser knows better and takes it off.
func TestOwnLateLabel(t *testing.T) {
	s := scenario{
		cast:   []role{worker("ann", release)},
		labels: true,
		faults: budget{lost: 1},
		tick:   time.Minute,
		ticks:  1,
	}
	p := told(t, s, "ann read", "ann comment", "ann read", "ann edit", "ann read", "ann add late",
		"ann work", "ann read", "ann comment", "tick", "land 0", "ann on")
	if shown := p.look().labels; !slices.Equal(shown, []string{"agent:implement"}) {
		t.Errorf("labels %q\n%s", shown, p.server)
	}
}
