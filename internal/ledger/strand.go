package ledger

import (
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Strand is an issue that nobody works on and that nothing will move: a person must.
type Strand struct {
	Issue claim.Issue
	Title string
	URL   string
	Why   string
}

// finish adds what only shows when all issues were looked at.
func (w *sweeper) finish() Report {
	for _, ring := range lifecycle.Cycles(w.waits) {
		first := Strand{Issue: ring[0]} // the ring of issues that wait for each other is told at its first
		for i, s := range w.waiting {   // by whatever spelling it was read
			if i.Same(ring[0]) {
				first = s
			}
		}

		first.Why = lifecycle.InCycle(lifecycle.Path(ring))
		w.report.Stranded = append(w.report.Stranded, first)
	}

	w.report.Stopped = w.stopped
	return w.report
}

// strand notes an issue that nothing will move.
func (w *sweeper) strand(r Repair) {
	if r.Stranded != "" {
		w.report.Stranded = append(w.report.Stranded, Strand{r.Issue, r.Title, r.URL, r.Stranded})
	}
}
