package ledger_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// table is a lease store in memory: one lock, one clock.
type table struct {
	mu    sync.Mutex
	token int64
	now   lease.Lease
}

func (s *table) held() bool { return !s.now.Worker.IsZero() && time.Now().Before(s.now.Expires) }

func (s *table) Acquire(_ context.Context, a lease.Ask) (lease.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held() && !a.Of(s.now) && (s.now.Worker != a.Worker || s.now.Token != a.Takes) {
		return lease.Lease{}, &lease.HeldError{Lease: s.now}
	}

	if !s.held() || !a.Of(s.now) { // asked again by the process that has it, it renews
		s.token++
		s.now = a.Bare()
	}
	s.now.Token, s.now.Expires = s.token, time.Now().Add(a.TTL)
	return s.now, nil
}

func (s *table) Renew(_ context.Context, l lease.Lease) (lease.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.held() || s.now.Token != l.Token {
		return l, lease.ErrLost
	}

	s.now.Expires = time.Now().Add(s.now.TTL)
	return s.now, nil
}

func (s *table) Release(_ context.Context, l lease.Lease) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.Worker == l.Worker && (l.Token == s.now.Token || l.Token == 0 && l.Nonce == s.now.Nonce) {
		s.now = lease.Lease{}
	}
	return nil
}

func (s *table) Look(context.Context, claim.Issue) (lease.Lease, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now, s.held(), nil
}

// knowing is a store that says which issues it knows, or does not. It counts how often it is asked.
type knowing struct {
	table
	issues []int
	err    error
	asked  int
}

func (k *knowing) Known(context.Context, claim.Issue) ([]int, error) {
	k.asked++
	return k.issues, k.err
}

// TestSweepWithoutItsStore: a sweep that cannot ask which issues only the store knows to be held looks at none.
// Where the budget is gone it asks of no further repository.
func TestSweepWithoutItsStore(t *testing.T) {
	for gone, asked := range map[bool]int{true: 1, false: 2} {
		alone(t, func(t *testing.T, w *world) {
			store := &knowing{err: spent{errLost, gone}}
			w.store = store
			l, f := w.ledger(nil)
			repos := []claim.Repo{{Owner: "o", Name: "r"}, {Owner: "o", Name: "s"}}
			r := l.Sweep(t.Context(), scan{f}, ledger.Sweep{Repos: repos, By: "s"})
			if len(r.Examined) != 0 || len(r.Skipped) != 2 || !strings.Contains(r.Skipped[0], errLost.Error()) ||
				store.asked != asked {
				t.Errorf("asked %d times: %+v, want that the repositories were not examined", store.asked, r)
			}
		})
	}
}

// TestSweepOfWhatTheStoreKnows: a hold of which neither the log nor the labels tell is mirrored.
func TestSweepOfWhatTheStoreKnows(t *testing.T) {
	for known, holds := range map[int]int{issue.Number: 1, issue.Number + 1: 0} {
		alone(t, func(t *testing.T, w *world) {
			store := &knowing{issues: []int{known}}
			w.store = store
			ann := claim.Worker{Codename: "ann", FiringID: "a1"}
			if _, err := store.Acquire(t.Context(), lease.Ask{Issue: issue, Worker: ann, Nonce: "n", TTL: ttl}); err != nil {
				t.Fatal(err)
			}

			l, f := w.ledger(nil)
			r := l.Sweep(t.Context(), scan{f}, ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "s"})
			if len(r.Holds) != holds || records(w, "codename=ann") != holds {
				t.Errorf("the store knows #%d: %+v, want %d holds", known, r, holds)
			}
		})
	}
}

// TestSweepAsksTheStore: a hold that the log takes for expired stands while its store says so, also
// where nothing but the log tells of it; and a hold that never expires lasts for ever.
func TestSweepAsksTheStore(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		store := &table{}
		w.store = store
		l, f := w.ledger(nil)
		h := take(t, l, "ann")
		if h.Lease() != ttl || (ledger.Hold{}).Lease() != claim.NoExpiry {
			t.Errorf("leases %s, %s", h.Lease(), (ledger.Hold{}).Lease())
		}

		if err := f.RemoveLabel(t.Context(), issue, "agent:in-flight"); err != nil {
			t.Fatal(err)
		}

		time.Sleep(ttl - time.Minute)
		if _, err := store.Renew(t.Context(), lease.Lease{Token: h.Token}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Minute)
		l.Sweep(t.Context(), scan{f}, ledger.Sweep{Repos: []claim.Repo{{Owner: "o", Name: "r"}}, By: "s"})
		if n := records(w, "outcome="); n != 0 {
			t.Errorf("%d records of an end, want none", n)
		}
		shows(t, w, "agent:in-flight")
	})
}

// TestStrict plays workers that crash, and a sweeper, with a store that decides, under every fault
// of the log: one holder at a time, tokens that only grow, and a mirror that ends up true.
func TestStrict(t *testing.T) {
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(seed, faults{
				stale:  20 * time.Second,
				late:   10 * time.Second,
				lost:   0.1,
				denied: 0.5,
				delay:  30 * time.Second,
				crash:  0.3,
			})
			w.store = &table{}
			var crew sync.WaitGroup
			for _, name := range []string{"ann", "bob", "cyd"} {
				crew.Go(func() { w.work(t, t.Context(), name, 3) })
			}

			crew.Go(func() { w.sweeps(t.Context(), 6) })
			crew.Wait()
			w.aftermath(t, t.Context())
		})

		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestStoreDecides: the store's holder holds the issue although the log has never heard of it, and
