package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Minimizer is a Forge that minimizes comments as outdated: GitHub folds them, and they count as before.
type Minimizer interface {
	// Minimize minimizes comments and returns how many. One that is minimized, or gone, is success.
	Minimize(ctx context.Context, comments []claim.Comment) (int, error)
}

// minimizedPerSweep bounds what one sweep minimizes; the next goes on.
const minimizedPerSweep = 100

// collectOutdated collects the comments of ended holds, as the scan shows them: an end is for ever, so its age does not matter.
func (w *sweeper) collectOutdated(f lifecycle.Facts) {
	if !w.set.Minimize || w.s.DryRun {
		return
	}
	for _, c := range f.Log.Outdated() {
		if c.Node != "" && !c.Minimized && len(w.outdated) < minimizedPerSweep {
			w.outdated = append(w.outdated, c)
		}
	}
}

// minimize folds what was collected. It is for people's eyes alone, so that its failure does not make the sweep incomplete.
func (w *sweeper) minimize(ctx context.Context) {
	forge, able := w.forge.(Minimizer)
	if !able || len(w.outdated) == 0 || w.stopped != nil {
		return
	}
	w.report.Minimized, w.report.NotMinimized = forge.Minimize(ctx, w.outdated)
}
