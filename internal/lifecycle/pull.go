package lifecycle

import "github.com/label-state/label-state/internal/labels"

// merged is Facts.StateReason of a pull request that was merged.
const merged = "merged"

// pull is the projection of a pull request's number (spec.md#held-pull-requests): its labels stay
// as they are, but the claimed label and that of a person's hold follow the log. State is Claimed
// while a worker holds it, else None.
func (r Rules) pull(f Facts) (labels.Projection, string) {
	want, why := labels.Projection{Keep: true}, "nobody holds the pull request"
	workers := f
	workers.Log = withoutRivals(f.Log).Lasting()
	c, held := workers.Log.Holder()
	switch {
	case held && f.Open:
		want.State, want.Set = labels.Claimed, []string{r.Scheme.Claimed}
		_, why = r.live(c)
	case workers.Log.Records > 0 && !(f.Open && fresh(r, workers)):
		want.Clear = []string{r.Scheme.Claimed}
	}

	if !f.Open {
		why, _ = f.ending()
	}

	return personsLabel(r.Scheme, f, want, why)
}

// Merged reports whether the number is that of a pull request that was merged.
func (f Facts) Merged() bool { return f.PullRequest && !f.Open && f.StateReason == merged }
