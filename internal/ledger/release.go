package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
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
	Done    bool          // close the issue as completed, then end the hold as success
	By      string        // who forces the end; empty for the holder itself
	Token   int64         // fencing token that the claim returned; 0 when not known
}

// releases ends holds for their own workers.
type releases struct {
	*base
	snapshots *snapshots
	records   *records
	labelling *labelling
	pulls     *pulls
}

// Release ends a hold and brings the labels in line. Only the holder may, or somebody named in
// By (spec.md#release). A release that the log shows already is a success; a hold that ended
// otherwise is a *LostError, a move that is not legal a *CallError and nothing is written.
func (rl *releases) Release(ctx context.Context, i claim.Issue, e Ending) (Repair, error) {
	f, err := rl.snapshots.readUntilShown(ctx, i, rl.snapshots.Look, func(s claim.State) bool {
		_, claimed := s.Find(e.Worker)
		return (claimed || s.Used(e.Worker)) && s.RefuseToken(e.Worker, e.Token) == nil
	})
	if err != nil {
		return Repair{Issue: i}, err
	}
	if e, err = rl.pulls.ResolvePull(ctx, i, e); err != nil {
		return Repair{Issue: i}, err
	}
	r, err := rl.ending(f, e)
	if err != nil {
		return Repair{Issue: i}, err
	}
	c, ok := f.Log.Find(e.Worker)
	if err := f.Log.RefuseToken(e.Worker, e.Token); err != nil {
		return Repair{Issue: i}, rl.lost(f, e.Worker, err)
	}
	if e.By == "" {
		if err := f.Log.RefuseLogin(e.Worker, f.Viewer); err != nil {
			return Repair{Issue: i}, rl.lost(f, e.Worker, err)
		}
	}
	if ok && c.End != nil && endsAs(f, *c.End, r) {
		rep, err := rl.releasedBefore(ctx, f, e)
		rep.Unproven = !e.Done && rl.set.Rules.Unproven(f, r)
		return rep, err
	}
	if err := rl.decides(i, c); err != nil {
		return Repair{Issue: i}, err
	}
	if err := f.Log.Refuse(r, f.Viewer, rl.set.Rules.Terms, f.Now); err != nil {
		return Repair{Issue: i}, rl.lost(f, e.Worker, unrecorded(err, r))
	}

	// The issue is closed before the hold ends: whoever dies in between leaves a closed issue, and not one that is offered again.
	if f, err = rl.finish(ctx, f, e); err != nil {
		return Repair{Issue: i}, err
	}
	next, err := rl.records.do(ctx, f, r)
	if errors.Is(err, lease.ErrLost) {
		return Repair{Issue: i}, rl.lost(f, e.Worker, err)
	}
	if err != nil {
		return Repair{Issue: i}, wrapWrite(i, err)
	}
	rep, err := rl.labelling.reconcileOwnEnd(ctx, f, next, r)
	rep.Unproven = rl.set.Rules.Unproven(f, r)
	return rep, err
}

// releasedBefore brings the labels in line after a release that the log shows already. If the issue is to be closed now, nobody may have
// taken it since.
func (rl *releases) releasedBefore(ctx context.Context, f lifecycle.Facts, e Ending) (Repair, error) {
	if !e.Done || !f.Open {
		return rl.labelling.reconcile(ctx, f)
	}
	if _, held := rl.set.Rules.Holder(f); held {
		again := claim.Record{Kind: claim.KindRelease, Worker: e.Worker}
		return Repair{Issue: f.Issue}, rl.lost(f, e.Worker, f.Log.Refuse(again, f.Viewer, rl.set.Rules.Terms, f.Now))
	}

	f, err := rl.finish(ctx, f, e)
	if err != nil {
		return Repair{Issue: f.Issue}, err
	}
	return rl.labelling.rereadAndReconcile(ctx, f)
}

