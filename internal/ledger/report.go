package ledger

import (
	"slices"
	"time"
)

// Lookback is how far back a sweep should look at issues without any lifecycle label: longer than any pause between two
// sweeps, so that a claim whose labels never came is found.
const Lookback = 48 * time.Hour

// Complete reports whether everything was looked at and every write succeeded.
func (r Report) Complete() bool { return r.Failed == 0 && len(r.Skipped) == 0 }

// GaveBack is how many holds were released.
func (r Report) GaveBack() int {
	n := 0
	for _, f := range r.Findings {
		n += len(f.Ended)
	}
	return n
}

// Swept is how many holds were released because their time was over.
func (r Report) Swept() int {
	n := 0
	for _, f := range r.Findings {
		n += f.Swept
	}
	return n
}

// Repaired is how many issues had their labels, or a record that was missing, brought in line.
func (r Report) Repaired() int {
	n := 0
	for _, f := range r.Findings {
		if f.Err == nil && f.mended() {
			n++
		}
	}
	return n
}

// Shows reports whether a finding is worth telling: an end, a change, or a failure.
func (f Finding) Shows() bool { return f.Err != nil || len(f.Ended) > 0 || f.mended() }

// Moved reports whether the lifecycle labels are others than before.
func (f Finding) Moved() bool { return !slices.Equal(f.Was, f.Is) }

func (f Finding) mended() bool { return !f.Change.Empty() || f.Mirrored != nil }
