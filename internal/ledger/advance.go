package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// byHand is the codename of moves without a hold; the firing id is new each time.
const byHand = "by-hand"

// An Advance is a step in a pipeline.
type Advance struct {
	Worker claim.Worker // who holds the issue; without one nobody may
	By     string       // whose decision it is when nobody holds it
	To     string       // the stage; empty is the next
}

// stages moves issues along a pipeline.
type stages struct {
	*base
	snapshots *snapshots
	records   *records
	labelling *labelling
}

// Advance moves an issue to another stage and ends the worker's hold, by one record; then it brings the
// labels in line. A repository without stages, a stage it does not have and one beyond the last are a
// *CallError, a hold that is not the worker's a *LostError, and somebody's hold in the way of a
// move without one a *HeldError. A move that the log shows already is a success.
func (st *stages) Advance(ctx context.Context, i claim.Issue, a Advance) (Repair, labels.Stage, error) {
	f, err := st.snapshots.Look(ctx, i)
	if err != nil {
		return Repair{Issue: i}, labels.Stage{}, err
	}
	to, done, err := st.Target(f, a)
	if err != nil {
		return Repair{Issue: i}, to, err
	}
	if done {
		rep, err := st.labelling.reconcile(ctx, f)
		return rep, to, err
	}
	r, err := st.stepRecord(f, a, to)
	if err != nil {
		return Repair{Issue: i}, to, err
	}
	next, err := st.records.do(ctx, f, r)
	if err != nil {
		return Repair{Issue: i}, to, wrapWrite(i, err)
	}
	rep, err := st.labelling.reconcileOwnEnd(ctx, f, next, r)
	return rep, to, err
}

// Target is the stage that an advance leads to; done says that the log shows the worker's move already. Its errors are Advance's.
func (st *stages) Target(f lifecycle.Facts, a Advance) (to labels.Stage, done bool, err error) {
	if a.Worker.IsZero() && a.By == "" {
		return to, false, callError("who moves it?")
	}
	scheme, now := st.set.Rules.Scheme, st.set.Rules.Stage(f)
	if len(scheme.Stages) == 0 {
		return to, false, callError("there are no stages in this repository; see preset: stages")
	}
	if f.PullRequest {
		return to, false, callError("%s is a pull request, which is in no stage", f.Issue)
	}
	if err := f.Log.RefuseLogin(a.Worker, f.Viewer); err != nil {
		return to, false, st.lost(f, a.Worker, err)
	}
	if own, found := f.Log.Find(a.Worker); found && own.End != nil && own.End.Outcome == claim.OutcomeAdvanced && own.End.By == "" {
		return scheme.Stages[now], true, nil
	}
	next := now + 1
	if a.To != "" {
		next = scheme.Stage(a.To)
	}
	switch {
	case next < 0:
		names := make([]string, len(scheme.Stages))
		for n, s := range scheme.Stages {
			names[n] = s.Name
		}
		return to, false, callError("no stage %q: there are %s", a.To, strings.Join(names, ", "))
	case next == len(scheme.Stages):
		return to, false, callError("it is in the last stage already, %s", scheme.Stages[now].Name)
	}
	return scheme.Stages[next], false, nil
}

// stepRecord is the one record of a move. Without a hold it ends a key of its own that nobody ever uses.
func (st *stages) stepRecord(f lifecycle.Facts, a Advance, to labels.Stage) (claim.Record, error) {
	r := claim.Record{Kind: claim.KindRelease, Worker: a.Worker, Outcome: claim.OutcomeAdvanced, Stage: to.Name, At: f.Now}
	if !f.Open {
		return r, &HeldError{Issue: f.Issue, Verdict: st.set.Rules.Verdict(f, lifecycle.Seeker{})}
	}
	if a.Worker.IsZero() {
		r.By, r.Worker = a.By, claim.Worker{Codename: byHand, FiringID: st.token()}
		if _, held := f.Log.Holder(); held {
			return r, &HeldError{Issue: f.Issue, Verdict: st.set.Rules.Verdict(f, lifecycle.Seeker{})}
		}
		return r, nil
	}
	own, found := f.Log.Find(a.Worker)
	err := f.Log.Refuse(r, f.Viewer, st.set.Rules.Terms, f.Now)
	switch {
	case err != nil:
		return r, st.lost(f, a.Worker, err)
	case found && !own.Held():
		return r, st.lost(f, a.Worker, fmt.Errorf("%w: the claim was never confirmed", claim.ErrNotHolder))
	case own.Overdue(st.set.Rules.Terms, f.Now):
		return r, st.lost(f, a.Worker, claim.ErrOverdue)
	case own.Plan.Pending():
		waits := lifecycle.Reason{Code: lifecycle.CodeOwn, Text: "its plan waits for an answer", URL: own.Plan.URL}
		return r, &HeldError{Issue: f.Issue, Verdict: lifecycle.Verdict{Answer: lifecycle.Held, Reasons: []lifecycle.Reason{waits}}}
	}
	r.Attempt, r.Token = own.Record.Attempt, own.Record.Token
	return r, nil
}
