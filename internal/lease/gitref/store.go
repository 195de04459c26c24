package gitref

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

var (
	_ lease.Store  = (*Store)(nil)
	_ lease.Prober = (*Store)(nil)
	_ lease.Lister = (*Store)(nil)
)

// Acquire implements lease.Store: it is AcquireAll of one. Beside *lease.HeldError it returns
// notLease, and what GitHub says of a token that may not write contents.
func (s *Store) Acquire(ctx context.Context, a lease.Ask) (lease.Lease, error) {
	got, err := s.AcquireAll(ctx, []lease.Ask{a})
	if err != nil {
		return lease.Lease{}, err
	}
	return got[0], nil
}

// Renew implements lease.Store: a commit and a swap. A lease that ran out and that nobody has taken
// can still be renewed.
func (s *Store) Renew(ctx context.Context, l lease.Lease) (lease.Lease, error) {
	t, err := s.step(ctx, l, kindRenew)
	if err != nil {
		return lease.Lease{}, fmt.Errorf("renew %s: %w", l.Issue, named(err))
	}

	next := t.lease(l.Issue)
	next.TTL = l.TTL
	return next, nil
}

// Release implements lease.Store: a commit and a swap.
func (s *Store) Release(ctx context.Context, l lease.Lease) error {
	if err := s.release(ctx, l); err != nil {
		return fmt.Errorf("release %s: %w", l.Issue, named(err))
	}
	return nil
}

// release ends the lease if it is still l's.
func (s *Store) release(ctx context.Context, l lease.Lease) error {
	_, err := s.step(ctx, l, kindRelease)
	if errors.Is(err, lease.ErrLost) {
		return nil
	}
	return err
}

// step puts a commit of the holder on the chain: first where l says that the chain is, then, if it
// is elsewhere, where it is, as long as the lease is still l's.
func (s *Store) step(ctx context.Context, l lease.Lease, k kind) (tip, error) {
	t, told := standing(l)
	if !told {
		var err error
		if t, err = s.read(ctx, l.Issue); err != nil {
			return tip{}, err
		}
	}

	for range races {
		if !t.is(l) {
			return tip{}, lease.ErrLost
		}
		next := t.then(k)
		if l.TTL > 0 {
			next.ttl = l.TTL
		}

		after, err := s.advance(ctx, l.Issue, t, next)
		if !errors.Is(err, ErrMoved) {
			return after, err
		}
		if t, err = s.readPast(ctx, l.Issue, t.pos); err != nil {
			return tip{}, err
		}
	}

	return tip{}, fmt.Errorf("%w %d times", ErrMoved, races)
}

// Look implements lease.Store: one snapshot, unless one is known. A lease stands until others may
// take it.
func (s *Store) Look(ctx context.Context, i claim.Issue) (lease.Lease, bool, error) {
	t, err := s.shown(ctx, i)
	if err != nil {
		return lease.Lease{}, false, &claim.IssueError{Doing: "look at", Issue: i, Err: named(err)}
	}
	if t.free(s.grace) {
		return lease.Lease{}, false, nil
	}

	return t.lease(i), true, nil
}
