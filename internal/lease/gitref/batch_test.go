package gitref

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lease/leasetest"
)

// SwapRefs makes the hub a Mover.
func (h *hub) SwapRefs(ctx context.Context, _ claim.Issue, all []Swap) error {
	return h.request(ctx, "swap all", func() error {
		for _, s := range all {
			if h.at(s.Name, 0) != s.Before || h.commits[s.After].parent != s.Before {
				return ErrMoved
			}
		}
		for _, s := range all {
			h.moves[s.Name] = append(h.moves[s.Name], s.After)
		}
		return nil
	})
}

// numbered is an issue of the repository.
func numbered(n int) claim.Issue { return claim.Issue{Owner: "acme", Repo: "app", Number: n} }

func asksOf(name string, numbers ...int) []lease.Ask {
	var out []lease.Ask
	for _, n := range numbers {
		out = append(out, lease.Ask{Issue: numbered(n), Worker: who(name), TTL: ttl})
	}
	return out
}

func TestAcquireAll(t *testing.T) {
	h := newHub()
	s := h.store()
	if _, err := s.Acquire(t.Context(), asksOf("old", 2)[0]); err != nil {
		t.Fatal(err)
	}
	var held *lease.HeldError
	if _, err := s.AcquireAll(t.Context(), asksOf("ann", 1, 2, 3)); !errors.As(err, &held) || held.Lease.Issue != numbered(2) || held.Lease.Worker != who("old") {
		t.Fatalf("one is held: %v", err)
	}
	if len(h.commits) != 1 {
		t.Error("something was written for the others")
	}
	h.advance(ttl + DefaultGrace)
	h.calls = nil
	got, err := s.AcquireAll(t.Context(), asksOf("ann", 1, 2, 3))
	if err != nil || len(got) != 3 || got[1].Issue != numbered(2) || got[0].Token != 1 || got[1].Token != 2 {
		t.Fatalf("acquired %+v, %v", got, err)
	}
	if calls := strings.Join(h.calls, ","); calls != "get,get,get,commit,commit,commit,swap all" {
		t.Errorf("requests: %s", calls)
	}
	for _, l := range got {
		if _, err := s.Renew(t.Context(), l); err != nil {
			t.Errorf("renew: %v", err)
		}
	}
	again, err := s.AcquireAll(t.Context(), asksOf("ann", 3, 1))
	if err != nil || again[0].Token != got[2].Token {
		t.Errorf("asked again: %+v, %v, want the same leases", again, err)
	}
}

// TestAcquireAllUnsupported: without the step nothing is done, and the caller is told.
func TestAcquireAllUnsupported(t *testing.T) {
	h := newHub()
	single := struct{ Refs }{h}
	if _, err := New(single, Options{}).AcquireAll(t.Context(), asksOf("ann", 1, 2)); !errors.Is(err, errors.ErrUnsupported) || len(h.calls) > 0 {
		t.Errorf("%v after %v", err, h.calls)
	}
}

// TestAllOrNone: whatever is lost, read late or carried out later, and whoever else claims in between, who
// is told that it has a batch has all of it, and no issue has two holders.
func TestAllOrNone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHub()
		h.late = func() int { return max(0, rapid.IntRange(-3, 3).Draw(t, "late")) }
		h.before = func(string) {
			switch rapid.IntRange(0, 9).Draw(t, "meanwhile") {
			case 8:
				h.wire.Break(rapid.SampledFrom(leasetest.Faults).Draw(t, "fault"), 0)
			case 9:
				h.wire.Deliver()
			}
		}
		holders := map[int][]string{}
		for n := range rapid.IntRange(2, 5).Draw(t, "batches") {
			name := fmt.Sprint("w", n)
			numbers := rapid.SliceOfNDistinct(rapid.IntRange(1, 3), 1, 3, rapid.ID).Draw(t, "issues")
			_, err := h.store().AcquireAll(t.Context(), asksOf(name, numbers...))
			if err == nil {
				for _, k := range numbers {
					holders[k] = append(holders[k], name)
				}
			}
		}
		h.before, h.late = nil, nil
		h.wire.Calm()
		h.wire.Deliver()
		for k, names := range holders {
			got, held, err := h.store().Look(t.Context(), numbered(k))
			if len(names) != 1 || err != nil || !held || got.Worker != who(names[0]) {
				t.Fatalf("#%d is believed to be of %v and is %v's: %t, %v", k, names, got.Worker, held, err)
			}
		}
	})
}

// TestBatchGivenUp: a swap that lands after its worker gave up holds nothing, if GitHub could be reached.
func TestBatchGivenUp(t *testing.T) {
	for _, fault := range leasetest.Faults {
		h := newHub()
		ctx, cancel := context.WithCancel(t.Context())
		h.before = func(request string) {
			if request == "swap all" {
				h.wire.Break(fault, 0)
				cancel()
			}
		}
		if _, err := h.store().AcquireAll(ctx, asksOf("ann", 1, 2)); err == nil {
			t.Fatalf("%s: acquired without an answer", fault)
		}
		h.wire.Deliver()
		for _, k := range []int{1, 2} {
			if got, held, err := h.store().Look(t.Context(), numbered(k)); held || err != nil {
				t.Errorf("%s: #%d: %+v, %t, %v, want nobody", fault, k, got, held, err)
			}
		}
	}
}
