package keep_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/keep"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

const lease = 30 * time.Minute

// A book is a ledger with one hold. wall is how far the wall clock is ahead after a suspension.
type book struct {
	mu       sync.Mutex
	renewed  time.Time
	renewals []time.Duration // since the start
	start    time.Time
	wall     time.Duration
	keep     func(ctx context.Context, since time.Duration) error
	facts    lifecycle.Facts
	checkErr error
	endless  bool
}

func (b *book) age() time.Duration { return time.Since(b.renewed) + b.wall }

func (b *book) Owns(ledger.Hold) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.endless || b.age() < lease-time.Minute
}

// Keep refuses what ran out locally, as the ledger does.
func (b *book) Keep(ctx context.Context, h ledger.Hold) (ledger.Hold, error) {
	if !b.Owns(h) {
		return h, &ledger.LostError{Issue: issue, Worker: ann, Err: claim.ErrOverdue}
	}
	err := b.keep(ctx, time.Since(b.start))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.renewals = append(b.renewals, time.Since(b.start))
	if err == nil {
		b.renewed = time.Now()
	}

	return h, err
}

func (b *book) Look(context.Context, claim.Issue) (lifecycle.Facts, error) {
	err := b.checkErr
	b.checkErr = nil
	return b.facts, err
}

func (b *book) Rules() lifecycle.Rules { return lifecycle.DefaultRules() }

// A clock is virtual; its wall jumps.
type clock struct{ *book }

// Now is behind the wall clock's jump; what it returns then has no monotonic part that would hide
// it.
func (c clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wall > 0 {
		return time.Now().Round(0).Add(c.wall)
	}
	return time.Now()
}

func (clock) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

var (
	ann   = claim.Worker{Codename: "ann", FiringID: "r1"}
	issue = claim.Issue{Owner: "o", Repo: "r", Number: 7}
	hold  = ledger.Hold{Issue: issue, Record: claim.Record{Worker: ann, TTL: lease}}
	lost  = &ledger.LostError{Issue: issue, Worker: ann, Err: claim.ErrEnded}
	late  = &ledger.LostError{Issue: issue, Worker: ann, Err: claim.ErrOverdue}
)

func newBook(answer func(ctx context.Context, since time.Duration) error) *book {
	return &book{renewed: time.Now(), start: time.Now(), keep: answer}
}

func ended(outcome, pr string) lifecycle.Facts {
	c := claim.Claim{Record: claim.Record{Worker: ann, Held: true}, End: &claim.Release{Outcome: outcome, PR: pr}}
	return lifecycle.Facts{Issue: issue, Open: true, Log: claim.State{Claims: []claim.Claim{c}}}
}

func by(login string, f lifecycle.Facts) lifecycle.Facts {
	f.Log.Claims[0].End.By = login
	return f
}

func fine(context.Context, time.Duration) error { return nil }

