package lifecycle

import "github.com/label-state/label-state/internal/labels"

// leftovers are what a bundle's claim that was released before any work leaves to put right. In everything
// else labels say what they would if the claim had never been.
type leftovers struct {
	before labels.Projection // what the issue showed before the claim
	told   bool              // the claim says so; without it before is nothing
	left   bool              // the labels still are as the claim made them
}

// leftoversOf returns what the bundle's claim that was undone last has left behind; undone is false when there is
// no such claim, or when since then somebody has held the issue or opened a pull request for it.
func leftoversOf(r Rules, f Facts) (l leftovers, undone bool) {
	c, undone := f.Log.LastUndone()
	_, held := f.Log.Holder()
	_, _, shipped := f.shipped()
	_, awaited := r.awaited(f)
	if !undone || held || shipped || awaited || !f.Open || f.PullRequest {
		return leftovers{}, false
	}
	l.before, l.told = r.Scheme.Before(c.Record.Was, c.Record.Bundle)
	claimed := labels.Has(f.Labels, r.Scheme.Claimed)
	bare := l.told && l.before.State != labels.None && len(r.Scheme.Of(f.Labels)) == 0 // a late write took the last one away
	l.left = (claimed || bare) && !fresh(r, f)
	return l, true
}

// tidy puts right what is left of the claim in the projection that the issue would show without it.
func (l leftovers) tidy(want labels.Projection, why string) (labels.Projection, string) {
	const because = "a claim for a bundle was undone"
	switch {
	case l.left && l.told:
		return l.before, because
	case l.left && (want.Keep || want.State == labels.Claimed):
		return show(labels.Available, because)
	case !l.left: // a late write may have put the bundle's label on after all
		want.Clear = l.before.Clear
	}
	return want, why
}
