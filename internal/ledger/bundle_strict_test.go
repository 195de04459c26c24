package ledger_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
)

// tables is a lease store of several issues in memory, with a step that takes several.
type tables struct {
	mu      sync.Mutex
	issues  map[claim.Issue]*table
	batches int
	renews  int                     // of one lease
	fail    func([]lease.Ask) error // instead of a batch
}

func (s *tables) of(i claim.Issue) *table {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.issues[i] == nil {
		s.issues[i] = &table{}
	}
	return s.issues[i]
}

func (s *tables) Acquire(ctx context.Context, a lease.Ask) (lease.Lease, error) {
	return s.of(a.Issue).Acquire(ctx, a)
}

func (s *tables) Renew(ctx context.Context, l lease.Lease) (lease.Lease, error) {
	s.mu.Lock()
	s.renews++
	s.mu.Unlock()
	return s.of(l.Issue).Renew(ctx, l)
}

func (s *tables) Release(ctx context.Context, l lease.Lease) error {
	return s.of(l.Issue).Release(ctx, l)
}

func (s *tables) Look(ctx context.Context, i claim.Issue) (lease.Lease, bool, error) {
	return s.of(i).Look(ctx, i)
}

func (s *tables) AcquireAll(ctx context.Context, asks []lease.Ask) ([]lease.Lease, error) {
	if s.fail != nil {
		return nil, s.fail(asks)
	}
	if slices.ContainsFunc(asks, func(a lease.Ask) bool { return !a.Issue.SameRepo(asks[0].Issue) }) {
		return nil, errors.New("of two repositories")
	}

	for _, a := range asks {
		if got, held, _ := s.Look(ctx, a.Issue); held && !a.Of(got) {
			return nil, &lease.HeldError{Lease: got}
		}
	}

	s.batches++
	var out []lease.Lease
	for _, a := range asks {
		l, err := s.Acquire(ctx, a)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}

	return out, nil
}

func numbered(n int) claim.Issue { return claim.Issue{Owner: "o", Repo: "r", Number: n + 1} }

// strict are the fleet's issues as those of one repository whose leases are in the store.
func (f fleet) strict(s lease.Store, l *life) []ledger.Part {
	var out []ledger.Part
	for n, p := range f.parts(l, 0, 1, 2) {
		out = append(out, ledger.Part{Issue: numbered(n), Ledger: p.Ledger.Strict(s, "table")})
	}
	return out
}

// strictSweep is sweep with the store's word.
func (f fleet) strictSweep(t *testing.T, s lease.Store, after time.Duration) {
	t.Helper()
	time.Sleep(after)
	for n, w := range f {
		l, own := w.ledger(nil)
		own.fresh = true
		w.store = s

		for range 2 {
			if _, err := l.Strict(s, "table").Reconcile(t.Context(), numbered(n), "sweep-1"); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestStrictBundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(1, faults{}, []string{"agent:implement"}, []string{}, []string{"wish"})
		s := &tables{issues: map[claim.Issue]*table{}}
		parts := f.strict(s, nil)
		parts[2].Issue.Repo = "s" // alone there
		holds, err := bundle(t, parts).Claim(t.Context(), lucius)
		if err != nil || len(holds) != 3 || s.batches != 2 || s.renews != 1 { // taken, and renewed
			t.Fatalf("claim: %d holds in %d steps, and %d renewed alone, %v", len(holds), s.batches, s.renews, err)
		}

		shows(t, f[0], "agent:in-flight agent:bundle:checkout")
		shows(t, f[1], "agent:in-flight agent:bundle:checkout")
		shows(t, f[2], "wish agent:in-flight agent:bundle:checkout")

		for n, h := range holds {
			if got, held, _ := s.Look(t.Context(), parts[n].Issue); !held || got.Token != h.Token || h.Issue != parts[n].Issue ||
				got.Worker != h.Record.Worker || time.Until(h.Until) < 59*time.Minute {
				t.Errorf("%s: %+v in the store, hold %+v", h.Issue, got, h)
			}
		}
	})
}

// slowTables answers a batch so much later than it was taken.
type slowTables struct {
	*tables
	by time.Duration
}

func (s slowTables) AcquireAll(ctx context.Context, asks []lease.Ask) ([]lease.Lease, error) {
	got, err := s.tables.AcquireAll(ctx, asks)
	time.Sleep(s.by)
	return got, err
}

// TestStrictBundleSlowly: the leases count from before the store was asked, so that an answer that
// comes when they are over is no hold, and none is extended.
func TestStrictBundleSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(1, faults{}, []string{}, []string{}, []string{})
		s := slowTables{&tables{issues: map[claim.Issue]*table{}}, 2 * time.Hour}
		_, err := bundle(t, f.strict(s, nil)).Claim(t.Context(), lucius)
		if !errors.Is(err, claim.ErrOverdue) || s.batches != 1 {
			t.Errorf("claim: %v, with %d batches", err, s.batches)
		}
	})
}

