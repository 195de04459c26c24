package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Strict returns a ledger whose holds are decided by a lease store. The log and the labels stay
// the readable mirror; where they disagree the store is believed (PROTOCOL section 8).
func (l *Ledger) Strict(s lease.Store) *Ledger {
	strict := *l
	strict.store = s
	return &strict
}

// ruled lays the store's word over a reading of the log.
func (l *Ledger) ruled(ctx context.Context, f lifecycle.Facts) (lifecycle.Facts, error) {
	if l.store == nil {
		return f, nil
	}
	got, held, err := l.store.Look(ctx, f.Issue)
	if err != nil {
		return f, &UnknownError{f.Issue, err}
	}
	var r claim.Ruling
	if held {
		r = claim.Ruling{Worker: got.Worker, Token: got.Token, TTL: got.TTL, Until: got.Expires}
	}
	f.Log = f.Log.Ruled(r)
	return f, nil
}

// acquire asks the store: its answer is the claim. The lease counts from before the first try.
func (a *attempt) acquire(ctx context.Context) error {
	ttl := a.term()
	a.start, a.lease = a.clock.Now(), ttl
	got, err := a.store.Acquire(ctx, lease.Ask{Issue: a.issue, Worker: a.worker(), TTL: ttl})
	var held *lease.HeldError
	switch {
	case errors.As(err, &held):
		return a.beaten(held.Lease)
	case err != nil:
		return errors.Join(&UnknownError{a.issue, err}, a.letGo(ctx, lease.Lease{Issue: a.issue, Worker: a.worker(), TTL: ttl}))
	}
	a.got = got
	a.record.TTL, a.record.Held, a.record.Token = ttl, true, got.Token
	return nil
}

// term is the ttl that the store is asked for: it has no leases without end.
func (a *attempt) term() time.Duration {
	if a.record.TTL == claim.NoExpiry {
		return a.set.Rules.Terms.Max
	}
	return a.record.TTL
}

// beaten is a no of the store: somebody else was first, and nothing of ours was written.
func (a *attempt) beaten(by lease.Lease) error {
	f := a.facts
	f.Log = f.Log.Ruled(claim.Ruling{Worker: by.Worker, Token: by.Token, TTL: by.TTL, Until: by.Expires})
	return &HeldError{Issue: a.issue, Verdict: a.set.Rules.Verdict(f, lifecycle.Seeker{Worker: a.worker()})}
}

// letGo gives a lease back even when the caller's time is over.
func (a *attempt) letGo(ctx context.Context, l lease.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedIn)
	defer cancel()
	return a.store.Release(ctx, l)
}

// mirror writes what the store decided into the log. The hold is real without it: a log that
// cannot be written is late labels, and the sweep writes it.
func (a *attempt) mirror(ctx context.Context) error {
	a.record.At = a.facts.Now
	body, err := claim.Body(a.record, sentence(a.record))
	if err != nil {
		return errors.Join(&CallError{err}, a.letGo(ctx, a.got))
	}
	c, err := a.append(ctx, a.issue, body, func(s claim.State) (string, bool) {
		own, ok := s.Find(a.worker())
		return own.URL, ok && len(own.Ranks) > 0
	})
	if err != nil {
		a.late = &LabelsError{a.issue, err}
		return nil
	}
	a.bound = claim.Rank{Created: c.Created, ID: c.ID}
	f, err := a.Ledger.facts(ctx, a.issue)
	if err != nil {
		a.late = &LabelsError{a.issue, err}
		return nil
	}
	a.facts = f
	return nil
}

// keepLease extends the store's lease before its mirror is edited.
func (l *Ledger) keepLease(ctx context.Context, f lifecycle.Facts, w claim.Worker) (start time.Time, err error) {
	start = l.clock.Now()
	if l.store == nil {
		return start, nil
	}
	got, held, err := l.store.Look(ctx, f.Issue)
	switch {
	case err != nil:
		return start, &UnknownError{f.Issue, err}
	case !held || got.Worker != w:
		return start, l.lost(f, w, lease.ErrLost)
	}
	start = l.clock.Now()
	_, err = l.store.Renew(ctx, got)
	switch {
	case errors.Is(err, lease.ErrLost):
		return start, l.lost(f, w, err)
	case err != nil:
		return start, &UnknownError{f.Issue, err}
	}
	return start, nil
}

// endLease gives the store's lease of w back, if it is still w's, before the log says so.
func (l *Ledger) endLease(ctx context.Context, i claim.Issue, w claim.Worker) error {
	if l.store == nil {
		return nil
	}
	got, held, err := l.store.Look(ctx, i)
	if err != nil || !held || got.Worker != w {
		return err
	}
	return l.store.Release(ctx, got)
}
