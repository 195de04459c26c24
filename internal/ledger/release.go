package ledger

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An Ending is how a hold ends.
type Ending struct {
	Worker  claim.Worker
	Outcome string        // one of claim.WorkerOutcomes; empty is success with a pull request, else cancelled
	PR      string        // URL
	Reason  string        // for people
	To      *labels.State // where the caller expects the issue to go; nil is wherever the facts say
	By      string        // who forces the end; empty for the holder itself
	Token   int64         // fencing token that the claim returned; 0 when not known
}

// Release ends a hold and brings the labels in line. Only the holder may, or somebody named in
// By (PRODUCT ruling 4). A release that the log shows already is a success; a hold that ended
// otherwise is a *LostError, a move that is not legal a *CallError and nothing is written.
func (l *Ledger) Release(ctx context.Context, i claim.Issue, e Ending) (Repair, error) {
	f, err := l.sighted(ctx, i, l.facts, func(s claim.State) bool {
		_, claimed := s.Find(e.Worker)
		return claimed || s.Used(e.Worker)
	})
	if err != nil {
		return Repair{Issue: i}, err
	}
	r, err := l.ending(f, e)
	if err != nil {
		return Repair{Issue: i}, err
	}
	c, ok := f.Log.Find(e.Worker)
	if ok && c.End != nil && c.End.By == r.By && c.End.Outcome == r.Outcome {
		return l.reconcile(ctx, f)
	}
	if err := errors.Join(l.decides(i, c), l.fence(f, e.Worker, e.Token)); err != nil {
		return Repair{Issue: i}, err
	}
	if err := f.Log.Refuse(r, f.Viewer, l.set.Rules.Terms, f.Now); err != nil {
		return Repair{Issue: i}, l.lost(f, e.Worker, err)
	}
	if _, err := l.release(ctx, i, r, sentence(r)); err != nil {
		return Repair{Issue: i}, wrapWrite(i, err)
	}
	return l.settle(ctx, f)
}

// settle reads again after a record was written and reconciles; the repair tells where the
// labels came from. Whatever fails now is late labels: the record counts. A claimed label that is
// newer than it is a late write of our own, so it gets no grace.
func (l *Ledger) settle(ctx context.Context, before lifecycle.Facts) (Repair, error) {
	own := *l
	own.set.Rules.Stray = 0
	rep, err := own.Reconcile(ctx, before.Issue)
	rep.Was = l.lifecycleOf(before)
	return rep, lateLabels(before.Issue, err)
}

// lateLabels is the error of a reconcile whose record counts: whatever went wrong, the labels are late.
func lateLabels(i claim.Issue, err error) error {
	var late *LabelsError
	if err == nil || errors.As(err, &late) {
		return err
	}
	return &LabelsError{i, err}
}

func wrapWrite(i claim.Issue, err error) error {
	var call *CallError
	if err == nil || errors.As(err, &call) {
		return err
	}
	return &UnknownError{i, err}
}

// ending turns what the caller wants into the record, refusing moves that are not legal.
func (l *Ledger) ending(f lifecycle.Facts, e Ending) (claim.Record, error) {
	c, _ := f.Log.Find(e.Worker)
	r := claim.Record{
		Kind: claim.KindRelease, Worker: e.Worker, Outcome: e.Outcome, PR: e.PR, Reason: e.Reason, By: e.By,
		Attempt: c.Record.Attempt, At: f.Now,
	}
	if e.To != nil {
		if err := l.move(f, e, &r); err != nil {
			return r, err
		}
	}
	if r.Outcome == "" {
		r.Outcome = claim.OutcomeCancelled
		if r.PR != "" {
			r.Outcome = claim.OutcomeSuccess
		}
	}
	if _, err := claim.Encode(r); err != nil {
		return r, &CallError{err}
	}
	return r, nil
}

// move checks the transition against PRODUCT's table and says it in the record, since labels
// follow the log and nothing else.
func (l *Ledger) move(f lifecycle.Facts, e Ending, r *claim.Record) error {
	now, _ := l.set.Rules.Label(f)
	if err := l.set.Rules.Scheme.Check(now.State, *e.To); err != nil {
		return &CallError{err}
	}
	switch {
	case *e.To == labels.Claimed:
		return callError("transition to %s: a released issue is held by nobody", l.set.Rules.Scheme.Claimed)
	case *e.To == labels.Done && r.Outcome == "":
		r.Outcome = claim.OutcomeAlreadyImplemented
	case *e.To == labels.Done && r.Outcome != claim.OutcomeAlreadyImplemented:
		return callError("transition to %s: needs outcome %s, or a merged pull request", l.set.Rules.Scheme.Done, claim.OutcomeAlreadyImplemented)
	case *e.To == labels.PROpen && e.PR == "" && len(f.PRs) == 0:
		return callError("transition to %s: needs the pull request's URL", l.set.Rules.Scheme.PROpen)
	case *e.To == labels.Available && e.PR != "":
		return callError("transition to %s: an issue with an open pull request is %s", l.set.Rules.Scheme.Available, l.set.Rules.Scheme.PROpen)
	case *e.To == labels.PlanPending:
		return callError("transition to %s: post a plan instead of releasing", l.set.Rules.Scheme.PlanPending)
	}
	return nil
}

// handOver ends the hold of a worker whose own pull request is open or merged, naming it in the
// record; by says who noticed. It reports whether there was one.
func (l *Ledger) handOver(ctx context.Context, f lifecycle.Facts, by string) (claim.Claim, bool, error) {
	c, pr, ok := l.set.Rules.Delivered(f)
	if !ok {
		return c, false, nil
	}
	if err := l.decides(f.Issue, c); err != nil {
		return c, true, err
	}
	r := claim.Record{
		Kind: claim.KindRelease, Worker: c.Record.Worker, Outcome: claim.OutcomeSuccess, PR: pr.URL, By: by,
		Attempt: c.Record.Attempt, At: f.Now,
	}
	if _, err := l.release(ctx, f.Issue, r, sentence(r)); err != nil {
		return c, true, wrapWrite(f.Issue, err)
	}
	return c, true, nil
}
