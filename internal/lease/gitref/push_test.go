package gitref

import (
	"errors"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/lease"
)

// TestPushStep: the step goes from the own tip, costs one snapshot and extends nothing, however
// many pushes follow each other and whatever dates their commits have.
func TestPushStep(t *testing.T) {
	h := newHub()
	s := h.store()
	l, err := s.Acquire(t.Context(), askOf("ann"))
	spent(t, h, "claim", err, "get commit swap")

	for range 3 {
		h.advance(ttl / 4)
		step, err := s.Push(t.Context(), l)
		spent(t, h, "push", err, "get")
		if step.Ref != RefName(seven) || step.Before != h.at(step.Ref, 0) {
			t.Fatalf("step %+v, want one from %s", step, h.at(RefName(seven), 0))
		}

		h.now = h.now.Add(24 * time.Hour) // the pushing machine's clock
		h.plant(step.Ref, step.Message)
		h.now = h.now.Add(-24 * time.Hour)
		got, held, err := s.Look(t.Context(), seven)
		if err != nil || !held || got.Token != l.Token || !got.Expires.Equal(l.Expires) {
			t.Errorf("after it: %+v, %t, %v, want the lease as it was: %+v", got, held, err, l)
		}

		h.calls = nil
	}

	renewed, err := s.Renew(t.Context(), l)
	if err != nil || !renewed.Expires.After(l.Expires) {
		t.Errorf("renew: %+v, %v", renewed, err)
	}
}

// TestPushOfALostLease: there is no step for who does not have the lease, or shows another token.
func TestPushOfALostLease(t *testing.T) {
	h := newHub()
	s := h.store()
	l := happen(t, s, []string{"ann", "claims"}, lease.Lease{})
	for name, other := range map[string]lease.Lease{
		"another worker": {Issue: seven, Worker: who("bob")},
		"another token":  {Issue: seven, Worker: l.Worker, Token: l.Token + 1},
	} {
		if step, err := s.Push(t.Context(), other); !errors.Is(err, lease.ErrLost) {
			t.Errorf("%s: %+v, %v, want that it is lost", name, step, err)
		}
	}

	if err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}

	if step, err := s.Push(t.Context(), l); !errors.Is(err, lease.ErrLost) {
		t.Errorf("released: %+v, %v, want that it is lost", step, err)
	}
}
