package lease_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// A counter is a store that counts what it is asked.
type counter struct{ asked, closed int }

func (c *counter) Acquire(context.Context, lease.Ask) (lease.Lease, error) {
	c.asked++
	return lease.Lease{Token: 7}, nil
}

func (c *counter) Renew(_ context.Context, l lease.Lease) (lease.Lease, error) {
	c.asked++
	return l, nil
}

func (c *counter) Release(context.Context, lease.Lease) error {
	c.asked++
	return nil
}

func (c *counter) Look(context.Context, claim.Issue) (lease.Lease, bool, error) {
	c.asked++
	return lease.Lease{Token: 7}, true, nil
}

func (c *counter) Close() error {
	c.closed++
	return nil
}

// every asks everything once and joins the errors.
func every(ctx context.Context, s lease.Store) error {
	_, acquire := s.Acquire(ctx, lease.Ask{})
	_, renew := s.Renew(ctx, lease.Lease{})
	_, _, look := s.Look(ctx, claim.Issue{})
	return errors.Join(acquire, renew, s.Release(ctx, lease.Lease{}), look)
}

// TestAsk: a lease is of the process that asks by worker and nonce, and what it may have got bears
// both.
func TestAsk(t *testing.T) {
	a := lease.Ask{
		Issue:  claim.Issue{Owner: "o", Repo: "r", Number: 7},
		Worker: claim.Worker{Codename: "a", FiringID: "1"},
		Nonce:  "n",
		TTL:    time.Hour,
		Takes:  3,
	}
	bare := a.Bare()
	if want := (lease.Lease{Issue: a.Issue, Worker: a.Worker, Nonce: "n", TTL: time.Hour}); bare != want {
		t.Errorf("%+v, want %+v", bare, want)
	}

	sibling, stranger := bare, bare
	sibling.Nonce, stranger.Worker.FiringID = "m", "2"
	if !a.Of(bare) || a.Of(sibling) || a.Of(stranger) {
		t.Errorf("its own: %t, of another process: %t, of another worker: %t", a.Of(bare), a.Of(sibling), a.Of(stranger))
	}
}

// TestRejected: an error says itself whether anything may have been done.
func TestRejected(t *testing.T) {
	denied := &lease.DeniedError{Err: errors.New("no")}
	if !lease.Rejected(fmt.Errorf("renew: %w", denied)) || lease.Rejected(unsure{}) || lease.Rejected(errors.New("x")) {
		t.Error("only a denied request was certainly not done")
	}
}

// unsure says that what was asked for may have been done.
type unsure struct{ error }

func (unsure) Rejected() bool { return false }

// TestLate: nothing is opened before it is needed, once is enough, and what failed is tried again.
func TestLate(t *testing.T) {
	down, opened, c := errors.New("down"), 0, &counter{}
	s := lease.NewLate(func() (lease.Remote, error) {
		if opened++; opened <= 4 {
			return nil, down
		}
		return c, nil
	}, nil)

	if err := s.Close(); err != nil || opened != 0 {
		t.Fatalf("close before use: %v after opening %d times", err, opened)
	}

	if err := every(t.Context(), s); !errors.Is(err, down) || opened != 4 {
		t.Errorf("asked while it is down: %v after opening %d times", err, opened)
	}

	if err := errors.Join(every(t.Context(), s), s.Probe(t.Context(), claim.Issue{})); err != nil || opened != 5 ||
		c.asked != 5 {
		t.Errorf("asked: %v, opened %d times, asked %d times", err, opened, c.asked)
	}

	if err := errors.Join(s.Close(), s.Close()); err != nil || c.closed != 1 {
		t.Errorf("close: %v, closed %d times", err, c.closed)
	}
}

// A broken is a store whose every answer is one error.
type broken struct{ err error }

func (b broken) Acquire(context.Context, lease.Ask) (lease.Lease, error) { return lease.Lease{}, b.err }

func (b broken) Renew(context.Context, lease.Lease) (lease.Lease, error) { return lease.Lease{}, b.err }
func (b broken) Release(context.Context, lease.Lease) error              { return b.err }
func (b broken) Look(context.Context, claim.Issue) (lease.Lease, bool, error) {
	return lease.Lease{}, false, b.err
}
func (b broken) Probe(context.Context, claim.Issue) error          { return b.err }
func (b broken) Known(context.Context, claim.Issue) ([]int, error) { return []int{7}, b.err }
func (b broken) Close() error                                      { return b.err }

