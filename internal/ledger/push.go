package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// Fence renews the hold of w for a push and says how long the push may take, so that it is answered
// while the hold is w's (spec-writing.md#acting-under-a-hold). Errors are those of Renew,
// answer.Usage for a lease that is too short for any push, and *UnknownError when too little of it
// was left once the answer was here.
func (l *Ledger) Fence(ctx context.Context, i claim.Issue, w claim.Worker, token int64) (Hold, time.Duration, error) {
	h, err := l.Renew(ctx, i, w, token)
	if err != nil {
		return Hold{}, 0, err
	}

	usable, may := h.lease-l.config().MarginOf(h.lease), l.set.PushTimeout
	left := usable - l.elapsed(h.start)
	switch {
	case usable < may:
		return Hold{}, 0, answer.Wrongf("a push may take %s, and a lease of %s is good for %s", may, h.lease, usable)
	case left < may:
		return Hold{}, 0, &UnknownError{
			Issue: i,
			Err: fmt.Errorf("a push may take %s, and after a slow answer %s is left of the lease", may,
				left.Truncate(time.Second)),
		}
	}

	return h, may, nil
}

// Within has push act under h for the time that Fence gave; then its context ends. A push that was
// answered after the lease had ended, as on a machine that slept, is a *LostError.
func (l *Ledger) Within(ctx context.Context, h Hold, may time.Duration, push func(context.Context) error) error {
	timed, cancel := context.WithTimeoutCause(ctx, may,
		fmt.Errorf("no answer within %s; the push was abandoned before the lease could end", may))
	defer cancel()
	err := push(timed)
	if err == nil && !l.Owns(h) {
		return &LostError{
			Issue: h.Issue, Worker: h.Record.Worker,
			Err: fmt.Errorf("pushed, but the answer came after the lease ended: %w", claim.ErrOverdue),
		}
	}

	return err
}

// Step is what a push under h, which Fence has renewed, takes along so that it lands while h stands
// or not at all (stores.md#references). It reports false where nothing can be taken along: the log
// or another service decided the hold. Errors are *LostError and *UnknownError.
func (l *Ledger) Step(ctx context.Context, h Hold) (lease.Step, bool, error) {
	s := l.leases
	p, able := s.store.(lease.Pusher)
	if !able || !h.stored {
		return lease.Step{}, false, nil
	}

	step, err := p.Push(ctx, lease.Lease{Issue: h.Issue, Worker: h.Record.Worker, Token: h.Token})
	switch {
	case errors.Is(err, lease.ErrLost):
		return lease.Step{}, false, &LostError{Issue: h.Issue, Worker: h.Record.Worker, Err: lease.ErrLost}
	case err != nil:
		return lease.Step{}, false, &UnknownError{Issue: h.Issue, Err: s.named(err)}
	}

	return step, true, nil
}
