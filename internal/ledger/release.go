package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An Ending is how a hold ends.
type Ending struct {
	Worker  claim.Worker
	Outcome string        // one of claim.WorkerOutcomes; empty is success with a pull request, else cancelled
	PR      string        // URL of a pull request on this GitHub
	closes  bool          // it closes the issue by its own word
	Reason  string        // for people
	To      *labels.State // where the caller expects the issue to go; nil is wherever the facts say
	By      string        // who forces the end; empty for the holder itself
	Token   int64         // fencing token that the claim returned; 0 when not known
}

// Release ends a hold and brings the labels in line. Only the holder may, or somebody named in
// By (spec.md#release). A release that the log shows already is a success; a hold that ended
// otherwise is a *LostError, a move that is not legal a *CallError and nothing is written.
func (l *Ledger) Release(ctx context.Context, i claim.Issue, e Ending) (Repair, error) {
	f, err := l.readUntilShown(ctx, i, l.facts, func(s claim.State) bool {
		_, claimed := s.Find(e.Worker)
		return (claimed || s.Used(e.Worker)) && s.RefuseToken(e.Worker, e.Token) == nil
	})
	if err != nil {
		return Repair{Issue: i}, err
	}
	if e, err = l.resolvePull(ctx, i, e); err != nil {
		return Repair{Issue: i}, err
	}
	r, err := l.ending(f, e)
	if err != nil {
		return Repair{Issue: i}, err
	}
	c, ok := f.Log.Find(e.Worker)
	if err := l.fence(f, e.Worker, e.Token); err != nil {
		return Repair{Issue: i}, err
	}
	if e.By == "" {
		if err := f.Log.RefuseLogin(e.Worker, f.Viewer); err != nil {
			return Repair{Issue: i}, l.lost(f, e.Worker, err)
		}
	}
	if ok && c.End != nil && endsAs(f, *c.End, r) {
		return l.reconcile(ctx, f)
	}
	if err := l.decides(i, c); err != nil {
		return Repair{Issue: i}, err
	}
	if err := f.Log.Refuse(r, f.Viewer, l.set.Rules.Terms, f.Now); err != nil {
		return Repair{Issue: i}, l.lost(f, e.Worker, unrecorded(err, r))
	}
	next, err := l.do(ctx, f, r)
	if err != nil {
		return Repair{Issue: i}, wrapWrite(i, err)
	}
	return l.reconcileOwnEnd(ctx, f, next, r)
}

// endsAs reports whether the end that the log shows says what r says: it is the same end, or r is the holder's success and
// the work was handed over before, by the Action or a sweep that saw its pull request, or the merge of what was held (spec.md#release).
func endsAs(f lifecycle.Facts, end claim.Release, r claim.Record) bool {
	if end.By == r.By {
		return end.Outcome == r.Outcome
	}
	if r.By != "" || end.Unlinked || end.Outcome != claim.OutcomeSuccess || r.Outcome != claim.OutcomeSuccess {
		return false
	}
	return f.Merged() || end.PR != "" && (r.PR == "" || r.PR == end.PR)
}

// unrecorded adds to the end that the log shows that the caller's outcome did not become part of it.
func unrecorded(err error, r claim.Record) error {
	if !errors.Is(err, claim.ErrEnded) {
		return err
	}
	return fmt.Errorf("%w; the outcome %s was not recorded", err, r.Outcome)
}

// resolvePull looks the pull request up that the caller names, before anything is written (spec.md#fields), and takes
// GitHub's own spelling of its address. *CallError says that there is none.
func (l *Ledger) resolvePull(ctx context.Context, i claim.Issue, e Ending) (Ending, error) {
	see, able := l.forge.(PullReader)
	if e.PR == "" || !able {
		return e, nil
	}
	p, err := see.PullAt(ctx, e.PR, i)
	var none *NoPullError
	switch {
	case errors.As(err, &none):
		return e, &CallError{err}
	case err != nil:
		return e, &UnknownError{i, err}
	}
	e.PR, e.closes = p.URL, !p.Bare
	return e, nil
}

// CheckPull says what Release would say of the pull request that a worker names: nil that it is there.
func (l *Ledger) CheckPull(ctx context.Context, i claim.Issue, address string) error {
	_, err := l.resolvePull(ctx, i, Ending{PR: address})
	return err
}