// a live record without the store's word holds nothing.
func TestStoreDecides(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		store := &table{}
		w.store = store
		l, _ := w.ledger(nil)
		ghost := claim.Worker{Codename: "ghost", FiringID: "g1"}
		if _, err := store.Acquire(t.Context(), lease.Ask{Issue: issue, Worker: ghost, TTL: ttl}); err != nil {
			t.Fatal(err)
		}

		var held *ledger.HeldError
		if _, err := l.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "ann"}}); !errors.As(err,
			&held) {
			t.Errorf("claim of what the store has given away: %v", err)
		}

		if len(w.now(true).comments) != 0 {
			t.Error("the loser wrote a record")
		}
		time.Sleep(ttl)
		h := take(t, l, "ann")
		if h.Token != 2 {
			t.Errorf("token %d, want 2", h.Token)
		}

		shows(t, w, "agent:in-flight")
		store.now = lease.Lease{} // the store lost it
		if _, err := l.Keep(t.Context(), h); err == nil {
			t.Error("renewed what the store does not have")
		}

		if _, v, err := l.Check(t.Context(), issue, lifecycle.Seeker{}); err != nil || v.Answer != lifecycle.Free {
			t.Errorf("a record without the store's word: %v %v", v, err)
		}
	})
}

// turning is a table that gives its lease away between the first look and the second.
type turning struct {
	*table
	looks int
	to    lease.Lease
}

func (s *turning) Look(ctx context.Context, i claim.Issue) (lease.Lease, bool, error) {
	if s.looks++; s.looks == 2 {
		s.now = s.to
	}
	return s.table.Look(ctx, i)
}

// TestReleaseOfPassedLease: who releases a hold that the store has given to another worker
// meanwhile ends its own and nothing of that.
func TestReleaseOfPassedLease(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		store := &table{}
		w.store = store
		l, _ := w.ledger(nil)
		h := take(t, l, "ann")
		to := store.now
		to.Worker, to.Token = claim.Worker{Codename: "ghost", FiringID: "g1"}, h.Token+1
		own := ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeCancelled, Token: h.Token}
		if _, err := l.Strict(&turning{table: store, to: to}, "table").Release(t.Context(), issue, own); err != nil {
			t.Errorf("release: %v", err)
		}
		if got, held, _ := store.Look(t.Context(), issue); !held || got.Worker != to.Worker {
			t.Errorf("the store has %+v", got)
		}
	})
}

// recording is a server that shows the issue with the answer to a write.
type recording struct {
	*forge
	unsupported, blind bool // it does not; it shows the issue as it was before
	before             lifecycle.Facts
}

func (r *recording) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	r.before = r.look(i)
	return r.forge.Comment(ctx, i, body)
}

func (r *recording) Shown(i claim.Issue) *lifecycle.Facts {
	after := r.look(i)
	switch {
	case r.unsupported:
		return nil
	case r.blind:
		return &r.before
	}

	return &after
}

// TestRecorded: the snapshot that comes with a record saves the read after it, if it shows the
// record.
func TestRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		r     recording
		reads int
	}{
		"shown":       {recording{}, 1},
		"not shown":   {recording{blind: true}, 3},
		"unsupported": {recording{unsupported: true}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				_, f := w.ledger(nil)
				c.r.forge = f
				l := ledger.New(over(&c.r), virtual{}, w.words(), ledger.DefaultSettings())
				h := take(t, l, "ann")
				clear(f.calls)
				if _, err := l.Release(t.Context(), issue, ledger.Ending{Worker: h.Record.Worker}); err != nil {
					t.Fatal(err)
				}

				shows(t, w, "agent:implement")
				if f.calls["read"] != c.reads || f.calls["comment"] != 1 {
					t.Errorf("%v, want %d reads", f.calls, c.reads)
				}
			})
		})
	}
}

// unclocked is a store that does not tell when a lease ends.
type unclocked struct{ *table }

func (s unclocked) Acquire(ctx context.Context, a lease.Ask) (lease.Lease, error) {
	l, err := s.table.Acquire(ctx, a)
	l.Expires = time.Time{}
	return l, err
}

func (s unclocked) Renew(ctx context.Context, l lease.Lease) (lease.Lease, error) {
	l, err := s.table.Renew(ctx, l)
	l.Expires = time.Time{}
	return l, err
}

// TestUnclocked: a hold whose store does not tell when it ends lasts for its lease.
func TestUnclocked(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(nil)
		l = l.Strict(unclocked{&table{}}, "table")
		h := take(t, l, "ann")
		for range 2 {
			if left := time.Until(h.Until); left > ttl || left < ttl-10*time.Second {
				t.Errorf("%s left of %s", left, ttl)
			}

			time.Sleep(ttl / 2)
			var err error
			if h, err = l.Keep(t.Context(), h); err != nil {
				t.Error(err)
			}
		}
	})
}
