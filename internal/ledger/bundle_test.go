package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/protocol"
)

var lucius = ledger.Request{Worker: claim.Worker{Codename: "lucius"}, TTL: time.Hour}

// sweep lets time pass and looks at every repository, twice.
func (f fleet) sweep(t *testing.T, after time.Duration) {
	t.Helper()
	time.Sleep(after)
	for n, w := range f {
		l, own := w.ledger(nil)
		own.fresh, w.faults = true, faults{}
		for range 2 {
			r := l.Sweep(t.Context(), scan{own},
				ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "sweep-1"})
			if !r.Complete() {
				t.Errorf("sweep of %s: %+v", f.issue(n), r)
			}
		}
	}
}

// asBefore wants the issue free, without a failed attempt, and with the labels of the beginning.
func (f fleet) asBefore(t *testing.T, n int) {
	t.Helper()
	v := f[n].now(true)
	log := claim.Replay(v.comments)
	want, got := slices.Sorted(slices.Values(f[n].shown)), slices.Sorted(slices.Values(v.labels))
	if !slices.Equal(got, want) || len(log.Live()) > 0 || len(log.Attempts) > 0 {
		t.Errorf("%s: labels %q, want %q; %d live claims, %d attempts", f.issue(n), got, want, len(log.Live()),
			len(log.Attempts))
	}
}

func TestBundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(1, faults{}, implement(3)...)
		l := &life{left: 100}
		holds, err := bundle(t, f.parts(l, 2, 0, 1)).Claim(t.Context(), lucius)
		if err != nil || len(holds) != 3 {
			t.Fatalf("claim: %d holds, %v", len(holds), err)
		}

		if n := 100 - l.left; n > 40 {
			t.Errorf("%d requests, want that what was looked at is not read again", n)
		}

		for n, h := range holds {
			if h.Issue != f.issue(n) || h.Record.Worker != holds[0].Record.Worker || h.Record.Nonce != holds[0].Record.Nonce ||
				h.Record.Heartbeat != 1 ||
				time.Until(h.Until) < 59*time.Minute {
				t.Errorf("hold %d: %+v", n, h)
			}
			shows(t, f[n], "agent:in-flight agent:bundle:checkout")
		}

		f.sweep(t, 30*time.Minute)
		if _, err := bundle(t, f.parts(nil, 1)).Claim(t.Context(), lucius); err == nil {
			t.Error("claimed what is held")
		}
	})
}

// TestBundleRefused: whatever is in the way of one issue, nothing is written anywhere.
func TestBundleRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(1, faults{}, []string{"agent:implement"}, []string{"do-not-pickup"}, []string{"agent:implement"},
			[]string{"wip"})
		_, err := bundle(t, f.parts(nil, 0, 1, 2, 3)).Claim(t.Context(), lucius)
		var no *ledger.BundleError
		if !errors.As(err, &no) || len(no.Issues) != 2 || no.Slug != "checkout" || no.Left != nil || no.Taken != nil {
			t.Fatalf("claim: %v, want that two stand in the way", err)
		}

		var held *ledger.HeldError
		if !errors.As(err, &held) || held.Issue != f.issue(1) || !strings.Contains(err.Error(), "o/r1#7: a person holds it") ||
			!strings.Contains(err.Error(), "o/r3#7: label wip") {
			t.Errorf("claim: %v", err)
		}

		no.Causes = append(no.Causes, &ledger.UnknownError{Issue: f.issue(0), Err: errLost})
		if !errors.Is(no, errLost) || errors.As(no, &held) {
			t.Error("of a no, and of what is not known, the no is the answer")
		}

		other := &claim.IssueError{Doing: "read", Issue: f.issue(1), Err: errLost}
		if text := ledger.Reason(f.issue(0), other); text != other.Error() {
			t.Errorf("%q, want that it is about another issue", text)
		}

		for n, w := range f {
			if len(w.events) > 0 {
				t.Errorf("%s: something was written", f.issue(n))
			}
		}
	})
}