// TestStrictBundleRefused: what only the store knows stands in the way like anything else, and what
// the store cannot say leaves nothing.
func TestStrictBundleRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*tables)
		held  bool
		want  string // of the error
	}{
		"lost to another": {func(s *tables) {
			s.fail = func([]lease.Ask) error {
				return &lease.HeldError{Lease: lease.Lease{
					Issue:  numbered(1),
					Worker: claim.Worker{Codename: "drake", FiringID: "d"}, TTL: ttl,
				}}
			}
		}, true, "o/r#2: held by drake"},
		"known to the store alone": {func(s *tables) {
			for n := range 2 {
				_, _ = s.Acquire(t.Context(), lease.Ask{
					Issue:  numbered(n),
					Worker: claim.Worker{Codename: "drake", FiringID: "d"}, TTL: time.Minute,
				})
			}
		}, true, "; o/r#2: held by drake"},
		"not known": {func(s *tables) { s.fail = func([]lease.Ask) error { return errors.New("answer lost") } }, false, "o/r#1: 3 issues"},
		"not known, and nothing was asked elsewhere": {
			func(s *tables) { s.fail = func([]lease.Ask) error { return errors.New("answer lost") } },
			false, "o/r#1: 2 issues",
		},
		"landed all the same": {func(s *tables) {
			s.fail = func(asks []lease.Ask) error {
				s.fail = nil
				_, _ = s.AcquireAll(t.Context(), asks[:2])
				return errors.New("answer lost")
			}
		}, false, "o/r#1: 3 issues of o/r: "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(1, faults{}, []string{"agent:implement"}, []string{}, []string{"agent:done"})
				s := &tables{issues: map[claim.Issue]*table{}}
				c.spoil(s)
				req := lucius
				req.Worker.FiringID = "l1"
				parts := f.strict(s, nil)
				if strings.HasSuffix(name, "elsewhere") {
					parts[2] = f.strict(s, &life{left: 2, when: func() { t.Error("more than its snapshot was asked for") }})[2]
					parts[2].Issue.Repo = "s"
				}
				_, err := bundle(t, parts).Claim(t.Context(), req)
				var no *ledger.BundleError
				var held *ledger.HeldError
				if !errors.As(err, &no) || no.Left != nil || errors.As(err, &held) != c.held || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("claim: %v, want %q", err, c.want)
				}

				f.strictSweep(t, s, 2*time.Minute)
				for n := range f {
					f.asBefore(t, n)
					if _, held, _ := s.Look(t.Context(), numbered(n)); held {
						t.Errorf("%s is held in the store", numbered(n))
					}
				}
			})
		})
	}
}

// TestStrictBundleWithoutBatch: where the store has no step for several, they are taken one after
// the other.
func TestStrictBundleWithoutBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(1, faults{}, implement(3)...)
		s := &tables{issues: map[claim.Issue]*table{}, fail: func([]lease.Ask) error { return errors.ErrUnsupported }}
		holds, err := bundle(t, f.strict(s, nil)).Claim(t.Context(), lucius)
		if err != nil || len(holds) != 3 {
			t.Fatalf("claim: %d holds, %v", len(holds), err)
		}
	})
}

// TestStrictBundleLoses: at every request the store fails, or loses the last lease; everything is
// released, in the store and in the labels.
func TestStrictBundleLoses(t *testing.T) {
	undone := 0
	for at := 1; ; at++ {
		finished := false
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(uint64(at), faults{}, []string{"agent:implement"}, []string{}, []string{"agent:done"})
			s := &tables{issues: map[claim.Issue]*table{}}
			l := &life{left: at, when: func() {
				s.fail = func([]lease.Ask) error { return context.Canceled }
				if held := s.of(numbered(2)); held.held() {
					held.now = lease.Lease{} // the store lost it
				}
			}}
			_, err := bundle(t, f.strict(s, l)).Claim(t.Context(), lucius)
			var no *ledger.BundleError
			if finished = !errors.As(err, &no); finished {
				return
			}

			undone++
			f.strictSweep(t, s, 0)
			f.asBefore(t, 0)
			f.asBefore(t, 1)

			for n := range f {
				if _, held, _ := s.Look(t.Context(), numbered(n)); held {
					t.Errorf("%s is held in the store", numbered(n))
				}
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

// TestStrictBundleUnheard: somebody who has not heard of the store claims one of the issues at
// every request. One of the two has it. Where that is not the bundle, everything is released that
// the store had granted, also what was not in the log yet.
func TestStrictBundleUnheard(t *testing.T) {
	lost := 0
	for at := 1; ; at++ {
		finished := false
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(uint64(at), faults{}, []string{"agent:implement"}, []string{}, []string{})
			s := &tables{issues: map[claim.Issue]*table{}}
			unheard, _ := f[1].ledger(nil)
			came, won := false, false
			_, err := bundle(t, f.strict(s, &life{left: at, when: func() {
				_, no := unheard.Claim(t.Context(), numbered(1),
					ledger.Request{Worker: claim.Worker{Codename: "drake"}, TTL: ttl})
				came, won = true, no == nil
			}})).Claim(t.Context(), lucius)
			finished = !came
			var no *ledger.BundleError
			if whole := !errors.As(err, &no); whole == won || won && no.Issues[0] != numbered(1) {
				t.Errorf("the bundle: %v; somebody else holds one of its issues: %t", err, won)
			}

			if !won {
				return
			}

			lost++
			f.strictSweep(t, s, 0)
			f.asBefore(t, 0)
			f.asBefore(t, 2)
			shows(t, f[1], "agent:in-flight")

			for n := range f {
				if _, held, _ := s.Look(t.Context(), numbered(n)); held {
					t.Errorf("%s is held in the store", numbered(n))
				}
			}
		})

		if t.Failed() {
			t.Fatalf("at request %d", at)
		}

		if finished {
			break
		}
	}

	if lost < 5 {
		t.Errorf("only %d bundles were lost", lost)
	}
}
