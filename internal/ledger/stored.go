package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Strict returns a ledger whose holds are decided by a lease store of that kind. The log and the labels
// stay the readable mirror; where they disagree the store is believed (stores.md#lease-stores). Claims that
// the log had decided before stand by the log's rules until they end.
func (l *Ledger) Strict(s lease.Store, kind string) *Ledger {
	b := *l.base
	b.by, b.store = stored{s, kind}, kind
	return assemble(b)
}

// stored is the decider with a lease store. A person's hold has no end, which no store can keep: the log decides it, and the
// store only keeps everybody else away until it has.
type stored struct {
	store lease.Store
	name  string // of the kind of store, in records
}

func (s stored) look(ctx context.Context, f lifecycle.Facts) (lifecycle.Facts, lease.Lease, error) {
	got, held, err := s.store.Look(ctx, f.Issue)
	if err != nil {
		return f, got, &UnknownError{Issue: f.Issue, Err: s.named(err)}
	}
	if !held {
		got = lease.Lease{}
	}
	f.Log = f.Log.Ruled(ruling(f, got))
	return f, got, nil
}

func (s stored) steps(a *attempt) []step {
	if a.record.Person != "" {
		// The lease is taken while the log decides a person's claim, so that nobody wins at the store meanwhile, and released after that: the log
		// shows the person's claim, and everybody who wins at the store reads the log before working. One that cannot be released ends by time.
		reserve := func(ctx context.Context) error { return s.ask(ctx, a, a.set.Rules.Terms.TTL) }
		unreserve := func(ctx context.Context) error {
			_ = s.letGo(ctx, a.got)
			return nil
		}
		return slices.Concat([]step{reserve}, comments{}.steps(a), []step{unreserve})
	}
	acquire := func(ctx context.Context) error { // the store's answer is the claim; the lease counts from before the first try
		ttl := a.term()
		a.start, a.lease = a.clock.Now(), ttl
		if err := s.ask(ctx, a, ttl); err != nil {
			return err
		}
		a.record.TTL, a.record.Held, a.record.Token, a.record.Lease = ttl, true, a.got.Token, s.name
		return nil
	}
	return []step{acquire, func(ctx context.Context) error { return s.mirror(ctx, a) }}
}

// between: who has reserved the issue for a person is not kept from it by anything that the store decided before.
func (s stored) between(ctx context.Context, a *attempt, f lifecycle.Facts) (lifecycle.Facts, error) {
	if a.record.Person != "" {
		f.Log = f.Log.Ruled(claim.Ruling{})
		return f, nil
	}
	f, _, err := s.look(ctx, f)
	return f, err
}

func (s stored) complete(a *attempt, h Hold) Hold {
	if a.record.Person != "" {
		return h
	}
	h.Record, h.Token, h.Until = a.record, a.got.Token, a.got.Expires
	if h.Until.IsZero() {
		h.Until = a.facts.Now.Add(a.record.TTL)
	}
	if h.Since.IsZero() { // not mirrored yet
		h.Since = a.facts.Now
	}
	return h
}

// extend leaves a claim alone that the log decided.
func (s stored) extend(ctx context.Context, c claim.Claim, has lease.Lease) (lease.Lease, error) {
	if !c.Stored {
		return has, nil
	}
	got, err := s.store.Renew(ctx, has)
	if errors.Is(err, lease.ErrLost) {
		return got, err
	}
	return got, s.named(err)
}

func (s stored) end(ctx context.Context, i claim.Issue, r claim.Record) error {
	got, held, err := s.store.Look(ctx, i)
	switch {
	case err != nil:
		return s.named(err)
	case !held || got.Worker != r.Worker || r.Nonce != "" && r.Nonce != got.Nonce:
		return nil
	case r.Nonce == "" && r.Token != 0 && r.Token != got.Token:
		return s.named(fmt.Errorf("another process of the run has taken it over: %w", lease.ErrLost))
	}
	return s.named(s.store.Release(ctx, got))
}

// known: the worker of such an issue died between the store and the log.
func (s stored) known(ctx context.Context, r Repo) (map[int]bool, error) {
	lister, ok := s.store.(lease.Lister)
	if !ok {
		return nil, nil
	}
	numbers, err := lister.Known(ctx, claim.Issue{Owner: r.Owner, Repo: r.Name, Number: 1})
	out := make(map[int]bool, len(numbers))
	for _, n := range numbers {
		out[n] = true
	}
	return out, s.named(err)
}

// batcher is the part of a ledger's store that takes several issues in one step; ok is false where nothing does.
func (bs *base) batcher() (s stored, b lease.Batcher, ok bool) {
	s, _ = bs.by.(stored)
	b, ok = s.store.(lease.Batcher)
	return s, b, ok
}

