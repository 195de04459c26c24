package ledger

import (
	"context"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// mend works from a snapshot of its own: the scan's may be minutes old, and a heartbeat since
// then must not be overruled. What is not written needs no second snapshot. Once the sweep has
// stopped, nothing is written.
func (w *sweeper) mend(ctx context.Context, scanned lifecycle.Facts, vote *Vote) Finding {
	if w.s.DryRun {
		return w.plan(scanned, vote)
	}
	shown := w.set.Rules.Scheme.Shown(scanned.Labels)
	out := Finding{Repair: Repair{
		Issue: scanned.Issue,
		Title: scanned.Title,
		URL:   scanned.URL,
		Was:   shown,
		Is:    shown,
	}}
	if out.Err = w.stopped; out.Err != nil {
		return out
	}

	var answer *protocol.Answer
	if vote != nil {
		answer = said(*vote)
	}

	end := w.Run(ctx, scanned.Issue, protocol.NewTend(w.config(), scanned.Issue, w.s.By, answer, w.token()))
	out.Ended, out.Swept, out.Mirrored, out.Err = end.Ended, end.Swept, end.Mirrored, end.Err
	if end.Repair.URL != "" { // there was a snapshot
		out.Repair = end.Repair
	}

	if end.Answered {
		out.Answered = vote
	}

	return out
}

// Foreseen says what Reconcile would do by the snapshot.
func (l *Ledger) Foreseen(f lifecycle.Facts) Finding { return l.plan(f, nil) }

// plan says what mend would do.
func (l *Ledger) plan(f lifecycle.Facts, vote *Vote) Finding {
	ended, was := l.set.Rules.Over(f), l.set.Rules.Scheme.Shown(f.Labels)
	swept := len(ended)
	if vote != nil {
		f = after(f, *vote)
	}

	if c, _, delivered := l.set.Rules.Delivered(f); delivered {
		ended, swept = []claim.Claim{c}, 0
	}
	then := without(f, ended).Relinked()
	p, _ := l.set.Rules.Label(then)
	out := Finding{
		Repair: Repair{
			Issue:      f.Issue,
			Title:      f.Title,
			URL:        f.URL,
			Was:        was,
			Projection: p,
		},
		Ended:    ended,
		Swept:    swept,
		Answered: vote,
	}
	out.Change = l.set.Rules.Scheme.Change(f.Labels, p)
	out.Why = l.set.Rules.Explain(then, out.Change)
	if c, missing := protocol.Unmirrored(f); missing {
		out.Mirrored = &c
	}

	out.Stranded = l.set.Rules.Stranded(then)
	out.Is = l.set.Rules.Scheme.Shows(p)
	if p.Keep {
		kept := slices.DeleteFunc(slices.Clone(f.Labels),
			func(name string) bool { return slices.Contains(out.Change.Remove, name) })
		out.Is = l.set.Rules.Scheme.Shown(append(kept, out.Change.Add...))
	}

	return out
}

// without is the snapshot as if records had ended the claims.
func without(f lifecycle.Facts, ended []claim.Claim) lifecycle.Facts {
	f.Log = f.Log.Ended(ended, f.ExpiryOutcome, f.Now)
	return f
}
