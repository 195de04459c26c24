package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// rank is R1: the first snapshot that shows the own claim decides whether a rival was earlier. Where an earlier one is of another process
// of the run nothing is written: that one does not wait for this, which ends with it.
func (a *attempt) rank(ctx context.Context) error {
	if err := a.readUntil(ctx, a.visible); err != nil {
		return err
	}
	c := a.contest()
	if c.Place == claim.PlaceShared && c.Last.Compare(a.bound) < 0 {
		return a.beaten(c)
	}
	if a.limited && a.bound.Created.After(a.limit) { // the hold that is taken over may have been ended meanwhile, because its lease was over
		return a.giveUp(ctx, a.lost(a.facts, a.record.Worker, claim.ErrOverdue))
	}
	if err := a.guards(ctx); err != nil {
		return err
	}

	if c.Place != claim.PlaceFirst {
		return a.yield(ctx, c)
	}
	return nil
}

// contest places the own claim by the latest snapshot.
func (a *attempt) contest() claim.Contest {
	return a.facts.Log.Contest(a.record.Worker, a.record.Nonce, a.bound)
}

// visible reports whether the snapshot shows the own claim, and binds its comment.
func (a *attempt) visible(own claim.Bid) bool {
	if a.bound.ID == 0 {
		a.bound = own.Rank
		return true
	}

	i := slices.IndexFunc(own.Ranks, func(r claim.Rank) bool { return r.ID == a.bound.ID })
	if i < 0 {
		return false
	}
	a.bound = own.Ranks[i]
	return true
}

// readUntil reads the issue until the own claim shows what ok asks for. A failed or short
// snapshot never decides (spec.md#claim).
func (a *attempt) readUntil(ctx context.Context, ok func(claim.Bid) bool) error {
	last := ErrInvisible
	for n := range a.set.Patience {
		if err := a.pause(ctx, n, backoff(n-1)); err != nil {
			return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: errors.Join(last, err)})
		}
		if a.expired() {
			break
		}

		f, err := a.snapshots.logged(ctx, a.issue)
		if err == nil {
			f, err = a.by.between(ctx, a, f)
		}
		if err != nil {
			last = err
			continue
		}
		if a.record.By != "" {
			f.Viewer = a.record.Person
		}

		if f.Log.Over(a.record.Worker, a.record.Nonce) { // somebody ended it while it was being made
			lost := a.lost(f, a.record.Worker, claim.ErrEnded)
			if a.record.Resumes != "" { // it may land all the same, and the end of the hold would not end it
				return a.giveUp(ctx, lost)
			}
			return lost
		}
		if own, seen := f.Log.Bid(a.record.Worker, a.record.Nonce); seen && ok(own) {
			a.facts = f
			return nil
		}
		last = ErrInvisible
	}
	return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: last})
}

// guards repeats step 0's questions, other than who holds it: the issue may have been closed,
// paused or taken by a person since. A revoked contender stops as well.
func (a *attempt) guards(ctx context.Context) error {
	own, _ := a.facts.Log.Find(a.record.Worker)
	v, _ := a.stopping(a.facts, a.set.Rules.Admits(a.facts, lifecycle.Seeker{Worker: a.record.Worker}))
	v.Reasons = slices.DeleteFunc(v.Reasons, func(r lifecycle.Reason) bool {
		return r.Code == lifecycle.CodeOwn || r.Code == lifecycle.CodeInFlight
	})
	if len(v.Reasons) > 0 {
		return a.giveUp(ctx, &HeldError{Issue: a.issue, Verdict: v})
	}
	if a.facts.Unshown > 0 {
		return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: &UnshownError{Facts: a.facts}})
	}
	if stages := a.set.Rules.Scheme.Stages; len(stages) > 0 && !a.facts.PullRequest && stages[a.set.Rules.Stage(a.facts)].Name != a.record.Stage {
		return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: errors.New("it moved to another stage meanwhile")})
	}
	if taken, _ := a.facts.Log.Bid(a.record.Worker, a.record.Resumes); a.record.Resumes != "" && taken.Ended {
		return a.giveUp(ctx, a.lost(a.facts, a.record.Worker, claim.ErrEnded))
	}
	if own.Revoked != nil {
		return a.giveUp(ctx, &LostError{Issue: a.issue, Worker: a.record.Worker, Err: claim.ErrRevoked})
	}
	return nil
}

// confirm is step 3's write: state=held on the one bound comment. A lost answer is asked again;
// the lease counts from before the first try.
func (a *attempt) confirm(ctx context.Context) error {
	if a.expired() {
		return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: claim.ErrOverdue})
	}
	a.record.Held, a.record.Assignee, a.record.Token = true, a.toAssign(), a.facts.Log.NextToken(a.record.Worker, a.record.Nonce)
	start := a.clock.Now()
	if _, err := a.records.edit(ctx, a.facts, a.bound.ID, a.record); err != nil {
		return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: err})
	}
	if a.expired() {
		return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: claim.ErrOverdue})
	}
	a.start, a.lease = start, claim.Claim{Record: a.record}.Lease(a.set.Rules.Terms)
	return nil
}

// contenders is how many snapshots a confirmed claim waits for an earlier, unconfirmed one (spec.md#claim).
const contenders = 8

// own is R2: the first snapshot that shows the own confirmation decides. An earlier confirmed
// rival wins; an earlier unconfirmed one is waited for, because it will see us and yield.
func (a *attempt) own(ctx context.Context) error {
	for n := 1; ; n++ {
		if err := a.readUntil(ctx, func(b claim.Bid) bool { return a.visible(b) && b.Record.Held }); err != nil {
			return err
		}
		if err := a.guards(ctx); err != nil {
			return err
		}

		c := a.contest()
		if c.Place == claim.PlaceFirst {
			return a.number(ctx)
		}
		if c.Place != claim.PlaceWaiting || n == contenders {
			return a.yield(ctx, c)
		}
		if err := a.clock.Sleep(ctx, backoff(2)); err != nil {
			return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: err})
		}
	}
}

// number records a larger fencing token where R2 shows a token of somebody else that is not below the one that was
// recorded with the confirmation: R1 was read before that hold ended. The snapshot shows the end of every hold before
// this one, and with it the token of each, so one more edit is enough (spec.md#the-fencing-token).
func (a *attempt) number(ctx context.Context) error {
	token := a.facts.Log.NextToken(a.record.Worker, a.record.Nonce)
	if token == a.record.Token {
		return nil
	}
	a.record.Token = token
	if _, err := a.records.edit(ctx, a.facts, a.bound.ID, a.record); err != nil {
		return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: err})
	}
	if a.expired() {
		return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: claim.ErrOverdue})
	}
	return nil
}
