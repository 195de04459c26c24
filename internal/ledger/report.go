package ledger

import (
	"slices"
	"time"
)

// Lookback is how far back a sweep should look at issues without any lifecycle label: longer than
// any pause between two sweeps, so that a claim whose labels never came is found.
const Lookback = 48 * time.Hour

// Complete reports whether everything was looked at and every write succeeded.
func (r Report) Complete() bool { return r.Failed == 0 && len(r.Skipped) == 0 }

// Totals are how many holds were released, how many of them because their time was over, and how
// many issues had their labels, or a record that was missing, brought in line.
func (r Report) Totals() (ended, swept, repaired int) {
	for _, f := range r.Findings {
		ended += len(f.Ended)
		swept += f.Swept
		if f.Err == nil && f.mended() {
			repaired++
		}
	}

	return ended, swept, repaired
}

// Shows reports whether a finding is worth telling: an end, a change, or a failure.
func (f Finding) Shows() bool { return f.Err != nil || len(f.Ended) > 0 || f.mended() }

// Moved reports whether the lifecycle labels are others than before.
func (f Finding) Moved() bool { return !slices.Equal(f.Was, f.Is) }

// mended reports whether labels, or a record that was missing, were brought in line.
func (f Finding) mended() bool { return !f.Change.Empty() || f.Mirrored != nil }
