package lifecycle

import "github.com/label-state/label-state/internal/labels"

// A Summary says where an issue stands by one snapshot, for people and programs that ask about it.
type Summary struct {
	State     labels.State  // what the log says; unless Unmanaged
	Unmanaged bool          // the log says nothing about the labels: they stay as they are
	Why       string        // the state in one clause
	Drift     labels.Change // what brings the labels in line
	DriftWhy  string        // that change in one clause
	Stranded  string        // why no rule moves the issue on, so that a person must; empty when one does
}

// Summary returns where the issue of f stands, as the next sweep leaves it: holds whose time is
// over count as ended, as they do for the verdict.
func (r Rules) Summary(f Facts) Summary {
	f.Log = f.Log.Ended(r.Over(f), f.ExpiryOutcome, f.Now)
	want, why := r.Label(f)
	s := Summary{
		State:     want.State,
		Unmanaged: want.Keep && want.State == labels.None,
		Why:       why,
		Drift:     r.Scheme.Change(f.Labels, want),
	}

	if !s.Drift.Empty() {
		s.DriftWhy = r.Explain(f, s.Drift)
	}

	if r.Stuck(f) {
		s.Stranded = why
	}

	return s
}
