package gitref

import (
	"context"
	"fmt"

	"github.com/label-state/label-state/internal/lease"
)

var _ lease.Pusher = (*Store)(nil)

// Push implements lease.Pusher: one snapshot. The commit is for git to make, dated by the clock of
// whatever machine that is, so it extends nothing: it hands on the date of the last commit that the
// server dated (stores.md#references). It must be a new one, because git sends no condition for a
// reference that it does not move.
func (s *Store) Push(ctx context.Context, l lease.Lease) (lease.Step, error) {
	t, err := s.read(ctx, l.Issue)
	if err == nil && !t.is(l) {
		err = lease.ErrLost
	}

	if err != nil {
		return lease.Step{}, fmt.Errorf("push under %s: %w", l.Issue, named(err))
	}
	next := t.then(kindPush)
	next.dated = t.since

	return lease.Step{Ref: RefName(l.Issue), Before: t.oid, Message: next.encode()}, nil
}
