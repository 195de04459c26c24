package gitref

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/lease"
)

var _ lease.Batcher = (*Store)(nil)

// AcquireAll implements lease.Batcher: a snapshot, unless one is known, and a commit for each, and
// one swap of all.
func (s *Store) AcquireAll(ctx context.Context, asks []lease.Ask) ([]lease.Lease, error) {
	if len(asks) == 0 {
		return nil, nil
	}
	b := batch{Store: s, asks: asks}
	if err := b.acquire(ctx); err != nil {
		what := asks[0].Issue.String()
		if len(asks) > 1 {
			what = fmt.Sprintf("%s and %d more", what, len(asks)-1)
		}
		return nil, fmt.Errorf("acquire %s: %w", what, named(err))
	}

	out := make([]lease.Lease, len(asks))
	for n, m := range b.moves {
		out[n] = m.to.lease(m.issue)
		out[n].TTL = asks[n].TTL
	}

	return out, nil
}

// A batch is one lease, or several, on the way.
type batch struct {
	*Store
	asks  []lease.Ask
	moves []move // of the chains: where each was read, and where it is to go
}

// acquire puts a claim on every chain, or a renewal where the process has the lease already, again
// while others are faster.
func (b *batch) acquire(ctx context.Context) error {
	for n := 0; ; n++ {
		begins, err := b.look(ctx)
		switch {
		case err != nil:
			return err
		case n == races:
			return fmt.Errorf("%w %d times", ErrMoved, n)
		}

		err = b.commitAll(ctx)
		if err == nil {
			err = b.swap(ctx, b.moves)
		}

		var open openError
		switch {
		case errors.As(err, &open) && begins: // what is renewed or taken over would end with it
			return errors.Join(err, b.abandon(ctx))
		case !errors.Is(err, ErrMoved):
			return err
		}
	}
}

// look reads the chains, and reports whether all leases are new ones. A chain that is read late, or
// that a snapshot has shown, can only lose the swap; after a swap no snapshot shows any.
func (b *batch) look(ctx context.Context) (begins bool, err error) {
	moves := make([]move, len(b.asks))
	begins = true
	for n, a := range b.asks {
		var t tip
		if len(b.moves) == 1 { // it has moved
			t, err = b.readPast(ctx, a.Issue, b.moves[0].from.pos)
		} else {
			t, err = b.shown(ctx, a.Issue)
		}

		if err != nil && !errors.Is(err, errBehind) {
			return false, err
		}
		if !t.ownedBy(a) && !t.free(b.grace) && !t.mayTake(a) {
			return false, &lease.HeldError{Lease: t.lease(a.Issue)}
		}

		moves[n] = move{issue: a.Issue, from: t}
		begins = begins && !t.ownedBy(a) && !t.mayTake(a)
	}

	b.moves = moves
	return begins, nil
}

// commitAll makes the commits that are to follow.
func (b *batch) commitAll(ctx context.Context) (err error) {
	for n, a := range b.asks {
		m := &b.moves[n]
		next := m.from.claim(a)
		if m.from.ownedBy(a) {
			next = m.from.then(kindRenew)
			next.ttl = a.TTL
		}

		if m.to, err = b.commit(ctx, a.Issue, m.from, next); err != nil {
			return err
		}
	}

	return nil
}

// abandonIn is how long giving up may go on after the caller's time is over.
const abandonIn = 20 * time.Second

// abandon sees to it that a step of which nobody knows whether it landed does not: a void commit on
// the first chain leaves it no place there, and so nowhere. If it has landed already, all is
// released.
func (b *batch) abandon(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abandonIn)
	defer cancel()
	first := b.moves[0]
	_, err := b.advance(ctx, first.issue, first.from, first.from.void(b.asks[0]))
	if errors.Is(err, ErrMoved) {
		var now tip
		if now, err = b.readPast(ctx, first.issue, first.from.pos); err == nil && now.oid == first.to.oid {
			var unreleased []error
			for _, m := range b.moves {
				unreleased = append(unreleased, b.release(ctx, m.to.lease(m.issue)))
			}
			err = errors.Join(unreleased...)
		}
	}

	if err != nil {
		return fmt.Errorf("give up the claim: %w", err)
	}

	return nil
}
