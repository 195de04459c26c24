package gitref

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

var _ lease.Batcher = (*Store)(nil)

// A Mover is Refs that can move several references of one repository in one step: all or none.
type Mover interface {
	// SwapRefs moves them. Any that is not where its swap says is ErrMoved, and none moves. errors.ErrUnsupported
	// says that the server has no such step.
	SwapRefs(ctx context.Context, i claim.Issue, all []Swap) error
}

// AcquireAll implements lease.Batcher: a snapshot and a commit for each, and one swap of all.
func (s *Store) AcquireAll(ctx context.Context, asks []lease.Ask) ([]lease.Lease, error) {
	mover, ok := s.refs.(Mover)
	if !ok || len(asks) == 0 {
		return nil, fmt.Errorf("acquire together: %w", errors.ErrUnsupported)
	}
	b := batch{Store: s, mover: mover, asks: asks}
	if err := b.acquire(ctx); err != nil {
		return nil, fmt.Errorf("acquire %s and %d more: %w", asks[0].Issue, len(asks)-1, err)
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
	mover       Mover
	asks        []lease.Ask
	tips, after []tip // where each chain was read, and where it is to go
}

// acquire reads, makes the commits and moves all references, again while others are faster.
func (b *batch) acquire(ctx context.Context) error {
	for range races {
		if err := b.prepare(ctx); err != nil {
			return err
		}
		all := make([]Swap, len(b.asks))
		for n, a := range b.asks {
			all[n] = Swap{Name: RefName(a.Issue), Before: b.tips[n].oid, After: b.after[n].oid, RepoID: b.tips[n].repoID}
		}
		first := b.asks[0].Issue // since all move or none does, it tells of all
		err := b.swap(ctx, first, b.tips[0], b.after[0], fmt.Sprintf("move %d references", len(all)), func() error { return b.mover.SwapRefs(ctx, first, all) })
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

// prepare reads every chain and makes the commits that are to follow. A chain that is read late can
// only lose the swap.
func (b *batch) prepare(ctx context.Context) error {
	b.tips, b.after = nil, nil
	for _, a := range b.asks {
		t, err := b.read(ctx, a.Issue)
		if err != nil {
			return err
		}
		if mine := t.owned() && t.worker == a.Worker; !mine && !t.free(b.grace) {
			return &lease.HeldError{Lease: t.lease(a.Issue)}
		}
		b.tips = append(b.tips, t)
	}
	for n, a := range b.asks {
		t := b.tips[n]
		next := t.claim(a)
		if t.owned() && t.worker == a.Worker {
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

// abandon sees to it that a step of which nobody knows whether it landed does not: a void commit on the
// first chain leaves it no place there, and so nowhere. If it has landed already, all is released.
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