func TestNewBundle(t *testing.T) {
	f := newFleet(1, faults{}, implement(2)...)
	long := strings.Repeat("x", 38)
	twice := append(f.parts(nil, 0, 1),
		ledger.Part{Issue: claim.Issue{Owner: "O", Repo: "R0", Number: 7}, Ledger: f.parts(nil, 0)[0].Ledger})
	for _, c := range []struct {
		slug  string
		parts []ledger.Part
		want  string
	}{
		{"checkout", nil, "no issue"},
		{"checkout", twice, "named twice"},
		{"Checkout", f.parts(nil, 0), "expected"},
		{"-x", f.parts(nil, 0), "expected"},
		{"", f.parts(nil, 0), "expected"},
		{"../../evil", f.parts(nil, 0), "expected"},
		{long, f.parts(nil, 0), "expected at most 37"},
		{long[1:], f.parts(nil, 0), ""},
	} {
		_, err := ledger.NewBundle(c.slug, c.parts)
		if (err == nil) != (c.want == "") || err != nil &&
			(!answer.Is(err, answer.Usage) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q of %d: %v, want %q", c.slug, len(c.parts), err, c.want)
		}
	}
}

// TestBundleRace plays bundles that overlap in all ways, by seed. Of two over the same issues one
// is taken; of any number each is whole or leaves nothing.
func TestBundleRace(t *testing.T) {
	sets := map[string][][]int{
		"same":  {{0, 1, 2}, {2, 1, 0}},
		"chain": {{0, 1}, {1, 2}, {2, 0}},
		"crowd": {{0, 1, 2}, {1, 2}, {2, 1, 0}, {2}},
	}

	for name, bundles := range sets {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(60) {
				synctest.Test(t, func(t *testing.T) { raceBundles(t, seed, faults{}, name == "same", bundles) })
				synctest.Test(t, func(t *testing.T) {
					raceBundles(t, seed, faults{
						stale:  5 * time.Second,
						late:   5 * time.Second,
						lost:   0.1,
						denied: 0.5,
						delay:  10 * time.Second,
					}, false, bundles)
				})

				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func raceBundles(t *testing.T, seed uint64, trouble faults, one bool, bundles [][]int) {
	f := newFleet(seed, trouble, []string{"agent:implement"}, []string{}, []string{"agent:implement", "wish"})
	taken := make([]int, len(f)) // how many bundles have each issue
	wins := 0
	var mu sync.Mutex
	var crew sync.WaitGroup
	for n, numbers := range bundles {
		crew.Go(func() {
			time.Sleep(f[0].between(3 * time.Second))
			b := bundle(t, f.parts(nil, numbers...))
			holds, err := b.Claim(t.Context(),
				ledger.Request{Worker: claim.Worker{Codename: fmt.Sprint("w", n)}, TTL: time.Hour})
			var no *ledger.BundleError
			mu.Lock()
			defer mu.Unlock()
			if errors.As(err, &no) {
				return
			}

			if len(holds) != len(numbers) {
				t.Errorf("%d holds of %v: %v", len(holds), numbers, err)
			}
			wins++

			for _, k := range numbers {
				taken[k]++
			}
		})
	}

	crew.Wait()
	if slices.Max(taken) > 1 || one && wins != 1 {
		t.Errorf("bundles that have each issue: %v; %d bundles taken", taken, wins)
	}

	if trouble == (faults{}) && wins == 0 {
		t.Error("no bundle was taken")
	}
	f.sweep(t, 12*time.Minute)

	for n := range f {
		if taken[n] == 0 {
			f.asBefore(t, n)
		}
	}
}

// TestBundleKilled kills the worker before and after every request. Then nothing is held after a
// sweep, nothing counts as a failed attempt, and labels are what they were; unless it was killed
// when it had everything: then each issue is whole or undone by itself.
func TestBundleKilled(t *testing.T) {
	shown := [][]string{{"agent:implement", "wish"}, {}, {"agent:done", "agent:bundle:checkout"}}
	for _, after := range []bool{false, true} {
		deaths := 0
		for at := 1; ; at++ {
			finished := false
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(uint64(at), faults{}, shown...)
				b := bundle(t, f.parts(&life{left: at, after: after}, 0, 1, 2))
				var worker sync.WaitGroup
				worker.Go(func() {
					if _, err := b.Claim(t.Context(), lucius); err != nil {
						t.Errorf("claim: %v", err)
					}
					finished = true
				})
				worker.Wait()
				whole := f.renewed()
				f.sweep(t, 12*time.Minute)

				for n := range f {
					if !whole {
						f.asBefore(t, n)
					}
					if !whole && records(f[n], "stale-swept") > 0 {
						t.Errorf("%s: the end of a bundle's claim is called stale-swept", f.issue(n))
					}
				}

				f.sweep(t, 2*time.Hour)
				for n := range f {
					if live := claim.Replay(f[n].now(true).comments).Live(); len(live) > 0 {
						t.Errorf("%s is held for ever", f.issue(n))
					}
				}
			})

			if t.Failed() {
				t.Fatalf("killed at request %d, after it: %t", at, after)
			}

			if finished {
				break
			}
			deaths++
		}

		if deaths < 30 {
			t.Errorf("only %d deaths: the test does not kill", deaths)
		}
	}
}

// renewed reports whether any claim of the fleet was renewed: then its worker had all.
func (f fleet) renewed() bool {
	return slices.ContainsFunc(f, func(w *world) bool { return records(w, "hb=1") > 0 })
}

// TestBundleRolledBack: somebody takes one of the issues away at every step of the claim. Labels
// are what they were at once, without any sweep, and the log says why.
func TestBundleRolledBack(t *testing.T) {
	shown := [][]string{{"agent:implement"}, {}, {"agent:done", "agent:bundle:checkout"}}
	undone := 0
	for at := 1; ; at++ {
		finished := false
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(uint64(at), faults{}, shown...)
			thief, _ := f[2].ledger(nil)
			l := &life{left: at, when: func() {
				if err := thiefs(t, thief, f.issue(2)); err != nil {
					t.Error(err)
				}
			}}
			_, err := bundle(t, f.parts(l, 0, 1, 2)).Claim(t.Context(), lucius)
			var no *ledger.BundleError
			if !errors.As(err, &no) {
				finished = true
				return
			}

			undone++
			f.asBefore(t, 0)
			f.asBefore(t, 1)
			shows(t, f[2], "agent:bundle:checkout agent:in-flight")
			n, second := records(f[0], "outcome=bundle-claim-rolled-back"), records(f[1], "outcome=bundle-claim-rolled-back")
			if n != len(no.Taken) && n != 1 || n > 0 && second > 0 && len(no.Taken) == 0 {
				t.Errorf("%d and %d records of the rollback, and it had taken %v", n, second, no.Taken)
			}
		})

		if t.Failed() {
			t.Fatalf("at request %d", at)
		}

		if finished {
			break
		}
	}

	if undone < 20 {
		t.Errorf("only %d bundles were rolled back", undone)
	}
}