func TestAlive(t *testing.T) {
	outage := errors.New("outage")
	cases := map[string]struct {
		answer func(context.Context, time.Duration) error
		facts  lifecycle.Facts
		check  error // what the first look at the facts answers
		worker time.Duration
		want   error
		after  time.Duration // about when it returned
		counts [3]int        // how often it was to be renewed, was renewed, and told of trouble
	}{
		"the work ends": {fine, lifecycle.Facts{}, nil, 121 * time.Minute, nil, 121 * time.Minute, [3]int{12, 12, 0}},
		"somebody forces it": {
			func(context.Context, time.Duration) error { return lost },
			ended("forced", ""), nil, 2 * time.Hour, claim.ErrEnded, 10 * time.Minute,
			[3]int{1, 0, 0},
		},
		"handed over": {
			func(context.Context, time.Duration) error { return lost },
			ended("success", "https://x/pull/1"), nil, 2 * time.Hour, keep.ErrDelivered, 10 * time.Minute,
			[3]int{1, 0, 0},
		},
		"asked twice": {
			func(context.Context, time.Duration) error { return lost },
			ended("success", "https://x/pull/1"), outage, 2 * time.Hour, keep.ErrDelivered, 10 * time.Minute,
			[3]int{1, 0, 1},
		},
		"advanced itself": {
			func(context.Context, time.Duration) error { return lost },
			ended("advanced", ""), nil, 2 * time.Hour, keep.ErrDelivered, 10 * time.Minute,
			[3]int{1, 0, 0},
		},
		"said so itself": {
			func(context.Context, time.Duration) error { return lost },
			ended("success", ""), nil, 2 * time.Hour, keep.ErrDelivered, 10 * time.Minute,
			[3]int{1, 0, 0},
		},
		"gave it up itself": {
			func(context.Context, time.Duration) error { return lost },
			ended("failure", ""), nil, 2 * time.Hour, claim.ErrEnded, 10 * time.Minute,
			[3]int{1, 0, 0},
		},
		"handed over after the end of the lease": {
			func(context.Context, time.Duration) error { return late },
			ended("success", "https://x/pull/1"), nil, 2 * time.Hour, claim.ErrOverdue, 10 * time.Minute,
			[3]int{1, 0, 0},
		},

		"somebody said so": {
			func(context.Context, time.Duration) error { return lost },
			by("olga", ended("success", "")), nil, 2 * time.Hour, claim.ErrEnded, 10 * time.Minute,
			[3]int{1, 0, 0},
		},
		"GitHub is away for less than the lease": {func(_ context.Context, since time.Duration) error {
			if since > 9*time.Minute && since < 27*time.Minute {
				return outage
			}
			return nil
		}, lifecycle.Facts{}, nil, 121 * time.Minute, nil, 121 * time.Minute, [3]int{44, 10, 34}},
		"GitHub stays away": {
			func(context.Context, time.Duration) error { return outage },
			lifecycle.Facts{},
			nil,
			2 * time.Hour, claim.ErrOverdue, 29 * time.Minute,
			[3]int{38, 0, 38},
		},
		"a renewal hangs": {
			func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() },
			lifecycle.Facts{},
			nil, 2 * time.Hour, claim.ErrOverdue, 29 * time.Minute,
			[3]int{1, 0, 1},
		},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBook(c.answer)
				b.facts, b.checkErr = c.facts, c.check
				ctx, cancel := context.WithTimeout(t.Context(), c.worker)
				defer cancel()
				var got [3]int
				err := keep.Alive(ctx, b, hold, keep.Options{
					Clock:   clock{b},
					Renewed: func(ledger.Hold) { got[1]++ },
					Trouble: func(error) { got[2]++ },
				})
				got[0] = len(b.renewals)
				if took := time.Since(b.start); !errors.Is(err, c.want) || took < c.after ||
					took > c.after+5*time.Second || got != c.counts {
					t.Errorf("%v after %s with %d, want %v after %s with %d", err, took, got, c.want, c.after, c.counts)
				}

				var over *ledger.LostError
				if errors.As(err, &over) && (over.Issue != issue || over.Worker != ann) {
					t.Errorf("%s lost %s", over.Worker, over.Issue)
				}
			})
		})
	}
}

// TestWithoutEnd: a hold that never expires has a heartbeat every hour.
func TestWithoutEnd(t *testing.T) {
	for _, ttl := range []time.Duration{0, claim.NoExpiry} {
		synctest.Test(t, func(t *testing.T) {
			b, h := newBook(fine), hold
			b.endless, h.Record.TTL = true, ttl
			ctx, stop := context.WithTimeout(t.Context(), 150*time.Minute)
			defer stop()
			if err := keep.Alive(ctx, b, h, keep.Options{Clock: clock{b}}); err != nil || len(b.renewals) != 2 {
				t.Errorf("ttl %s: %v, renewed after %s", ttl, err, b.renewals)
			}
		})
	}
}

// TestSlept: after a shorter sleep than the lease the renewal that is due is made at once.
func TestSlept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook(fine)
		go func() {
			time.Sleep(3 * time.Minute)
			b.mu.Lock()
			b.wall = 15 * time.Minute
			b.mu.Unlock()
		}()

		ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
		defer stop()
		if err := keep.Alive(ctx, b, hold, keep.Options{Clock: clock{b}}); err != nil || len(b.renewals) != 1 ||
			b.renewals[0] > 3*time.Minute+2*time.Second {
			t.Errorf("%v, renewed after %s", err, b.renewals)
		}
	})
}

// TestSuspended: a lease that ran out while the machine slept is over at the first look.
func TestSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook(fine)
		go func() {
			time.Sleep(3 * time.Minute)
			b.mu.Lock()
			b.wall = time.Hour
			b.mu.Unlock()
		}()

		err := keep.Alive(t.Context(), b, hold, keep.Options{Clock: clock{b}})
		if took := time.Since(b.start); !errors.Is(err, claim.ErrOverdue) || took > 3*time.Minute+2*time.Second ||
			len(b.renewals) > 0 {
			t.Errorf("%v after %s", err, took)
		}
	})
}
