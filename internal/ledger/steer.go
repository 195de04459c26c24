package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// What people decide arrives late and may arrive twice: by an event that was delivered again, by
// a run that somebody repeated. So everything here names the moment at which the person spoke, and
// what began after it is left alone.

// ForceBefore ends, in the name of by, the holds that were claimed up to a moment
// (spec.md#revoke-and-force) and brings the labels in line. Without any it is a success and touches nothing. What was not
// confirmed yet is somebody else's beginning and stays.
func (l *Ledger) ForceBefore(ctx context.Context, i claim.Issue, moment time.Time, by, reason string) (Repair, []claim.Claim, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return Repair{Issue: i}, nil, err
	}
	older := slices.DeleteFunc(f.Log.Live(), func(c claim.Claim) bool { return !c.Held() || c.Created.After(moment) })
	if len(older) == 0 && (f.Log.Last.After(moment) || !l.set.Rules.Stuck(f)) {
		return Repair{Issue: i}, nil, nil
	}
	return l.force(ctx, f, older, by, reason)
}

// Approve lets the plan that waited at that moment, or waits now if it is zero, go ahead, in the name of by. claim.ErrNoPlan and
// claim.ErrOverdue say that there is nothing to approve any more, a *BarredError that by may not; nothing
// was written then. Whether by may label the repository is for the caller to know.
func (l *Ledger) Approve(ctx context.Context, i claim.Issue, moment time.Time, by string) (Repair, error) {
	return l.answer(ctx, i, moment, claim.Record{Kind: claim.KindApprove, By: by})
}

// Reject ends the hold whose plan waited at that moment, or waits now if it is zero, in the name of by; reason is for people.
// claim.ErrNoPlan says that there is nothing to reject any more, a *BarredError that by may not; nothing was
// written then. Whether by may label the repository is for the caller to know.
func (l *Ledger) Reject(ctx context.Context, i claim.Issue, moment time.Time, by, reason string) (Repair, error) {
	return l.answer(ctx, i, moment, claim.Record{Kind: claim.KindReject, By: by, Reason: reason})
}

// Attest records the answer to the plan of w that was given elsewhere, to somebody who made sure that
// by may give it. Otherwise it is Approve, or Reject.
func (l *Ledger) Attest(ctx context.Context, i claim.Issue, w claim.Worker, answer claim.Kind, by string) (Repair, error) {
	return l.record(ctx, i, claim.Record{Kind: answer, By: by}, func(c claim.Claim) error {
		if c.Record.Worker != w {
			return claim.ErrNoPlan
		}
		return nil
	})
}

func (l *Ledger) answer(ctx context.Context, i claim.Issue, moment time.Time, r claim.Record) (Repair, error) {
	return l.record(ctx, i, r, func(c claim.Claim) error {
		if !moment.IsZero() && c.Plan.At.After(moment) {
			return claim.ErrNoPlan
		}
		if why := l.set.Rules.Bars(c, r.Kind, r.By); why != "" {
			return &BarredError{r.By, why}
		}
		return nil
	})
}

// record writes the answer to the plan that waits, if ok has nothing against it.
func (l *Ledger) record(ctx context.Context, i claim.Issue, r claim.Record, ok func(claim.Claim) error) (Repair, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return Repair{Issue: i}, err
	}
	c, held := f.Log.Holder()
	if !held || !c.Plan.Pending() {
		return Repair{Issue: i}, claim.ErrNoPlan
	}
	if err := errors.Join(l.decides(i, c), ok(c)); err != nil {
		return Repair{Issue: i}, err
	}
	r.Worker, r.At = c.Record.Worker, f.Now
	if err := f.Log.Refuse(r, f.Viewer, l.set.Rules.Terms, f.Now); err != nil {
		return Repair{Issue: i}, err
	}
	if _, err := l.do(ctx, f, r); err != nil {
		return Repair{Issue: i}, wrapWrite(i, err)
	}
	if err := l.tooLate(ctx, i, r); err != nil {
		return Repair{Issue: i}, err
	}
	return l.rereadAndReconcile(ctx, f)
}

// tooLate looks at what became of an answer that was posted: the end of the hold, or another answer, may
// have come first, and then it says nothing.
func (l *Ledger) tooLate(ctx context.Context, i claim.Issue, r claim.Record) error {
	f, err := l.facts(ctx, i)
	if err != nil {
		return &UnknownError{i, err}
	}
	c, _ := f.Log.Find(r.Worker)
	switch {
	case r.Kind == claim.KindReject && c.End != nil && c.End.Outcome == claim.OutcomePlanRejected:
		return nil
	case c.End != nil:
		return claim.ErrEnded
	case r.Kind == claim.KindReject && c.Plan != nil && c.Plan.Approved:
		return claim.ErrNoPlan
	}
	return nil
}

// Reset counts attempts anew if one had failed by that moment, in the name of by, and reports
// whether it did (spec.md#attempts). Labels are for the caller to bring in line: whoever resets
// usually takes needs:human-scope off as well.
func (l *Ledger) Reset(ctx context.Context, i claim.Issue, moment time.Time, by string) (bool, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return false, err
	}
	if len(f.Log.Attempts) == 0 || f.Log.Attempts[0].Release.At.After(moment) {
		return false, nil
	}
	last := f.Log.Attempts[len(f.Log.Attempts)-1]
	r := claim.Record{Kind: claim.KindReset, Worker: last.Worker, By: by, At: f.Now}
	_, err = l.do(ctx, f, r)
	return err == nil, wrapWrite(i, err)
}
