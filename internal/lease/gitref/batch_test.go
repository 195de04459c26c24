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
	if _, err := s.AcquireAll(t.Context(), asksOf("ann", 1, 2, 3)); !errors.As(err, &held) ||
		held.Lease.Issue != numbered(2) || held.Lease.Worker != who("old") {
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

	asks := asksOf("ann", 3, 1)
	asks[1].TTL = 2 * ttl
	again, err := s.AcquireAll(t.Context(), asks)
	l, _, _ := s.Look(t.Context(), numbered(1))
	if err != nil || again[0].Token != got[2].Token || l.TTL != 2*ttl {
		t.Errorf("asked again: %+v, %v, want the same leases, for as long as was asked; shown: %+v", again, err, l)
	}
}

// TestAcquireAllTakesOver: another process of the worker has the leases if it names their tokens.
func TestAcquireAllTakesOver(t *testing.T) {
	s := newHub().store()
	asks := asksOf("ann", 1, 2)
	before, err := s.AcquireAll(t.Context(), asks)
	if err != nil {
		t.Fatal(err)
	}

	for n := range asks {
		asks[n].Nonce, asks[n].Takes = "other", before[n].Token
	}

	got, err := s.AcquireAll(t.Context(), asks)
	if err != nil || got[0].Token <= before[0].Token || got[1].Nonce != "other" {
		t.Errorf("%+v, %v, want the leases of %+v", got, err, before)
	}
}

// TestAcquireAllLostRace: the last of several chains moves while the commits are made. It is looked
// at before the swap is asked for again, and the answer names its holder.
func TestAcquireAllLostRace(t *testing.T) {
	for _, plain := range []bool{false, true} {
		h := newHub()
		h.plain = plain
		swaps := 0
		h.before = func(request string) {
			if request != "swap all" {
				return
			}
			if swaps++; swaps == 1 {
				if _, err := h.store().Acquire(t.Context(), asksOf("bob", 3)[0]); err != nil {
					t.Fatal(err)
				}
			}
		}

		_, err := h.store().AcquireAll(t.Context(), asksOf("ann", 1, 2, 3))
		var held *lease.HeldError
		if !errors.As(err, &held) || held.Lease.Issue != numbered(3) || swaps != 1 || plain && len(h.slept) > 0 {
			t.Errorf("plain %t: %v after %d swaps, want that bob holds #3 after one", plain, err, swaps)
		}

		for _, n := range []int{1, 2} {
			if _, held, err := h.store().Look(t.Context(), numbered(n)); held || err != nil {
				t.Errorf("plain %t: #%d: held %t, %v", plain, n, held, err)
			}
		}
	}
}

// TestNoSwap: on a server without the step nobody is told that it has a lease, and the error says
// what to do.
func TestNoSwap(t *testing.T) {
	h := newHub()
	s := New(unswapping{h}, Options{Sleep: h.store().sleep})
	one := func() error { _, err := s.Acquire(t.Context(), asksOf("ann", 1)[0]); return err }
	all := func() error { _, err := s.AcquireAll(t.Context(), asksOf("ann", 1, 2)); return err }
	probe := func() error { return s.Probe(t.Context(), numbered(1)) }
	for name, ask := range map[string]func() error{"one": one, "several": all, "probe": probe} {
		var denied *lease.DeniedError
		if err := ask(); !errors.As(err, &denied) || !errors.Is(err, ErrNoSwap) ||
			!strings.Contains(denied.Remedy, "claim.lease") {
			t.Errorf("%s: %v, want that this server cannot, and what to do", name, err)
		}
	}

	if len(h.moves) > 0 {
		t.Errorf("moved %v", h.moves)
	}
}

// unswapping is a hub that cannot swap.
type unswapping struct{ *hub }

func (unswapping) SwapRefs(context.Context, claim.Issue, ...Swap) error { return ErrNoSwap }

func (unswapping) CanSwapRefs(context.Context) error { return ErrNoSwap }

// TestAllOrNone: whatever is lost, read late or carried out later, and whoever else claims in
// between, who is told that it has a batch has all of it, and no issue has two holders.
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

// TestBatchNotGivenUp: a batch of which nobody knows whether it landed, nor can be given up, says so.
func TestBatchNotGivenUp(t *testing.T) {
	h := newHub()
	h.before = func(request string) {
		if strings.HasPrefix(request, "swap") {
			h.wire.Break(leasetest.Late, 0)
		}
	}

	if _, err := h.store().AcquireAll(t.Context(), asksOf("ann", 1, 2)); err == nil ||
		!strings.Contains(err.Error(), "give up the claim: ") ||
		!strings.HasPrefix(err.Error(), "acquire acme/app#1 and 1 more: move 2 references: ") {
		t.Error(err)
	}
}

// TestBatchRenewalStands: leases that a process has, or takes over from another one of its worker,
// stay the worker's when nobody knows whether that landed.
func TestBatchRenewalStands(t *testing.T) {
	for _, nonce := range []string{"", "other"} {
		h := newHub()
		s := h.store()
		asks := asksOf("ann", 1, 2)
		got, err := s.AcquireAll(t.Context(), asks)
		if err != nil {
			t.Fatal(err)
		}

		if nonce != "" {
			for n := range asks {
				asks[n].Nonce, asks[n].Takes = nonce, got[n].Token
			}
		}

		ctx, cancel := context.WithCancel(t.Context())
		h.before = func(request string) {
			if request == "swap all" {
				h.wire.Break(leasetest.Lost, 0)
				cancel()
			}
		}
		if _, err := s.AcquireAll(ctx, asks); err == nil {
			t.Fatal("the answer was not lost")
		}

		h.before = nil
		h.wire.Calm()
		h.wire.Deliver()
		for _, n := range []int{1, 2} {
			if got, held, err := s.Look(t.Context(), numbered(n)); err != nil || !held || got.Worker != who("ann") {
				t.Errorf("%q: #%d is %v's: %t, %v", nonce, n, got.Worker, held, err)
			}
		}
	}
}

// TestBatchGivenUp: a swap that lands after its worker gave up holds nothing, if GitHub could be
// reached.
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
