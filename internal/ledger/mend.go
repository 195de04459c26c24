package ledger

import (
	"context"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// mend works from a snapshot of its own: the scan's may be minutes old, and a heartbeat since
// then must not be overruled. What is not written needs no second snapshot.
func (w *sweeper) mend(ctx context.Context, scanned lifecycle.Facts, vote *Vote) Finding {
	if w.s.DryRun {
		return w.plan(scanned, vote)
	}
	shown := w.set.Rules.Scheme.Shown(scanned.Labels)
	out := Finding{Repair: Repair{Issue: scanned.Issue, Title: scanned.Title, URL: scanned.URL, Was: shown, Is: shown}}
	f, err := w.snapshots.Look(ctx, scanned.Issue)
	if err != nil {
		out.Err = err
		return out
	}
	out.Mirrored, out.Err = w.remirror(ctx, f)
	if out.Err == nil && out.Mirrored != nil { // the record above took its time
		f, out.Err = w.snapshots.Look(ctx, f.Issue)
	}
	if out.Err != nil {
		return out
	}
	// A hold whose pull request is there was not idle: it is handed over, whatever its lease says, because the event that should have
	// done it may be lost.
	c, delivered, err := w.pulls.handOver(ctx, f, w.s.By)
	switch {
	case err != nil:
	case delivered:
		out.Ended = []claim.Claim{c}
	default:
		out.Ended, err = w.records.expire(ctx, f, w.s.By, nil)
		out.Swept = len(out.Ended)
	}
	if err != nil {
		out.Err = &UnknownError{f.Issue, err}
		return out
	}
	unlinked := f.Unlinked()
	if err := w.pulls.unlink(ctx, f, unlinked, w.s.By); err != nil {
		out.Err = err
		return out
	}
	switch {
	case len(out.Ended) > 0, len(unlinked) > 0:
		out.Repair, out.Err = w.labelling.rereadAndReconcile(ctx, f)
	case vote != nil:
		var did bool
		if out.Repair, did, out.Err = w.plans.count(ctx, f.Issue, *vote); did {
			out.Answered = vote
		}
	default:
		out.Repair, out.Err = w.relieve(ctx, f)
	}
	return out
}

// plan says what mend would do.
func (w *sweeper) plan(f lifecycle.Facts, vote *Vote) Finding {
	ended, was := w.set.Rules.Over(f), w.set.Rules.Scheme.Shown(f.Labels)
	swept := len(ended)
	if vote != nil {
		f = after(f, *vote)
	}
	if c, _, delivered := w.set.Rules.Delivered(f); delivered {
		ended, swept = []claim.Claim{c}, 0
	}
	then := without(f, ended).Relinked()
	p, _ := w.set.Rules.Label(then)
	out := Finding{Repair: Repair{Issue: f.Issue, Title: f.Title, URL: f.URL, Was: was, Projection: p}, Ended: ended, Swept: swept, Answered: vote}
	out.Change = w.set.Rules.Scheme.Change(f.Labels, p)
	out.Why = w.set.Rules.Explain(then, out.Change)
	if c, missing := unmirrored(f); missing {
		out.Mirrored = &c
	}
	out.Stranded = w.set.Rules.Stranded(then)
	out.Is = w.set.Rules.Scheme.Shows(p)
	if p.Keep {
		kept := slices.DeleteFunc(slices.Clone(f.Labels), func(name string) bool { return slices.Contains(out.Change.Remove, name) })
		out.Is = w.set.Rules.Scheme.Shown(append(kept, out.Change.Add...))
	}
	return out
}

// without is the snapshot as if records had ended the claims.
func without(f lifecycle.Facts, ended []claim.Claim) lifecycle.Facts {
	f.Log = f.Log.Ended(ended, f.ExpiryOutcome, f.Now)
	return f
}
