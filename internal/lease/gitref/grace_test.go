package gitref

import (
	"errors"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/lease"
)

// TestGrace: a lease that ran out is left alone for the grace, and not a second longer.
func TestGrace(t *testing.T) {
	h := newHub()
	s := h.store()
	a := askOf("ann")
	if _, err := s.Acquire(t.Context(), a); err != nil {
		t.Fatal(err)
	}

	h.advance(a.TTL + DefaultGrace - time.Second)
	if _, err := s.Acquire(t.Context(), askOf("bob")); !errors.As(err, new(*lease.HeldError)) {
		t.Errorf("within the grace: %v", err)
	}

	h.advance(time.Second)
	if _, err := s.Acquire(t.Context(), askOf("bob")); err != nil {
		t.Errorf("after it: %v", err)
	}
}