// thiefs takes an issue by force for somebody else.
func thiefs(t *testing.T, l *ledger.Ledger, i claim.Issue) error {
	t.Helper()
	if _, _, err := l.Force(t.Context(), i, "alice", "mine"); err != nil {
		return err
	}
	_, err := l.Claim(t.Context(), i, ledger.Request{Worker: claim.Worker{Codename: "drake"}, TTL: ttl})
	return err
}

// TestBundleInterrupted: the caller's time ends at every request. What was taken is released all
// the same, at once.
func TestBundleInterrupted(t *testing.T) {
	undone := 0
	for at := 1; ; at++ {
		finished := false
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(uint64(at), faults{}, []string{"agent:implement"}, []string{},
				[]string{"agent:done", "agent:bundle:checkout"})
			ctx, stop := context.WithCancel(t.Context())
			_, err := bundle(t, f.parts(&life{left: at, when: stop}, 0, 1, 2)).Claim(ctx, lucius)
			stop()
			var no *ledger.BundleError
			if !errors.As(err, &no) {
				finished = true
				return
			}

			undone++
			if no.Left != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("claim: %v; left: %v", err, no.Left)
			}

			for n := range f {
				f.asBefore(t, n)
			}
		})

		if t.Failed() {
			t.Fatalf("at request %d", at)
		}

		if finished {
			break
		}
	}

	if undone < 10 {
		t.Errorf("only %d bundles were rolled back", undone)
	}
}

// TestBundleLateLabels: labels that nobody can write are late, of holds that are real; they keep
// nothing from being undone, once.
func TestBundleLateLabels(t *testing.T) {
	for _, s := range []lease.Store{nil, &tables{issues: map[claim.Issue]*table{}}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(1, faults{}, implement(3)...)
			parts := f.parts(nil, 0, 1, 2)
			for n := range parts {
				own := &forge{world: f[n], calls: map[string]int{}}
				l := ledger.New(over(unlabelled{own}), virtual{}, f[n].words(), ledger.DefaultSettings())
				if parts[n].Ledger = l; s != nil {
					parts[n] = ledger.Part{Issue: numbered(n), Ledger: l.Strict(s, "table")}
				}
			}

			var late *ledger.LabelsError
			req := lucius
			req.Worker.FiringID = "l1"
			holds, err := bundle(t, parts).Claim(t.Context(), req)
			if !errors.As(err, &late) || len(holds) != 3 {
				t.Fatalf("claim: %d holds, %v", len(holds), err)
			}

			for n, h := range holds {
				if !parts[n].Ledger.Owns(h) {
					t.Errorf("%s is not held", h.Issue)
				}
				for _, want := range []bool{true, false} {
					if was, err := parts[n].Undo(t.Context(), h.Record.Worker, h.Record.Nonce, false); was != want || err != nil {
						t.Errorf("undo of %s: %t, %v; want %t", h.Issue, was, err, want)
					}
				}
			}

			if _, err := bundle(t, parts).Claim(t.Context(), req); !answer.Is(err, answer.Usage) {
				t.Errorf("claim with a key that has ended: %v", err)
			}
		})
	}
}

