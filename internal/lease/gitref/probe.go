package gitref

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// Probe implements lease.Prober: it asks whether the server can swap references, and makes a commit
// that no reference will ever point at. Who may make one may also move references: both are
// contents: write.
func (s *Store) Probe(ctx context.Context, i claim.Issue) error {
	if err := s.refs.CanSwapRefs(ctx); err != nil {
		return named(err)
	}
	if _, err := s.refs.CreateCommit(ctx, i, "", subject+"probe\n"); err != nil {
		return fmt.Errorf("write a commit: %w", named(err))
	}

	return nil
}

// Known implements lease.Lister: every issue that ever had a chain, in one request.
func (s *Store) Known(ctx context.Context, i claim.Issue) ([]int, error) {
	names, err := s.refs.RefNames(ctx, i, strings.TrimSuffix(prefix, "/"))
	if err != nil {
		return nil, fmt.Errorf("list leases of %s: %w", i.Slug(), named(err))
	}

	var out []int
	for _, name := range names {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, prefix)); err == nil {
			out = append(out, n)
		}
	}

	return out, nil
}

// named says what a person can do about a server that cannot swap references, or a token that may
// not write. A step of which nobody knows whether it was carried out stays one.
func named(err error) error {
	if errors.Is(err, ErrNoSwap) {
		return &lease.DeniedError{Remedy: "set claim.lease to comments, or to a store of its own: leases in git references need updateRefs of GitHub's GraphQL API", Err: err}
	}
	if errors.As(err, new(openError)) {
		return err
	}

	if errors.Is(err, ErrRefused) {
		return &lease.DeniedError{Remedy: "let the token's login create and update references below " + prefix +
			", or set claim.lease to comments: an archived repository or a rule of it may forbid it", Err: err}
	}

	var no interface{ Forbidden() bool }
	if errors.As(err, &no) && no.Forbidden() {
		return &lease.DeniedError{Remedy: "give the token contents: write, which leases in git references need besides issues: write", Err: err}
	}

	return err
}