// finish closes an open issue that is done, and returns the facts with that.
func (rl *releases) finish(ctx context.Context, f lifecycle.Facts, e Ending) (lifecycle.Facts, error) {
	if !e.Done || !f.Open {
		return f, nil
	}
	closer, able := rl.forge.(Closer)
	if !able {
		return f, callError("this ledger closes no issue")
	}
	if err := closer.CloseCompleted(ctx, f.Issue); err != nil {
		return f, wrapWrite(f.Issue, err)
	}
	f.Open, f.StateReason = false, "completed"
	return f, nil
}

// endsAs reports whether the end that the log shows says what r says: it is the same end, or r is the holder's success and
// the work was handed over before, by the Action or a sweep that saw its pull request, or the merge of what was held (spec.md#release).
func endsAs(f lifecycle.Facts, end claim.Release, r claim.Record) bool {
	if end.By == r.By {
		return end.Outcome == r.Outcome && (r.PR == "" || r.PR == end.PR)
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

// wrapWrite makes an *UnknownError of what a write failed with: it may have been done. nil and a *CallError stay as they are.
func wrapWrite(i claim.Issue, err error) error {
	var call *CallError
	if err == nil || errors.As(err, &call) {
		return err
	}
	return &UnknownError{i, err}
}

// ending turns what the caller wants into the record, refusing moves that are not legal.
func (rl *releases) ending(f lifecycle.Facts, e Ending) (claim.Record, error) {
	c, _ := f.Log.Find(e.Worker)
	r := claim.Record{
		Kind: claim.KindRelease, Worker: e.Worker, Outcome: e.Outcome, PR: e.PR, Closes: e.closes, Reason: e.Reason, By: e.By,
		Attempt: c.Record.Attempt, At: f.Now,
	}
	if e.Done {
		switch {
		case f.PullRequest:
			return r, callError("a pull request ends when it is merged or closed")
		case e.PR != "" || e.To != nil:
			return r, callError("an issue that is closed as done needs neither a pull request nor a transition")
		case r.Outcome != "" && r.Outcome != claim.OutcomeSuccess && r.Outcome != claim.OutcomeAlreadyImplemented:
			return r, callError("an issue that is closed as done ends as %s or %s", claim.OutcomeSuccess, claim.OutcomeAlreadyImplemented)
		}
	}
	if e.To != nil { // by the table of spec.md#legal-moves; labels follow the log and nothing else, so the outcome must lead there
		if f.Now.IsZero() { // then the labels stay as they are, which says nothing of the move
			return r, &UnknownError{f.Issue, errNoServerTime}
		}
		now, _ := rl.set.Rules.Label(f)
		scheme := rl.set.Rules.Scheme
		if err := scheme.Check(now.State, *e.To); err != nil {
			return r, &CallError{err}
		}
		switch {
		case *e.To == labels.Claimed:
			return r, callError("transition to %s: a released issue is held by nobody", scheme.Claimed)
		case *e.To == labels.Done && e.Recorded() != claim.OutcomeAlreadyImplemented:
			return r, callError("transition to %s: needs outcome %s, or a merged pull request", scheme.Done, claim.OutcomeAlreadyImplemented)
		case *e.To == labels.PROpen && e.PR == "" && len(f.PRs) == 0:
			return r, callError("transition to %s: needs the pull request's URL", scheme.PROpen)
		case *e.To == labels.Available && e.PR != "":
			return r, callError("transition to %s: an issue with an open pull request is %s", scheme.Available, scheme.PROpen)
		case *e.To == labels.PlanPending:
			return r, callError("transition to %s: post a plan instead of releasing", scheme.PlanPending)
		}
	}
	if e.By == "" { // another process of the run may be taking the hold over, and this ends nothing of that
		r.Token = cmp.Or(e.Token, c.Record.Token)
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
	case e.PR != "", e.Done:
		return claim.OutcomeSuccess
	}
	return claim.OutcomeCancelled
}