// TestBundleTooSlow: a hold that ran out while the other issues were taken is not kept.
func TestBundleTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(1, faults{}, implement(3)...)
		parts := f.parts(nil, 0, 1, 2)
		for n := 1; n < 3; n++ {
			own := &forge{world: f[n], calls: map[string]int{}}
			parts[n].Ledger = ledger.New(over(&sleepy{own, 6 * time.Minute}), virtual{}, f[n].words(), ledger.DefaultSettings())
		}

		var lost *ledger.LostError
		holds, err := bundle(t, parts).Claim(t.Context(), lucius)
		if !errors.As(err, &lost) || !errors.Is(err, claim.ErrOverdue) || lost.Issue != f.issue(0) || lost.Worker.Codename != "lucius" {
			t.Errorf("claim: %d holds, %v", len(holds), err)
		}
		if !strings.HasSuffix(err.Error(), "; 3 already taken, all released") {
			t.Errorf("claim: %v", err)
		}
	})
}

// flaky is a forge whose edits fail so often once it was edited.
type flaky struct {
	*forge
	fails int
}

func (f *flaky) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	if f.calls["edit"] > 0 && f.fails > 0 {
		f.fails--
		return claim.Comment{}, errLost
	}
	return f.forge.EditComment(ctx, i, id, body)
}

// TestBundleWaits: issues of a bundle that wait to be renewed wait side by side.
func TestBundleWaits(t *testing.T) {
	var took [2]time.Duration
	for n := range took {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(1, faults{}, implement(3)...)
			parts := f.parts(nil, 0, 1, 2)
			for k, fails := range []int{3, 1, 2} {
				own := &flaky{&forge{world: f[k], near: true, calls: map[string]int{}}, n * fails}
				parts[k].Ledger = ledger.New(over(own), virtual{}, f[k].words(), ledger.DefaultSettings())
			}

			begun := time.Now()
			if _, err := bundle(t, parts).Claim(t.Context(), lucius); err != nil {
				t.Error(err)
			}
			took[n] = time.Since(begun)
		})
	}

	if more := took[1] - took[0]; more != protocol.Backoff(1)+protocol.Backoff(2)+protocol.Backoff(3) {
		t.Errorf("three failed edits of one issue, beside those of others, took %s more than none", more)
	}
}

// shut is a forge that fails every post while it is closed.
type shut struct {
	*forge
	closed func() error
}

func (s shut) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	if err := s.closed(); err != nil {
		return claim.Comment{}, err
	}
	return s.forge.Comment(ctx, i, body)
}

// TestBundleUndoGoesOn: an issue that cannot be released keeps none of the others from being
// released, and is named.
func TestBundleUndoGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(1, faults{}, implement(3)...)
		out := false // whether posts in the second repository fail
		parts := f.parts(nil, 0, 1, 2)
		for n, closed := range map[int]func() error{
			1: func() error { return map[bool]error{true: errLost}[out] },
			2: func() error { out = true; return refusal{errors.New("403")} },
		} {
			own := &forge{world: f[n], calls: map[string]int{}}
			parts[n].Ledger = ledger.New(over(shut{own, closed}), virtual{}, f[n].words(), ledger.DefaultSettings())
		}

		_, err := bundle(t, parts).Claim(t.Context(), lucius)
		var no *ledger.BundleError
		if !errors.As(err, &no) || no.Left == nil || !strings.Contains(no.Left.Error(), "o/r1#7") ||
			!errors.Is(err, errLost) || len(no.Issues) != 1 || no.Issues[0] != f.issue(2) {
			t.Fatalf("claim: %v, want that the second issue could not be released", err)
		}
		if no.Slug != "checkout" || !strings.Contains(err.Error(), "; and what was taken could not be released: o/r1#7: ") {
			t.Errorf("claim of %s: %v", no.Slug, err)
		}

		f.asBefore(t, 0)
		if live := claim.Replay(f[1].now(true).comments).Live(); len(live) != 1 {
			t.Errorf("%d live claims of the second issue: the test does not fail its undo", len(live))
		}
	})
}
