package gitref

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/internal/lease"
)

var _ lease.Batcher = (*Store)(nil)

// AcquireAll implements lease.Batcher: a snapshot and a commit for each, and one swap of all.
func (s *Store) AcquireAll(ctx context.Context, asks []lease.Ask) ([]lease.Lease, error) {
	if len(asks) == 0 {
		return nil, nil
	}
	b := batch{Store: s, asks: asks}
	if err := b.acquire(ctx); err != nil {
		return nil, fmt.Errorf("acquire %s and %d more: %w", asks[0].Issue, len(asks)-1, named(err))
	}

	out := make([]lease.Lease, len(asks))
	for n, t := range b.after {
		out[n] = t.lease(asks[n].Issue)
		out[n].TTL = asks[n].TTL
	}

	return out, nil
}

// A batch is several leases on their way.
type batch struct {
	*Store
	asks        []lease.Ask
	tips, after []tip // where each chain was read, and where it is to go
}

// acquire reads, makes the commits and moves all references, again while others are faster.
func (b *batch) acquire(ctx context.Context) error {
	for range races {
		if err := b.prepare(ctx); err != nil {
			return err
		}
		all, moves := make([]Swap, len(b.asks)), make([]move, len(b.asks))
		for n, a := range b.asks {
			all[n] = Swap{
				Name:   RefName(a.Issue),
				Before: b.tips[n].oid,
				After:  b.after[n].oid,
				RepoID: b.tips[n].repoID,
			}
			moves[n] = move{a.Issue, b.tips[n], b.after[n]}
		}

		err := b.swap(ctx, moves, fmt.Sprintf("move %d references", len(all)), func() error {
			return b.refs.SwapRefs(ctx, b.asks[0].Issue, all...)
		})
		var open openError
		switch {
		case errors.As(err, &open):
			return errors.Join(err, b.abandon(ctx))
		case !errors.Is(err, ErrMoved):
			return err
		}
	}

	return fmt.Errorf("%w %d times", ErrMoved, races)
}

// prepare reads every chain and makes the commits that are to follow. A chain that is read late, or
// that a snapshot has shown, can only lose the swap; after a swap no snapshot shows any.
func (b *batch) prepare(ctx context.Context) error {
	b.tips, b.after = nil, nil
	for _, a := range b.asks {
		t, err := b.shown(ctx, a.Issue)
		if err != nil {
			return err
		}
		if !t.ownedBy(a) && !t.free(b.grace) && !t.mayTake(a) {
			return &lease.HeldError{Lease: t.lease(a.Issue)}
		}

		b.tips = append(b.tips, t)
	}

	for n, a := range b.asks {
		t := b.tips[n]
		next := t.claim(a)
		if t.ownedBy(a) {
			next = t.then(kindRenew)
			next.ttl = a.TTL
		}

		after, err := b.commit(ctx, a.Issue, t, next)
		if err != nil {
			return err
		}

		b.after = append(b.after, after)
	}

	return nil
}

// abandon sees to it that a step of which nobody knows whether it landed does not: a void commit on
// the first chain leaves it no place there, and so nowhere. If it has landed already, all is
// released.
func (b *batch) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonIn)
	defer cancel()
	_, err := b.advance(ctx, b.asks[0].Issue, b.tips[0], b.tips[0].void(b.asks[0]))
	if errors.Is(err, ErrMoved) {
		var now tip
		if now, err = b.readPast(ctx, b.asks[0].Issue, b.tips[0].pos); err == nil && now.oid == b.after[0].oid {
			var unreleased []error
			for n, a := range b.asks {
				unreleased = append(unreleased, b.release(ctx, b.after[n].lease(a.Issue)))
			}
			err = errors.Join(unreleased...)
		}
	}

	if err != nil {
		return fmt.Errorf("give up the claims: %w", err)
	}

	return nil
}
