package protocol

import (
	"errors"
	"slices"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// contenders is how many snapshots a confirmed claim waits for an earlier, unconfirmed one
// (spec-writing.md#claim).
const contenders = 8

// await reads the issue until the own claim shows, as confirmed once it was: then R1 or R2 goes on.
// A failed or short snapshot never decides (spec-writing.md#claim). s is what was seen last.
func (a *Claim) await(s Seen) Conclusion {
	rounds, last := 0, ErrInvisible
	for {
		switch {
		case s.Ending != nil:
			return a.giveUp(a.unknown(errors.Join(last, s.Ending)))
		case s.waited() && a.lapsed():
			return a.giveUp(a.unknown(last))
		case s.waited():
			s = a.do(Effects{Read: true})
			continue
		}

		if last = s.Err; last == nil {
			f, w, nonce := a.between(s.Facts), a.record.Worker, a.record.Nonce
			if f.Log.Over(w, nonce) { // somebody ended it while it was being made
				lost := a.cfg.Lost(f, w, claim.ErrEnded)
				if a.record.Resumes != "" { // it may land all the same, and the end of the hold would not end it
					return a.giveUp(lost)
				}
				return a.leave(lost)
			}

			own, seen := f.Log.Bid(w, nonce)
			if seen {
				a.bound, seen = a.visible(own)
			}

			if seen && (!a.record.Held || own.Record.Held) {
				a.facts = f
				if a.record.Held {
					return a.decide()
				}
				return a.rank()
			}

			last = ErrInvisible
		}

		if rounds++; rounds >= a.cfg.MaxReads {
			return a.giveUp(a.unknown(last))
		}
		s = a.do(Effects{Wait: Backoff(rounds - 1)})
	}
}

// between is a snapshot of the log as this claim goes by it. Who has reserved the issue at the
// store for a person is not kept from it by anything that the store decided before.
func (a Claim) between(f lifecycle.Facts) lifecycle.Facts {
	if a.cfg.Store != "" {
		f.Log = f.Log.Ruled(claim.Ruling{})
	}
	if a.record.By != "" {
		f.Viewer = a.record.Person
	}

	return f
}

// visible binds the one own comment that counts for us, and reports whether the snapshot shows it.
func (a Claim) visible(own claim.Bid) (claim.Rank, bool) {
	if a.bound.ID == 0 {
		return own.Rank, true
	}

	i := slices.IndexFunc(own.Ranks, func(r claim.Rank) bool { return r.ID == a.bound.ID })
	if i < 0 {
		return a.bound, false
	}

	return own.Ranks[i], true
}

// contest places the own claim by the latest snapshot.
func (a Claim) contest() claim.Contest {
	return a.facts.Log.Contest(a.record.Worker, a.record.Nonce, a.bound)
}

// rank is R1: the first snapshot that shows the own claim decides whether a rival was earlier.
// Where an earlier one is of another process of the run nothing is written: that one does not wait
// for this, which ends with it.
func (a *Claim) rank() Conclusion {
	c := a.contest()
	if c.Place == claim.PlaceShared && c.Last.Compare(a.bound) < 0 {
		return a.leave(a.beaten(c))
	}

	// the hold that is taken over may have been ended meanwhile, because its lease was over
	if a.limited && a.bound.Created.After(a.limit) {
		return a.giveUp(a.cfg.Lost(a.facts, a.record.Worker, claim.ErrOverdue))
	}
	if err := a.guards(); err != nil {
		return a.giveUp(err)
	}
	if c.Place != claim.PlaceFirst {
		return a.yield(c)
	}

	return a.confirm()
}

// guards repeats step 0's questions, other than who holds it: the issue may have been closed,
// paused or taken by a person since. A revoked contender stops as well.
func (a Claim) guards() error {
	f, w := a.facts, a.record.Worker
	own, _ := f.Log.Find(w)
	v, err := a.verdict(f)
	if err != nil {
		return err
	}

	v, _ = a.stopping(f, v)
	v.Reasons = slices.DeleteFunc(v.Reasons, func(r lifecycle.Reason) bool {
		return r.Code == lifecycle.CodeOwn || r.Code == lifecycle.CodeInFlight
	})

	if len(v.Reasons) > 0 {
		return &HeldError{Issue: a.issue, Verdict: v}
	}
	if f.Unshown > 0 {
		return a.unknown(unshown(f))
	}
	if stages := a.cfg.Rules.Scheme.Stages; len(stages) > 0 && !f.PullRequest &&
		stages[a.cfg.Rules.Stage(f)].Name != a.record.Stage {
		return a.unknown(errors.New("it moved to another stage meanwhile"))
	}
	if taken, _ := f.Log.Bid(w, a.record.Resumes); a.record.Resumes != "" && taken.Ended {
		return a.cfg.Lost(f, w, claim.ErrEnded)
	}

	if own.Revoked != nil {
		return &LostError{Issue: a.issue, Worker: w, Err: claim.ErrRevoked}
	}

	return nil
}

// confirm is step 3's write: state=held on the one bound comment. A lost answer is asked again;
// the lease counts from before the first try.
func (a *Claim) confirm() Conclusion {
	if a.lapsed() {
		return a.giveUp(a.unknown(claim.ErrOverdue))
	}
	a.record.Held, a.record.Assignee = true, a.toAssign()
	a.record.Token = a.token()
	s, sent, err := a.edit(editing{read: true})
	if err != nil {
		return a.giveUp(err)
	}

	a.start, a.lease = sent.Sent, claim.Claim{Record: a.record}.Lease(a.cfg.Rules.Terms)
	return a.await(s)
}

// edit rewrites the own comment: to confirm it, or to add the token. Its answer must have come
// before the lease was over: a snapshot that is read along comes later. The error is an
// *UnknownError.
func (a *Claim) edit(e editing) (s Seen, sent Result, err error) {
	body, err := Body(a.facts, a.record)
	if err != nil {
		return Seen{}, Result{}, a.unknown(answer.Wrong(err))
	}

	e.write = Write{Kind: WriteEdit, Comment: a.bound.ID, Body: body}
	s, sent = e.carry(a.do)
	result := s.last()
	a.now = result.Answered
	switch {
	case result.Did != Applied:
		err = a.unknown(result.Err)
	case a.lapsed():
		err = a.unknown(claim.ErrOverdue)
	}

	a.now = s.Elapsed
	return s, sent, err
}

// decide is R2: the first snapshot that shows the own confirmation decides. An earlier confirmed
// rival wins; an earlier unconfirmed one is waited for, because it will see us and yield.
func (a *Claim) decide() Conclusion {
	if err := a.guards(); err != nil {
		return a.giveUp(err)
	}

	c := a.contest()
	a.waits++
	switch {
	case c.Place == claim.PlaceFirst:
		return a.number()
	case c.Place != claim.PlaceWaiting || a.waits == contenders:
		return a.yield(c)
	}

	if s := a.do(Effects{Wait: Backoff(2)}); s.Ending != nil {
		return a.giveUp(a.unknown(s.Ending))
	}
	return a.await(Seen{})
}

// number records a larger fencing token where R2 shows a token of somebody else that is not below
// the one that was recorded with the confirmation: R1 was read before that hold ended. The snapshot
// shows the end of every hold before this one, and with it the token of each, so one more edit is
// enough (spec-writing.md#the-fencing-token).
func (a *Claim) number() Conclusion {
	token := a.token()
	if token != a.record.Token {
		a.record.Token = token
		if _, _, err := a.edit(editing{}); err != nil {
			return a.giveUp(err)
		}
	}

	return a.won()
}

// token is the fencing token that the log gives this claim, or, for a person, the store's with the
// lease that keeps everybody else away: the next one there is larger.
func (a Claim) token() int64 {
	if a.got.Token != 0 {
		return a.got.Token
	}
	return a.facts.Log.NextToken(a.record.Worker, a.record.Nonce)
}

// yield leaves the issue to the rival: one record and no label (spec-writing.md#claim).
func (a *Claim) yield(c claim.Contest) Conclusion {
	return a.bury(a.beaten(c), claim.YieldedTo(c.Rival.Record.Worker))
}

// beaten is the answer no of a claim that was posted.
func (a Claim) beaten(c claim.Contest) *HeldError {
	held := a.heldIn(a.facts)
	if c.Place != claim.PlaceShared {
		held.Shared, held.Yielded = false, &c.Rival
	}
	return held
}
