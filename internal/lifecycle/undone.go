package lifecycle

import (
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// undone puts right what a bundle's claim has left behind that was released before any work. want
// and why are what the issue would show if the claim had never been, and stay where there is no
// such claim, or where since then somebody has held the issue or opened a pull request for it. f
// has the whole log.
func (r Rules) undone(f Facts, want labels.Projection, why string) (labels.Projection, string) {
	const because = "a claim for a bundle was undone"
	c, _ := f.Log.LastEnded(func(claim.Claim) bool { return true })
	_, held := f.Log.Holder()
	_, _, shipped := f.shipped()
	awaited := !r.staged() && slices.ContainsFunc(f.PRs, f.pending)
	if !c.Undone() || held || shipped || awaited || !f.Open {
		return want, why
	}

	// what the issue showed before the claim, if the claim says so
	before, told := r.Scheme.Before(c.Record.Was, c.Record.Bundle)
	claimed := labels.Has(f.Labels, r.Scheme.Claimed)

	// a late write took the last one away
	bare := told && before.State != labels.None && len(r.Scheme.Of(f.Labels)) == 0
	// the labels still are as the claim made them
	left := (claimed || bare) && !fresh(r, f)
	switch {
	case left && told:
		return before, because
	case left && (want.Keep || want.State == labels.Claimed):
		return show(labels.Available, because)
	case !left: // a late write may have put the bundle's label on after all
		want.Clear = before.Clear
	}

	return want, why
}
