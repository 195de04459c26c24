package leasetest

import (
	"slices"
	"testing"

	"github.com/label-state/label-state/internal/lease"
)

// probed: a store that says whether it could be used has used nothing up.
func probed(t *testing.T, x *exam) {
	ann, bob := x.pair()
	p, able := ann.Store.(lease.Prober)
	if !able {
		return
	}

	if err := p.Probe(t.Context(), ann.ask.Issue); err != nil {
		t.Fatalf("probe: %v", err)
	}
	ann.mustBeFree(t)
	l := bob.mustWin(t)
	if err := p.Probe(t.Context(), ann.ask.Issue); err != nil {
		t.Errorf("probe of an issue that is held: %v", err)
	}

	bob.mustStand(t, l)
}

// listed: what is held is listed for its repository, in any case of its letters, and for no other.
func listed(t *testing.T, x *exam) {
	ann, _ := x.pair()
	lister, able := ann.Store.(lease.Lister)
	if !able {
		return
	}

	ann.mustWin(t)
	i := ann.ask.Issue
	loud := i
	loud.Owner = "ACME"

	for _, of := range []bool{true, false} {
		asked := loud
		if !of {
			asked.Repo = i.Repo + "-docs"
		}

		numbers, err := lister.Known(t.Context(), asked)
		if of && (err != nil || !slices.Contains(numbers, i.Number)) {
			t.Errorf("known of %s: %v, %v, want %d among them", asked.Slug(), numbers, err, i.Number)
		}

		if !of && slices.Contains(numbers, i.Number) {
			t.Errorf("known of %s: %v", asked.Slug(), numbers)
		}
	}
}
