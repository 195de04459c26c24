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

// Probe implements lease.Prober: it makes a commit that no reference will ever point at. Who may make
// one may also move references: both are contents: write.
func (s *Store) Probe(ctx context.Context, i claim.Issue) error {
	if _, err := s.refs.CreateCommit(ctx, i, "", subject+"probe\n"); err != nil {
		return fmt.Errorf("write a commit: %w", named(err))
	}
	return nil
}

// Known implements lease.Lister: every issue that ever had a chain, in one request. Without a Namer it
// knows none.
func (s *Store) Known(ctx context.Context, i claim.Issue) ([]int, error) {
	namer, ok := s.refs.(Namer)
	if !ok {
		return nil, nil
	}
	names, err := namer.RefNames(ctx, i, strings.TrimSuffix(prefix, "/"))
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

// named says what a token lacks that may not write.
func named(err error) error {
	var no interface{ Forbidden() bool }
	if errors.As(err, &no) && no.Forbidden() {
		return &lease.DeniedError{Remedy: "give the token contents: write, which leases in git references need besides issues: write", Err: err}
	}
	return err
}
