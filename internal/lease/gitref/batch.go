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

func (b *batch) acquire(ctx context.Context) error {
	for range races {
		if err := b.prepare(ctx); err != nil {
			return err
		}
		err := b.swap(ctx)
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
		t, err := b.commit(ctx, b.tips[n], a)
		if err != nil {
			return err
		}
		b.after = append(b.after, t)
	}
	return nil
}

func (b *batch) commit(ctx context.Context, t tip, a lease.Ask) (tip, error) {
	next := t.claim(a)
	if t.owned() && t.worker == a.Worker {
		next = t.then(kindRenew)
		next.ttl = a.TTL
	}
	message := next.encode()
	if back, err := decode(message); err != nil || back.worker != next.worker {
		return tip{}, fmt.Errorf("write lease: it would not be read back: %w", err)
	}
	made, err := b.refs.CreateCommit(ctx, a.Issue, t.oid, message)
	if err != nil {
		return tip{}, fmt.Errorf("write lease: %w", err)
	}
	return tip{state: next, oid: made.OID, since: made.Date, now: made.Date, repoID: t.repoID}, nil
}

// swap moves all references and finds out whether it did, like that of one. Since all move or none does,
// the first tells of all.
func (b *batch) swap(ctx context.Context) error {
	all := make([]Swap, len(b.asks))
	for n, a := range b.asks {
		all[n] = Swap{Name: RefName(a.Issue), Before: b.tips[n].oid, After: b.after[n].oid, RepoID: b.tips[n].repoID}
	}
	at := b.asks[0].Issue
	err := b.mover.SwapRefs(ctx, at, all)
	if err == nil || errors.Is(err, ErrMoved) || errors.Is(err, errors.ErrUnsupported) || lease.Rejected(err) {
		return err
	}
	for n := range repeats {
		if cancelled := b.sleep(ctx, backoff(n)); cancelled != nil {
			break
		}
		if b.mover.SwapRefs(ctx, at, all) == nil {
			return nil
		}
		if now, unread := b.read(ctx, at); unread == nil && now.pos > b.tips[0].pos {
			return landed(now, b.after[0])
		}
	}
	return openError{fmt.Errorf("move %d references: %w", len(all), err)}
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
			err = b.releaseAll(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("give up the claims: %w", err)
	}
	return nil
}

func (b *batch) releaseAll(ctx context.Context) error {
	var all []error
	for n, a := range b.asks {
		all = append(all, b.release(ctx, b.after[n].lease(a.Issue)))
	}
	return errors.Join(all...)
}
