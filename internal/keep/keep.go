// Package keep keeps a hold alive while somebody works under it, and says at once when it is over.
package keep

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Ledger is what keeping needs of one.
type Ledger interface {
	Keep(context.Context, ledger.Hold) (ledger.Hold, error)
	Owns(ledger.Hold) bool
	Look(context.Context, claim.Issue) (lifecycle.Facts, error)
	Rules() lifecycle.Rules
}

// Options are the keeper's surroundings. Clock is required.
type Options struct {
	Clock   ledger.Clock
	Renewed func(ledger.Hold) // after every renewal; may be nil
	Trouble func(error)       // a renewal that nobody knows of; it is tried again; may be nil
}

// ErrDelivered says that the hold ended because its work is there, as a pull request or by the
// worker's own word: the work may go on, and nobody else will be given the issue meanwhile.
var ErrDelivered = errors.New("handed over")

const (
	look    = time.Second      // how often the lease's end is looked for
	retry   = 30 * time.Second // longest wait after a renewal that nobody knows of
	forever = time.Hour        // between two heartbeats of a hold that never expires
)

// Alive renews the hold whenever a heartbeat is due, until ctx is done: then it returns nil. It
// returns ErrDelivered, or a *ledger.LostError as soon as the worker must stop: somebody ended the
// hold, or it could not be renewed before the local end of the lease. An outage shorter than that,
// also one of this machine's, does no harm; time that passed in suspension counts.
func Alive(ctx context.Context, l Ledger, h ledger.Hold, o Options) error {
	if o.Trouble == nil {
		o.Trouble = func(error) {}
	}
	k := &keeper{ledger: l, o: o, hold: h}
	inner, stop := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		stop(k.watch(inner))
	}()

	stop(k.renew(inner))
	<-done
	cause := context.Cause(inner)
	if errors.Is(cause, context.Cause(ctx)) {
		return nil
	}

	return cause
}

type keeper struct {
	ledger Ledger
	o      Options
	mu     sync.Mutex
	hold   ledger.Hold
}

// current is the hold as last renewed.
func (k *keeper) current() ledger.Hold {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.hold
}

// watch returns when the lease is over by the local clock, whatever the renewals are waiting for.
func (k *keeper) watch(ctx context.Context) error {
	for {
		if h := k.current(); !k.ledger.Owns(h) {
			return &ledger.LostError{Issue: h.Issue, Worker: h.Record.Worker, Err: claim.ErrOverdue}
		}
		if err := k.o.Clock.Sleep(ctx, look); err != nil {
			return err
		}
	}
}

// renew renews until the hold is over.
func (k *keeper) renew(ctx context.Context) error {
	wait := interval(k.current())
	for {
		if err := k.pass(ctx, wait); err != nil {
			return err
		}
		h, err := k.ledger.Keep(ctx, k.current())
		var lost *ledger.LostError
		switch {
		case err == nil:
			k.mu.Lock()
			k.hold = h
			k.mu.Unlock()
			if k.o.Renewed != nil {
				k.o.Renewed(h)
			}

			wait = interval(h)
		case errors.As(err, &lost):
			return k.over(ctx, lost)
		default:
			k.o.Trouble(err)
			wait = min(retry, max(look, interval(k.current())/4))
		}
	}
}

// interval is the time between two renewals.
func interval(h ledger.Hold) time.Duration {
	if h.Record.TTL <= 0 {
		return forever
	}
	return claim.HeartbeatDue(h.Record.TTL)
}

// pass waits until d has passed.
func (k *keeper) pass(ctx context.Context, d time.Duration) error {
	start := k.o.Clock.Now()
	for {
		left := d - clock.Passed(start, k.o.Clock.Now())
		if left <= 0 {
			return ctx.Err()
		}
		if err := k.o.Clock.Sleep(ctx, min(left, look)); err != nil {
			return err
		}
	}
}

// over tells a hold that was handed over from one that was lost. It asks until it knows, or until
// the watch ends it.
func (k *keeper) over(ctx context.Context, lost *ledger.LostError) error {
	for !errors.Is(lost, claim.ErrOverdue) {
		f, err := k.ledger.Look(ctx, lost.Issue)
		switch {
		case err == nil && k.ledger.Rules().EndOf(f, lost.Worker) == lifecycle.HoldDelivered:
			return ErrDelivered
		case err == nil:
			return lost
		}

		k.o.Trouble(err)
		if err := k.o.Clock.Sleep(ctx, look); err != nil {
			return err
		}
	}

	return lost
}