// rereadAndReconcile reads again after a record was written, unless a snapshot came with it, and reconciles; the repair tells where the
// labels came from. Whatever fails now is late labels: the record counts. A claimed label that is
// newer than it is a late write of our own, so it gets no grace.
func (l *Ledger) rereadAndReconcile(ctx context.Context, before lifecycle.Facts) (Repair, error) {
	rep, _, err := l.reconcileAfter(ctx, before, nil)
	return rep, err
}

// reconcileOwnEnd is settle after a worker ended its hold by r. If the snapshot shows that somebody else ended it before, which can
// happen while r is on its way, the error is a *LostError.
func (l *Ledger) reconcileOwnEnd(ctx context.Context, before lifecycle.Facts, next *lifecycle.Facts, r claim.Record) (Repair, error) {
	rep, now, err := l.reconcileAfter(ctx, before, next)
	c, _ := now.Log.Find(r.Worker)
	if c.End == nil || c.Overruled || endsAs(now, *c.End, r) {
		return rep, err
	}
	if refusal := now.Log.Refuse(r, now.Viewer, l.set.Rules.Terms, now.Now); refusal != nil {
		return rep, l.lost(now, r.Worker, unrecorded(refusal, r))
	}
	return rep, err
}

// reconcileAfter is settle with the snapshot after the record, the zero Facts if there is none.
func (l *Ledger) reconcileAfter(ctx context.Context, before lifecycle.Facts, next *lifecycle.Facts) (Repair, lifecycle.Facts, error) {
	own := *l
	own.set.Rules.Stray = 0
	f, err := own.after(ctx, before.Issue, next)
	if err != nil {
		was := l.lifecycleOf(before)
		late := Repair{Issue: before.Issue, Title: before.Title, URL: before.URL, Was: was, Is: was}
		return late, lifecycle.Facts{}, lateLabels(before.Issue, err)
	}
	rep, err := own.reconcile(ctx, f)
	rep.Was = l.lifecycleOf(before)
	return rep, f, lateLabels(before.Issue, err)
}

// after is the snapshot after a record was written: the one that came with it, or a new one.
func (l *Ledger) after(ctx context.Context, i claim.Issue, next *lifecycle.Facts) (lifecycle.Facts, error) {
	if next == nil {
		return l.facts(ctx, i)
	}
	return l.Ruled(ctx, *next)
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
		Kind: claim.KindRelease, Worker: e.Worker, Outcome: e.Outcome, PR: e.PR, Closes: e.closes, Reason: e.Reason, By: e.By,
		Attempt: c.Record.Attempt, At: f.Now,
	}
	if e.To != nil {
		if err := l.move(f, e); err != nil {
			return r, err
		}
	}
	r.Outcome = e.Recorded()
	if _, err := claim.Encode(r); err != nil {
		return r, &CallError{err}
	}
	return r, nil
}

// Recorded is the outcome that the record of this end names: the caller's, or the one that follows from where the issue
// is to go, or from a pull request.
func (e Ending) Recorded() string {
	switch {
	case e.Outcome != "":
		return e.Outcome
	case e.To != nil && *e.To == labels.Done:
		return claim.OutcomeAlreadyImplemented
	case e.PR != "":
		return claim.OutcomeSuccess
	}
	return claim.OutcomeCancelled
}

// move checks the transition against the table of spec.md#legal-moves. Labels follow the log and nothing else, so the outcome must
// lead there.
func (l *Ledger) move(f lifecycle.Facts, e Ending) error {
	now, _ := l.set.Rules.Label(f)
	if err := l.set.Rules.Scheme.Check(now.State, *e.To); err != nil {
		return &CallError{err}
	}
	switch {
	case *e.To == labels.Claimed:
		return callError("transition to %s: a released issue is held by nobody", l.set.Rules.Scheme.Claimed)
	case *e.To == labels.Done && e.Recorded() != claim.OutcomeAlreadyImplemented:
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
		Kind: claim.KindRelease, Worker: c.Record.Worker, Outcome: claim.OutcomeSuccess, PR: pr.URL, Closes: !pr.Bare, By: by,
		Attempt: c.Record.Attempt, At: f.Now,
	}
	if _, err := l.do(ctx, f, r); err != nil {
		return c, true, wrapWrite(f.Issue, err)
	}
	return c, true, nil
}
