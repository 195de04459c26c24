package ledger

import (
	"context"
	"slices"
	"time"

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

// around is how far from a record of somebody's the same account's change of a label still counts as part of that step.
const around = 2 * time.Minute

// ByTool reports whether the change was made beside a record of the same account: their tool wrote both.
func (g Removal) ByTool(s claim.State) bool {
	return slices.ContainsFunc(s.Log, func(e claim.Entry) bool {
		return e.Record.Kind != claim.KindClaim && claim.SameLogin(e.Author, g.By) && e.Created.Sub(g.At).Abs() <= around
	})
}

// relieve brings labels in line. An issue that is stuck begins again if a person put it into the queue and that event was lost; what an
// account's tool wrote beside a record of the same account is no person's wish. A person who took needs:human-scope off, and whose event was lost, has
// counted attempts anew (spec.md#sweep); any other removal was a slip, and the label comes back.
func (w *sweeper) relieve(ctx context.Context, f lifecycle.Facts) (Repair, error) {
	see, able := w.forge.(Witness)
	none := Repair{Issue: f.Issue, Title: f.Title, URL: f.URL}
	if able && w.set.Rules.Wished(f) {
		for _, queue := range w.set.Rules.Scheme.Queues() {
			g, err := see.LastAddition(ctx, f.Issue, queue)
			if err != nil {
				return none, &UnknownError{f.Issue, err}
			}
			if !g.Person || !g.At.After(f.Log.Last) || g.ByTool(f.Log) {
				continue
			}
			again, err := w.overrides.restart(ctx, f, g.By, "put into the queue by hand")
			if err != nil {
				return none, err
			}
			if again {
				return w.labelling.rereadAndReconcile(ctx, f)
			}
			break
		}
	}
	if !able || !w.set.Rules.Relieved(f) {
		return w.labelling.reconcile(ctx, f)
	}
	last := f.Log.Attempts[len(f.Log.Attempts)-1].Release.At
	g, err := see.LastRemoval(ctx, f.Issue, w.set.Rules.Scheme.NeedsScope)
	did := false
	if err == nil && g.Person && !g.At.Before(last) {
		did, err = w.overrides.Reset(ctx, f.Issue, g.At, g.By)
	}
	switch {
	case err != nil:
		return none, &UnknownError{f.Issue, err}
	case did:
		return w.labelling.rereadAndReconcile(ctx, f)
	}
	return w.labelling.reconcile(ctx, f)
}
