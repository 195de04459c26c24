package leasetest

import (
	"errors"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
)

// RealTime holds a store against the clock of its server, which no test can turn: a lease of ttl
// ends by itself, and not before its time.
func RealTime(t *testing.T, s lease.Store, ttl time.Duration) {
	t.Helper()
	ask := lease.Ask{
		Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: 1},
		Worker: claim.Worker{Codename: "ann", FiringID: "1"}, TTL: ttl,
	}
	begun := time.Now()
	first, err := s.Acquire(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}

	ask.Worker.Codename = "bob"
	second, err := s.Acquire(t.Context(), ask)
	for errors.As(err, new(*lease.HeldError)) && time.Since(begun) < ttl+30*time.Second {
		second, err = s.Acquire(t.Context(), ask)
	}

	took := time.Since(begun)
	switch {
	case err != nil:
		t.Errorf("acquire: %v after %s", err, took)
	case took < ttl:
		t.Errorf("taken over after %s", took)
	case second.Token <= first.Token:
		t.Errorf("token %d after %d", second.Token, first.Token)
	}
}
