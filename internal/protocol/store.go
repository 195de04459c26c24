package protocol

import (
	"errors"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// stored reports whether a lease store decides this claim.
func (a Claim) stored() bool { return a.cfg.Store != "" && a.record.Person == "" }

// Asked is what the claim asks its store for. For a person the lease is taken while the log
// decides, so that nobody wins at the store meanwhile; one that cannot be released ends by time.
func (a Claim) Asked() lease.Ask {
	ttl := a.record.TTL
	switch {
	case a.record.Person != "":
		ttl = a.cfg.Rules.Terms.TTL
	case ttl == claim.NoExpiry: // a store has no leases without end
		ttl = a.cfg.Rules.Terms.Max
	}

	return lease.Ask{
		Issue:  a.issue,
		Worker: a.record.Worker,
		Nonce:  a.record.Nonce,
		TTL:    ttl,
		Takes:  a.takes,
		Above:  a.facts.Log.LargestToken(),
	}
}

// acquire asks the store: its answer is the claim. The lease counts from before the first try.
// After an answer that is not known the lease is released.
func (a *Claim) acquire() Conclusion {
	result := a.do(Effects{Writes: []Write{{Kind: WriteAcquire, Acquire: a.Asked()}}}).last()
	var held *lease.HeldError
	switch {
	case errors.As(result.Err, &held):
		return a.leave(a.HeldBy(held.Lease))
	case result.Did == Applied:
	case result.Did == Refused || a.takes != 0: // a lease that was taken over ends with its hold
		return a.leave(a.unknown(result.Err))
	default:
		return a.free(a.unknown(result.Err), a.Asked().Bare())
	}

	if a.record.Person != "" {
		a.got = result.Lease
		return a.begin()
	}

	return a.grant(result.Lease, result.Sent)
}

// Granted is the operation of an admitted claim whose lease the store has given, asked for when the
// driver begins with it.
func (a Claim) Granted(got lease.Lease) Operation {
	return func(do Do) Conclusion {
		a.asks(do)
		return a.grant(got, 0)
	}
}

// grant goes on with the lease.
func (a *Claim) grant(got lease.Lease, since time.Duration) Conclusion {
	ttl := a.Asked().TTL
	a.got, a.start, a.lease = got, since, ttl
	a.record.TTL, a.record.Held, a.record.Token, a.record.Lease = ttl, true, got.Token, a.cfg.Store
	return a.mirror()
}

// free releases a lease, also when the caller has given up.
func (a *Claim) free(because error, l lease.Lease) Conclusion {
	s := a.do(Effects{Writes: []Write{{Kind: WriteRelease, Lease: l}}})
	return a.leave(errors.Join(because, s.last().Err))
}

// mirror writes what the store decided into the log. The hold is real without it: a log that cannot
// be written is late labels, and the sweep writes it. It is read until it shows, because such a
// snapshot shows every claim that was there before it. The lease that was granted is laid over it,
// whatever the store would say by now.
func (a *Claim) mirror() Conclusion {
	a.record.At, a.record.Assignee = a.facts.Now, a.toAssign()
	body, err := Body(a.facts, a.record)
	if err != nil {
		return a.free(answer.Wrong(err), a.got)
	}

	a.posting = recording{
		cfg:     a.cfg,
		body:    body,
		record:  a.record,
		had:     a.facts.Log,
		granted: true,
	}

	// they only follow the store, as the log does
	a.posting.labels = a.cfg.foreseen(a.facts, a.facts.Log.Ruled(ruling(a.facts, a.got)))
	s, err := a.posting.write(a.do)
	if err != nil {
		return a.unmirrored(err)
	}

	a.bound = a.posting.comment.Rank()
	rounds, last := 0, ErrInvisible
	for {
		switch {
		case s.Ending != nil && !s.Read:
			return a.unmirrored(errors.Join(last, s.Ending))
		case s.waited():
			s = a.do(Effects{Read: true})
			continue
		}

		if last = s.Err; last == nil {
			a.facts = s.Facts
			a.facts.Log = a.facts.Log.Ruled(ruling(a.facts, a.got))
			if _, shown := a.facts.Log.Bid(a.record.Worker, a.record.Nonce); shown {
				return a.compare()
			}
			last = ErrInvisible
		}

		if rounds++; rounds == contenders {
			return a.unmirrored(last)
		}
		s = a.do(Effects{Wait: Backoff(rounds - 1)})
	}
}

// unmirrored hands out a hold whose mirror is late.
func (a *Claim) unmirrored(err error) Conclusion {
	a.late = &LabelsError{a.issue, err}
	return a.assign()
}

// compare looks for a claim that the log decided meanwhile, for somebody who had not heard of the
// store. It goes first: that one may have seen the issue free.
func (a *Claim) compare() Conclusion {
	if a.facts.Log.Over(a.record.Worker, a.record.Nonce) { // another process of the run had it, and its hold has ended
		return a.free(a.cfg.Lost(a.facts, a.record.Worker, claim.ErrEnded), a.got)
	}
	if c, found := a.facts.Log.Unstored(a.record.Worker, a.record.Nonce); found {
		return a.yield(c)
	}

	return a.won()
}

// HeldBy is a no of a lease store: somebody else was first, and nothing of ours was written.
func (a Claim) HeldBy(by lease.Lease) error {
	f := a.facts
	f.Log = f.Log.Ruled(ruling(f, by))
	return a.heldIn(f)
}
