package gitref

import (
	"errors"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/lease"
)

// TestGrace: a lease that ran out is left alone for the grace, and not a second longer. Who takes it then says whose it
// was; what was released has nobody left to end.
func TestGrace(t *testing.T) {
	t.Run("of its own", func(t *testing.T) { leftAlone(t, 2*DefaultGrace, 2*DefaultGrace) })
	t.Run("none", func(t *testing.T) { leftAlone(t, 0, DefaultGrace) })
}

func leftAlone(t *testing.T, given, grace time.Duration) {
	t.Helper()
	h := newHub()
	s := New(h, Options{Grace: given})
	a := askOf("ann")
	if _, err := s.Acquire(t.Context(), a); err != nil {
		t.Fatal(err)
	}

	h.advance(a.TTL + grace - time.Second)
	if _, err := s.Acquire(t.Context(), askOf("bob")); !errors.As(err, new(*lease.HeldError)) {
		t.Errorf("within the grace: %v", err)
	}

	h.advance(time.Second)
	for _, c := range []struct{ name, ended string }{{"bob", "ann:f-ann"}, {"cleo", ""}} { // bob releases
		l, err := s.Acquire(t.Context(), askOf(c.name))
		now, unread := s.read(t.Context(), seven)
		if err = errors.Join(err, unread, s.Release(t.Context(), l)); err != nil || now.prev != c.ended {
			t.Errorf("after it: %v, %s has ended the lease of %q, want %q", err, c.name, now.prev, c.ended)
		}
	}
}
