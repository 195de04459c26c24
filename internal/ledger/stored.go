package ledger

import (
	"context"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// Strict returns a ledger whose holds are decided by a lease store of that kind. The log and the
// labels stay the readable mirror; where they disagree the store is believed
// (stores.md#lease-stores). Claims that the log had decided before stand by the log's rules until
// they end.
func (l *Ledger) Strict(s lease.Store, kind string) *Ledger {
	strict := *l
	strict.leases = stored{s, kind}
	return &strict
}

// stored is the lease store that decides; the zero value is none, and the log decides.
type stored struct {
	store lease.Store
	name  string // of the kind of store, in records
}

// IsStrict reports whether a lease store decides.
func (l *Ledger) IsStrict() bool { return l.leases.store != nil }

// look returns the lease that the store has for the issue, the zero lease when none stands. The
// error is an *UnknownError.
func (s stored) look(ctx context.Context, i claim.Issue) (lease.Lease, error) {
	if s.store == nil {
		return lease.Lease{}, nil
	}
	got, held, err := s.store.Look(ctx, i)
	switch {
	case err != nil:
		return lease.Lease{}, &UnknownError{Issue: i, Err: s.named(err)}
	case !held:
		return lease.Lease{}, nil
	}

	return got, nil
}

// end releases the lease that a record ends, before the log says so: that of the record's key, with
// a nonce only that of the process. lease.ErrLost says that the record is of a process whose lease
// another one has taken over.
func (s stored) end(ctx context.Context, i claim.Issue, r claim.Record) error {
	got, held, err := s.store.Look(ctx, i)
	switch {
	case err != nil:
		return err
	case !held || got.Worker != r.Worker || r.Nonce != "" && r.Nonce != got.Nonce:
		return nil
	case r.Nonce == "" && r.Token != 0 && r.Token != got.Token:
		return fmt.Errorf("another process of the run has taken it over: %w", lease.ErrLost)
	}

	return s.store.Release(ctx, got)
}

// known are the numbers of the repository's issues that may be held though neither log nor labels
// say so: the worker of such an issue died between the store and the log.
func (s stored) known(ctx context.Context, r claim.Repo) (map[int]bool, error) {
	lister, ok := s.store.(lease.Lister)
	if !ok {
		return nil, nil
	}

	numbers, err := lister.Known(ctx, r.Issue(1))
	out := make(map[int]bool, len(numbers))
	for _, n := range numbers {
		out[n] = true
	}

	return out, s.named(err)
}

// named says which store an error is of.
func (s stored) named(err error) error {
	if err == nil {
		return nil
	}
	return &lease.Error{Kind: s.name, Err: err}
}
