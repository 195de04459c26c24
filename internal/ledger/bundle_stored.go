package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/lease"
)

// together takes all issues of the next repository in one atomic step of its lease store, and mirrors each lease. The leases
// count from before the store was asked. Where there is no such step, or only one issue, the error is errors.ErrUnsupported
// and nothing was done; any other is of part n.
func (t *taking) together(ctx context.Context, req Request) (n int, err error) {
	n = len(t.holds)
	group := t.parts[n:]
	for k, p := range group {
		if !p.Issue.SameRepo(group[0].Issue) {
			group = group[:k]
			break
		}
	}
	store, batcher, able := group[0].Ledger.batcher()
	if !able || len(group) < 2 {
		return n, errors.ErrUnsupported
	}
	attempts, asks := make([]*attempt, len(group)), make([]lease.Ask, len(group))
	for k, p := range group {
		a, err := p.Ledger.attempt(p.Issue, req)
		if err != nil {
			return n + k, err
		}
		if err := a.admit(ctx); err != nil {
			return n + k, a.leave(ctx, err)
		}
		attempts[k], asks[k] = a, a.ask(a.term())
	}
	start := attempts[0].clock.Now()
	got, err := batcher.AcquireAll(ctx, asks)
	var held *lease.HeldError
	switch {
	case errors.As(err, &held):
		k := max(0, slices.IndexFunc(attempts, func(a *attempt) bool { return a.issue.Same(held.Lease.Issue) }))
		return n + k, attempts[k].heldByLease(held.Lease)
	case errors.Is(err, errors.ErrUnsupported):
		return n, errors.ErrUnsupported
	case err != nil:
		return n, &UnknownError{Issue: asks[0].Issue, Err: fmt.Errorf("%d issues of %s: %w", len(asks), asks[0].Issue.Slug(), err)}
	}
	for k, a := range attempts {
		if err := a.granted(ctx, store, got[k]); err != nil {
			for _, a := range attempts[k:] { // granted, and not in the log: they have to be released
				t.holds = append(t.holds, a.hold())
			}
			return n + k, err
		}
		a.start = start
		t.holds = append(t.holds, a.hold())
	}
	return n, nil
}

// granted goes on with a claim that the store has decided already. Labels that are late are no error.
func (a *attempt) granted(ctx context.Context, store stored, got lease.Lease) error {
	own := *a.base
	own.by = stored{handed{store.store, got}, store.name}
	a.claims = assemble(own).claims
	for _, do := range own.by.steps(a) {
		if err := do(ctx); err != nil {
			return err
		}
	}
	err := a.late
	if err == nil {
		_, err = a.labelling.reconcile(ctx, a.facts)
	}
	if late(err) {
		return nil
	}
	return err
}

// handed is a store that has granted a lease already.
type handed struct {
	lease.Store
	got lease.Lease
}

// Acquire returns the lease.
func (h handed) Acquire(context.Context, lease.Ask) (lease.Lease, error) { return h.got, nil }
