package ledger

import (
	"context"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// mend works from a reading of its own: the scan's may be minutes old, and a heartbeat since
// then must not be overruled. What is not written needs no second reading.
func (w *sweeper) mend(ctx context.Context, scanned lifecycle.Facts, vote *Vote) Finding {
	if w.s.DryRun {
		return w.plan(scanned, vote)
	}
	shown := w.lifecycleOf(scanned)
	out := Finding{Repair: Repair{Issue: scanned.Issue, Title: scanned.Title, URL: scanned.URL, Was: shown, Is: shown}}
	f, err := w.facts(ctx, scanned.Issue)
	if err != nil {
		out.Err = err
		return out
	}
	out.Mirrored, out.Err = w.remirror(ctx, f)
	if out.Err != nil {
		return out
	}
	if out.Ended, err = w.giveBack(ctx, f); err != nil {
		out.Err = &UnknownError{f.Issue, err}
		return out
	}
	switch {
	case len(out.Ended) > 0:
		out.Repair, out.Err = w.settle(ctx, f)
	case vote != nil:
		var did bool
		if out.Repair, did, out.Err = w.count(ctx, f.Issue, *vote); did {
			out.Answered = vote
		}
	default:
		out.Repair, out.Err = w.relieve(ctx, f)
	}
	return out
}

// giveBack ends the holds that are over. One whose pull request is there was not idle: it is
// handed over, whatever its lease says, because the event that should have done it may be lost.
func (w *sweeper) giveBack(ctx context.Context, f lifecycle.Facts) ([]claim.Claim, error) {
	c, delivered, err := w.handOver(ctx, f, w.s.By)
	if err != nil {
		return nil, err
	}
	if delivered {
		return []claim.Claim{c}, nil
	}
	return w.expire(ctx, f, w.s.By, nil)
}

// plan says what mend would do.
func (w *sweeper) plan(f lifecycle.Facts, vote *Vote) Finding {
	ended, was := w.over(f), w.lifecycleOf(f)
	if vote != nil {
		f = after(f, *vote)
	}
	if c, _, delivered := w.set.Rules.Delivered(f); delivered {
		ended = []claim.Claim{c}
	}
	p, why := w.set.Rules.Label(without(f, ended))
	out := Finding{Repair: Repair{Issue: f.Issue, Title: f.Title, URL: f.URL, Was: was, Picture: p, Why: why}, Ended: ended, Answered: vote}
	out.Change = w.set.Rules.Scheme.Change(f.Labels, p)
	if c, missing := unmirrored(f); missing {
		out.Mirrored = &c
	}
	out.Stranded = w.set.Rules.Stranded(without(f, ended))
	out.Is = w.set.Rules.Scheme.Shows(p)
	if p.Keep {
		out.Is = out.Was
	}
	return out
}

// without is the reading as if records had ended the claims.
func without(f lifecycle.Facts, ended []claim.Claim) lifecycle.Facts {
	f.Log.Claims = slices.Clone(f.Log.Claims)
	for n, c := range f.Log.Claims {
		if slices.ContainsFunc(ended, func(e claim.Claim) bool { return e.Record.Worker == c.Record.Worker }) {
			f.Log.Claims[n].End = &claim.Release{At: f.Now}
		}
	}
	return f
}