// TestLatePassesOn: each answer of the store, and each failure to open it, is the caller's; one that is a refusal stays
// one.
func TestLatePassesOn(t *testing.T) {
	denied := &lease.DeniedError{Remedy: "log in", Err: errors.New("wrong password")}
	for name, open := range map[string]func() (lease.Remote, error){
		"not opened": func() (lease.Remote, error) { return nil, denied },
		"broken":     func() (lease.Remote, error) { return broken{denied}, nil },
	} {
		s := lease.NewLate(open, nil)
		_, acquire := s.Acquire(t.Context(), lease.Ask{})
		_, renew := s.Renew(t.Context(), lease.Lease{})
		_, _, look := s.Look(t.Context(), claim.Issue{})
		numbers, known := s.Known(t.Context(), claim.Issue{})
		all := []error{acquire, renew, s.Release(t.Context(), lease.Lease{}), look, known, s.Probe(t.Context(), claim.Issue{})}
		if name == "broken" {
			all = append(all, s.Close())
		}

		for n, err := range all {
			if !errors.Is(err, denied) || !lease.Rejected(err) || err.Error() != "wrong password" {
				t.Errorf("%s: question %d: %v", name, n, err)
			}
		}
		if (len(numbers) == 1) != (name == "broken") {
			t.Errorf("%s: known are %v", name, numbers)
		}
	}

	unprobed := lease.NewLate(func() (lease.Remote, error) { return struct{ lease.Remote }{broken{denied}}, nil }, nil)
	if err := unprobed.Probe(t.Context(), claim.Issue{}); !errors.Is(err, denied) {
		t.Errorf("a store that cannot be probed is looked at: %v", err)
	}
	if got := (lease.Service{Name: lease.Redis}).Kind(); got != "redis" {
		t.Errorf("a service is of the kind %q", got)
	}
	if numbers, err := (lease.ReadOnly{Store: broken{}}).Known(t.Context(), claim.Issue{}); err != nil || len(numbers) != 1 {
		t.Errorf("what a dry run knows: %v, %v", numbers, err)
	}
	for _, s := range []lease.Lister{lease.ReadOnly{Store: &counter{}}, lease.NewLate(func() (lease.Remote, error) {
		return &counter{}, nil
	}, nil)} {
		if numbers, err := s.Known(t.Context(), claim.Issue{}); err != nil || numbers != nil {
			t.Errorf("of a store that lists nothing: %v, %v", numbers, err)
		}
	}

	if lease.Rejected(errors.New("lost")) {
		t.Error("an error that says nothing is a refusal")
	}
	if err := (&lease.HeldError{Lease: lease.Lease{Worker: claim.Worker{Codename: "a"}}}); err.Error() != "held by a:" {
		t.Errorf("the store's no: %v", err)
	}
	if !lease.Rejected(lease.Distrust(tls.RecordHeaderError{})) {
		t.Error("a store without TLS is no refusal")
	}
	if err := (&lease.Error{Kind: "redis", Err: denied}); err.Error() != "lease store redis: wrong password" || !errors.Is(err, denied) {
		t.Errorf("an error of a store: %v", err)
	}
}

// TestReadOnly: a dry run reaches the store with nothing but looks (cli.md).
func TestReadOnly(t *testing.T) {
	c := &counter{}
	s := lease.ReadOnly{Store: c}
	if _, held, err := s.Look(t.Context(), claim.Issue{}); err != nil || !held {
		t.Errorf("look: %t, %v", held, err)
	}

	_, acquire := s.Acquire(t.Context(), lease.Ask{})
	_, renew := s.Renew(t.Context(), lease.Lease{})
	for name, err := range map[string]error{
		"acquire": acquire, "renew": renew,
		"release": s.Release(t.Context(), lease.Lease{}),
	} {
		if err == nil {
			t.Errorf("%s in a dry run", name)
		}
	}

	if c.asked != 1 {
		t.Errorf("asked %d times, want the look alone", c.asked)
	}
}

// TestLateTells: whatever a slow store is asked, it is told of after three seconds, with the end of the
// wait, which may be the caller's.
func TestLateTells(t *testing.T) {
	for after, want := range map[time.Duration]int{
		2 * time.Second: 0,
		5 * time.Second: 6,
		6 * time.Second: 6,
		7 * time.Second: 6,
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, limit := t.Context(), time.Minute
			if after == 6*time.Second {
				limit = 7 * time.Second
			}
			if after != 5*time.Second { // that one has no deadline
				limited, cancel := context.WithTimeout(ctx, limit)
				defer cancel()
				ctx = limited
			}

			var until []time.Duration
			start := time.Now()
			s := lease.NewLate(func() (lease.Remote, error) {
				time.Sleep(after)
				return nil, errors.New("down")
			}, func(_ string, end time.Time) { until = append(until, end.Sub(start)) })

			_ = every(ctx, s)
			_ = s.Probe(ctx, claim.Issue{})
			_, _ = s.Known(ctx, claim.Issue{})
			time.Sleep(lease.AnswerTime)

			if len(until) != want || want > 0 && until[0] != min(limit, lease.AnswerTime) {
				t.Errorf("after %s: told of %v, want %d times", after, until, want)
			}
		})
	}
}
