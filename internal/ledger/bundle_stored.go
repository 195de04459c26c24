package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/protocol"
)

// together takes all issues of the next repository in one atomic step of its lease store, and
// mirrors each lease. The leases count from before the store was asked. Where there is no such
// step, or only one issue, the error is errors.ErrUnsupported and nothing was done; any other is of
// part n.
func (t *taking) together(ctx context.Context, req Request) (n int, err error) {
	n = len(t.holds)
	group := t.parts[n:]
	for k, p := range group {
		if !p.Issue.SameRepo(group[0].Issue) {
			group = group[:k]
			break
		}
	}

	first := group[0].Ledger
	batcher, able := first.leases.store.(lease.Batcher)
	if !able || len(group) < 2 {
		return 0, errors.ErrUnsupported
	}

	admitted, asks := make([]protocol.Claim, len(group)), make([]lease.Ask, len(group))
	for k, p := range group {
		req.Judged = t.judged[n+k]
		op, err := p.Ledger.claim(p.Issue, req)
		if err != nil {
			return n + k, err
		}

		end := p.Ledger.runBy(ctx, p.Issue, req).through(op.Admission())
		if end.Err != nil {
			return n + k, end.Err
		}

		admitted[k], asks[k] = *end.Admitted, end.Admitted.Asked()
	}

	start := first.clock.Now()
	got, err := batcher.AcquireAll(ctx, asks)
	var held *lease.HeldError
	switch {
	case errors.As(err, &held):
		k := max(0, slices.IndexFunc(asks, func(a lease.Ask) bool { return a.Issue.Same(held.Lease.Issue) }))
		return n + k, admitted[k].HeldBy(held.Lease)
	case errors.Is(err, errors.ErrUnsupported):
		return 0, errors.ErrUnsupported
	case err != nil:
		return n, &UnknownError{
			Issue: asks[0].Issue,
			Err:   fmt.Errorf("%d issues of %s: %w", len(asks), asks[0].Issue.Slug(), err),
		}
	}

	for k, p := range group {
		r := run{
			Ledger: p.Ledger,
			ctx:    ctx,
			issue:  p.Issue,
			begun:  start,
		}
		h, err := taken(r.through(admitted[k].Granted(got[k])))
		if err != nil && !late(err) {
			for range group[k:] { // granted, and not in the log: they have to be released
				t.holds = append(t.holds, Hold{})
			}
			return n + k, err
		}

		t.holds = append(t.holds, h)
	}

	return n, nil
}
