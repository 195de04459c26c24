package ledger

import (
	"cmp"
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A decider decides who holds an issue: the comments of its log, or a lease store that the log and the labels mirror
// (stores.md#lease-stores). All that the two do differently is here.
type decider interface {
	// look lays over a snapshot of the log who holds the issue, and returns the lease that stands, the zero lease when
	// none does. The error is an *UnknownError.
	look(ctx context.Context, f lifecycle.Facts) (lifecycle.Facts, lease.Lease, error)
	// steps lead from an attempt that was admitted to a hold.
	steps(a *attempt) []step
	// between is look between two of these steps.
	between(ctx context.Context, a *attempt, f lifecycle.Facts) (lifecycle.Facts, error)
	// complete adds to the hold of an attempt that has won what only the decider knows.
	complete(a *attempt, h Hold) Hold
	// extend extends the lease that c has before c's comment is edited. lease.ErrLost says that it is somebody else's.
	extend(ctx context.Context, c claim.Claim, has lease.Lease) (lease.Lease, error)
	// end releases the lease that a record ends, before the log says so: that of the record's key, with a nonce only that of the process.
	// lease.ErrLost says that the record is of a process whose lease another one has taken over.
	end(ctx context.Context, i claim.Issue, r claim.Record) error
	// known are the numbers of the repository's issues that may be held though neither log nor labels say so.
	known(ctx context.Context, r Repo) (map[int]bool, error)
}

// comments is the decider without a lease store: the log alone.
type comments struct{}

func (comments) look(_ context.Context, f lifecycle.Facts) (lifecycle.Facts, lease.Lease, error) {
	return f, lease.Lease{}, nil
}

func (comments) steps(a *attempt) []step {
	return []step{a.post, a.rank, a.confirm, a.own}
}

func (comments) between(_ context.Context, _ *attempt, f lifecycle.Facts) (lifecycle.Facts, error) {
	return f, nil
}

func (comments) complete(_ *attempt, h Hold) Hold { return h }

func (comments) extend(_ context.Context, _ claim.Claim, has lease.Lease) (lease.Lease, error) {
	return has, nil
}

func (comments) end(context.Context, claim.Issue, claim.Record) error { return nil }

func (comments) known(context.Context, Repo) (map[int]bool, error) { return nil, nil }

// IsStrict reports whether a lease store decides.
func (bs *base) IsStrict() bool { return bs.store != "" }

// decides says why this ledger is not the one to act on a claim, or nil.
func (bs *base) decides(i claim.Issue, c claim.Claim) error {
	if c.Record.Lease == "" || c.Record.Lease == bs.store {
		return nil
	}
	return &StoreError{Issue: i, Hold: c.Record.Lease, Here: cmp.Or(bs.store, lease.Comments)}
}
