package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// What people decide arrives late and may arrive twice: by an event that was delivered again, by
// a run that somebody repeated. So everything here names the moment at which the person spoke, and
// what began after it is left alone.

// Approve lets the plan that waited at that moment, or waits now if it is zero, go ahead, in the name of by. claim.ErrNoPlan and
// claim.ErrOverdue say that there is nothing to approve any more, a *BarredError that by may not; nothing
// was written then. Whether by may label the repository is for the caller to know.
func (pl *plans) Approve(ctx context.Context, i claim.Issue, moment time.Time, by string) (Repair, error) {
	return pl.answer(ctx, i, moment, claim.Record{Kind: claim.KindApprove, By: by})
}

// Reject ends the hold whose plan waited at that moment, or waits now if it is zero, in the name of by; reason is for people.
// claim.ErrNoPlan says that there is nothing to reject any more, a *BarredError that by may not; nothing was
// written then. Whether by may label the repository is for the caller to know.
func (pl *plans) Reject(ctx context.Context, i claim.Issue, moment time.Time, by, reason string) (Repair, error) {
	return pl.answer(ctx, i, moment, claim.Record{Kind: claim.KindReject, By: by, Reason: reason})
}

// Attest records the answer to the plan of w that was given elsewhere, to somebody who made sure that
// by may give it. Otherwise it is Approve, or Reject.
func (pl *plans) Attest(ctx context.Context, i claim.Issue, w claim.Worker, answer claim.Kind, by string) (Repair, error) {
	return pl.record(ctx, i, claim.Record{Kind: answer, By: by}, func(c claim.Claim) error {
		if c.Record.Worker != w {
			return claim.ErrNoPlan
		}
		return nil
	})
}

// answer records the answer r, unless r.By is barred, or the plan was posted after that moment; zero is now.
func (pl *plans) answer(ctx context.Context, i claim.Issue, moment time.Time, r claim.Record) (Repair, error) {
	return pl.record(ctx, i, r, func(c claim.Claim) error {
		if !moment.IsZero() && c.Plan.At.After(moment) {
			return claim.ErrNoPlan
		}
		if why := pl.set.Rules.Approvers.Bars(c, r.Kind, r.By); why != "" {
			return &BarredError{r.By, why}
		}
		return nil
	})
}

// record writes the answer to the plan that waits, if ok has nothing against it.
func (pl *plans) record(ctx context.Context, i claim.Issue, r claim.Record, ok func(claim.Claim) error) (Repair, error) {
	f, err := pl.snapshots.Look(ctx, i)
	if err != nil {
		return Repair{Issue: i}, err
	}
	c, held := f.Log.Holder()
	if !held || !c.Plan.Pending() {
		return Repair{Issue: i}, claim.ErrNoPlan
	}
	if err := errors.Join(pl.decides(i, c), ok(c)); err != nil {
		return Repair{Issue: i}, err
	}
	r.Worker, r.At = c.Record.Worker, f.Now
	if err := f.Log.Refuse(r, f.Viewer, pl.set.Rules.Terms, f.Now); err != nil {
		return Repair{Issue: i}, err
	}
	if _, err := pl.records.do(ctx, f, r); err != nil {
		return Repair{Issue: i}, wrapWrite(i, err)
	}
	// The end of the hold, or another answer, may have come first, and then this one says nothing.
	now, err := pl.snapshots.Look(ctx, i)
	if err != nil {
		return Repair{Issue: i}, &UnknownError{i, err}
	}
	c, _ = now.Log.Find(r.Worker)
	switch {
	case r.Kind == claim.KindReject && c.End != nil && c.End.Outcome == claim.OutcomePlanRejected:
	case c.End != nil:
		return Repair{Issue: i}, claim.ErrEnded
	case r.Kind == claim.KindReject && c.Plan != nil && c.Plan.Approved:
		return Repair{Issue: i}, claim.ErrNoPlan
	}
	return pl.labelling.rereadAndReconcile(ctx, f)
}
