package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// ClaimPerson takes the issue for the person with that login, without an end; the token must be the
// person's. Idempotent: who holds the issue as a person already, be it since a moment ago by
// another program, gets that hold. force and reason are those of the Request. Errors are those of
// Claim; an app is not a person, and an answer.Usage.
func (l *Ledger) ClaimPerson(ctx context.Context, i claim.Issue, login string, force bool, reason string,
) (Hold, error) {
	if login == "" || claim.IsApp(login) {
		return Hold{}, answer.Wrongf("the token belongs to %q, which is not a person", login)
	}

	for n := 0; ; n++ {
		h, err := l.Claim(ctx, i, Request{
			Worker: claim.Worker{Codename: login},
			TTL:    claim.NoExpiry,
			Person: login,
			Force:  force,
			Reason: reason,
		})
		var held *HeldError // because of a claim of the same person?
		own := errors.As(err, &held) && (held.Yielded != nil && held.Yielded.IsOf(login) ||
			slices.ContainsFunc(held.Verdict.Reasons,
				func(r lifecycle.Reason) bool { return r.Claim != nil && r.Claim.IsOf(login) }))

		if n == l.set.MaxReads || !own {
			return h, err
		}
		start := l.clock.Now()
		f, err := l.Look(ctx, i)
		if err != nil {
			return Hold{}, err
		}
		if mine, _ := f.Log.Holder(); mine.Held() && mine.IsOf(login) {
			h := l.holdAfterRenewal(f, mine, lease.Lease{}, start)
			h.Unassigned = l.Assign(ctx, f, mine)
			return h, nil
		}

		if err := l.clock.Sleep(ctx, protocol.Backoff(n)); err != nil { // the other program has not confirmed yet
			return Hold{}, &UnknownError{Issue: i, Err: err}
		}
	}
}
