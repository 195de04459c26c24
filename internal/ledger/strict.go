package ledger

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Strict returns a ledger whose holds are decided by a lease store of that kind. The log and the labels
// stay the readable mirror; where they disagree the store is believed (stores.md#lease-stores). Claims that
// the log had decided before stand by the log's rules until they end.
func (l *Ledger) Strict(s lease.Store, kind string) *Ledger {
	strict := *l
	strict.store, strict.kind = s, kind
	return &strict
}

// IsStrict reports whether a lease store decides.
func (l *Ledger) IsStrict() bool { return l.store != nil }

// decides says why this ledger is not the one to act on a claim, or nil.
func (l *Ledger) decides(i claim.Issue, c claim.Claim) error {
	if c.Record.Lease == "" || c.Record.Lease == l.kind {
		return nil
	}
	return &StoreError{Issue: i, Hold: c.Record.Lease, Here: cmp.Or(l.kind, lease.Comments)}
}

// Ruled lays the lease store's word over a reading that was made without the ledger. Without a store it
// is the reading itself. The error is an *UnknownError.
func (l *Ledger) Ruled(ctx context.Context, f lifecycle.Facts) (lifecycle.Facts, error) {
	return l.ruled(ctx, f)
}

// Stale lists the claims whose end a sweep would record, by a reading that was made without the ledger.
func (l *Ledger) Stale(ctx context.Context, f lifecycle.Facts) ([]claim.Claim, error) {
	if len(f.Log.Live()) == 0 {
		return nil, nil
	}
	f, err := l.ruled(ctx, f)
	return l.over(f), err
}

// ruled lays the store's word over a reading of the log.
func (l *Ledger) ruled(ctx context.Context, f lifecycle.Facts) (lifecycle.Facts, error) {
	f, _, err := l.looked(ctx, f)
	return f, err
}

// looked is ruled with the lease that stands, the zero lease when none does.
func (l *Ledger) looked(ctx context.Context, f lifecycle.Facts) (lifecycle.Facts, lease.Lease, error) {
	if l.store == nil {
		return f, lease.Lease{}, nil
	}
	got, held, err := l.store.Look(ctx, f.Issue)
	if err != nil {
		return f, got, &UnknownError{f.Issue, l.said(err)}
	}
	if !held {
		got = lease.Lease{}
	}
	f.Log = f.Log.Ruled(ruling(f, got))
	return f, got, nil
}

// ruling is a lease as the log takes it. Of one without an end that the log has not heard of either, it
// is known that it ends a ttl from now at the latest.
func ruling(f lifecycle.Facts, l lease.Lease) claim.Ruling {
	r := claim.Ruling{Worker: l.Worker, Token: l.Token, TTL: l.TTL, Until: l.Expires}
	if c, _ := f.Log.Find(l.Worker); r.Until.IsZero() && len(c.Ranks) == 0 {
		r.Until = f.Now.Add(l.TTL)
	}
	return r
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
	case err != nil && lease.Rejected(err):
		return &UnknownError{a.issue, a.said(err)}
	case err != nil:
		return errors.Join(&UnknownError{a.issue, a.said(err)}, a.letGo(ctx, lease.Lease{Issue: a.issue, Worker: a.worker(), TTL: ttl}))
	}
	a.got = got
	a.record.TTL, a.record.Held, a.record.Token, a.record.Lease = ttl, true, got.Token, a.kind
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
	f.Log = f.Log.Ruled(ruling(f, by))
	return &HeldError{Issue: a.issue, Verdict: a.set.Rules.Verdict(f, lifecycle.Seeker{Worker: a.worker()})}
}

// letGo releases a lease even when the caller's time is over.
func (a *attempt) letGo(ctx context.Context, l lease.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedIn)
	defer cancel()
	return a.store.Release(ctx, l)
}

// mirror writes what the store decided into the log. The hold is real without it: a log that
// cannot be written is late labels, and the sweep writes it. A claim that the log decided meanwhile,
// for somebody who had not heard of the store, goes first: that one may have seen the issue free.
func (a *attempt) mirror(ctx context.Context) error {
	a.record.At, a.record.Assignee = a.facts.Now, a.toAssign()
	body, err := claim.Body(a.record, sentence(a.facts, a.record))
	if err != nil {
		return errors.Join(&CallError{err}, a.letGo(ctx, a.got))
	}
	c, next, err := a.appendRead(ctx, a.issue, body, func(s claim.State) (string, bool) {
		own, _ := s.Find(a.worker())
		return own.URL, own.Comment != 0
	})
	if err != nil {
		a.late = &LabelsError{a.issue, err}
		return nil
	}
	a.bound = claim.Rank{Created: c.Created, ID: c.ID}
	if err := a.seen(ctx, next); err != nil {
		a.late = &LabelsError{a.issue, err}
		return nil
	}
	for _, rival := range a.rivals() {
		if rival.Record.Lease == "" {
			return a.yield(ctx, rival)
		}
	}
	return nil
}

// seen reads until the own mirror shows: such a snapshot shows every claim that was there before it. It may have come with the mirror.
func (a *attempt) seen(ctx context.Context, next *lifecycle.Facts) error {
	if next != nil {
		a.facts = *next
		a.facts.Log = a.facts.Log.Ruled(ruling(a.facts, a.got))
		return nil
	}
	last := ErrInvisible
	for n := range contenders {
		if err := a.pause(ctx, n, backoff(n-1)); err != nil {
			return errors.Join(last, err)
		}
		f, err := a.logged(ctx, a.issue)
		if err != nil {
			last = err
			continue
		}
		f.Log = f.Log.Ruled(ruling(f, a.got))
		if a.facts = f; a.shown() {
			return nil
		}
		last = ErrInvisible
	}
	return last
}

func (a *attempt) shown() bool {
	own, _ := a.facts.Log.Find(a.worker())
	return own.Comment != 0
}

// keepLease extends the lease that c has by the store's word before its mirror is edited; of a claim that
// the log decides there is nothing to extend. The new lease counts from start.
func (l *Ledger) keepLease(ctx context.Context, f lifecycle.Facts, c claim.Claim, has lease.Lease) (got lease.Lease, start time.Time, err error) {
	start = l.clock.Now()
	if !c.Stored {
		return has, start, nil
	}
	got, err = l.store.Renew(ctx, has)
	switch {
	case errors.Is(err, lease.ErrLost):
		return got, start, l.lost(f, c.Record.Worker, err)
	case err != nil:
		return got, start, &UnknownError{f.Issue, l.said(err)}
	}
	return got, start, nil
}

// endLease gives the store's lease of w back, if it is still w's, before the log says so.
func (l *Ledger) endLease(ctx context.Context, i claim.Issue, w claim.Worker) error {
	if l.store == nil {
		return nil
	}
	got, held, err := l.store.Look(ctx, i)
	if err == nil && held && got.Worker == w {
		err = l.store.Release(ctx, got)
	}
	return l.said(err)
}

// said names the store that an error is of.
func (l *Ledger) said(err error) error {
	if err == nil {
		return nil
	}
	return &lease.Error{Kind: l.kind, Err: err}
}