// named says which store an error is of.
func (s stored) named(err error) error {
	if err == nil {
		return nil
	}
	return &lease.Error{Kind: s.name, Err: err}
}

// ruling is a lease as the log takes it. Of one without an end that the log has not heard of either, it
// is known that it ends a ttl from now at the latest.
func ruling(f lifecycle.Facts, l lease.Lease) claim.Ruling {
	r := claim.Ruling{Worker: l.Worker, Nonce: l.Nonce, Token: l.Token, TTL: l.TTL, Until: l.Expires}
	if c, _ := f.Log.Find(l.Worker); r.Until.IsZero() && len(c.Ranks) == 0 {
		r.Until = f.Now.Add(l.TTL)
	}
	return r
}

// ask asks the store for the lease of the issue. After an answer that is not known the lease is released.
func (s stored) ask(ctx context.Context, a *attempt, ttl time.Duration) error {
	asked := a.ask(ttl)
	got, err := s.store.Acquire(ctx, asked)
	var held *lease.HeldError
	switch {
	case errors.As(err, &held):
		return a.heldByLease(held.Lease)
	case err != nil && (lease.Rejected(err) || a.takes != 0): // a lease that was taken over ends with its hold
		return &UnknownError{Issue: a.issue, Err: s.named(err)}
	case err != nil:
		return errors.Join(&UnknownError{Issue: a.issue, Err: s.named(err)}, s.letGo(ctx, asked.Bare()))
	}
	a.got = got
	return nil
}

// ask is what the attempt asks its store for.
func (a *attempt) ask(ttl time.Duration) lease.Ask {
	return lease.Ask{Issue: a.issue, Worker: a.record.Worker, Nonce: a.record.Nonce, TTL: ttl, Takes: a.takes}
}

// term is the ttl that the store is asked for: it has no leases without end.
func (a *attempt) term() time.Duration {
	if a.record.TTL == claim.NoExpiry {
		return a.set.Rules.Terms.Max
	}
	return a.record.TTL
}

// heldByLease is a no of the store: somebody else was first, and nothing of ours was written.
func (a *attempt) heldByLease(by lease.Lease) error {
	f := a.facts
	f.Log = f.Log.Ruled(ruling(f, by))
	return a.held(a.set.Rules.Verdict(f, lifecycle.Seeker{Worker: a.record.Worker}))
}

// letGo releases a lease even when the caller's time is over.
func (s stored) letGo(ctx context.Context, l lease.Lease) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedIn)
	defer cancel()
	return s.store.Release(ctx, l)
}

// mirror writes what the store decided into the log. The hold is real without it: a log that
// cannot be written is late labels, and the sweep writes it. A claim that the log decided meanwhile,
// for somebody who had not heard of the store, goes first: that one may have seen the issue free.
func (s stored) mirror(ctx context.Context, a *attempt) error {
	a.record.At, a.record.Assignee = a.facts.Now, a.toAssign()
	body, err := claim.Body(a.record, protocol.Sentence(a.facts, a.record))
	if err != nil {
		return errors.Join(&CallError{Err: err}, s.letGo(ctx, a.got))
	}
	c, next, err := a.records.appendRead(ctx, a.issue, body, func(s claim.State) (string, bool) {
		own, posted := s.Bid(a.record.Worker, a.record.Nonce)
		return own.URL, posted
	})
	if err != nil {
		a.late = &LabelsError{Issue: a.issue, Err: err}
		return nil
	}
	a.bound = claim.Rank{Created: c.Created, ID: c.ID}
	if err := a.readMirror(ctx, next); err != nil {
		a.late = &LabelsError{Issue: a.issue, Err: err}
		return nil
	}
	if a.facts.Log.Over(a.record.Worker, a.record.Nonce) { // another process of the run had it, and its hold has ended
		return errors.Join(a.lost(a.facts, a.record.Worker, claim.ErrEnded), s.letGo(ctx, a.got))
	}
	if c, found := a.facts.Log.Unstored(a.record.Worker, a.record.Nonce); found {
		return a.yield(ctx, c)
	}
	return nil
}

// readMirror reads until the own mirror shows: such a snapshot shows every claim that was there before it. It may have come with the mirror.
func (a *attempt) readMirror(ctx context.Context, next *lifecycle.Facts) error {
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
		f, err := a.snapshots.logged(ctx, a.issue)
		if err != nil {
			last = err
			continue
		}
		f.Log = f.Log.Ruled(ruling(f, a.got))
		a.facts = f
		if _, shown := f.Log.Bid(a.record.Worker, a.record.Nonce); shown {
			return nil
		}
		last = ErrInvisible
	}
	return last
}
