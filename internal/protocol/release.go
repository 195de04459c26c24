package protocol

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// An Ending is how a hold ends.
type Ending struct {
	Worker  claim.Worker
	Outcome string        // one of claim.WorkerOutcomes; empty is success with a pull request, else cancelled
	PR      string        // URL of a pull request on this GitHub
	closes  bool          // it closes the issue by its own word
	Reason  string        // for people
	To      *labels.State // where the caller expects the issue to go; nil is wherever the facts say
	Label   string        // by which To was named: in a pipeline, which stage
	Done    bool          // close the issue as completed, then end the hold as success
	By      string        // who forces the end; empty for the holder itself
	Token   int64         // fencing token that the claim returned; 0 when not known
}

// NewRelease ends a hold and brings the labels in line. Only the holder may, or somebody named in
// By (spec-writing.md#release). A release that the log shows already is a success; a hold that
// ended otherwise is a *LostError, a move that is not legal an answer.Usage and nothing is written.
func NewRelease(c *Config, i claim.Issue, e Ending) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		err := a.lookFor(func(s claim.State) bool {
			_, claimed := s.Find(e.Worker)
			return (claimed || s.Used(e.Worker)) && s.RefuseToken(e.Worker, e.Token) == nil
		})
		if err == nil && e.PR != "" {
			e, err = e.Resolved(i, a.do(Effects{Ask: Ask{Pull: e.PR}}).Replies)
		}
		if err != nil {
			return a.fail(err)
		}

		return a.release(e)
	})
}

// release judges the release by a snapshot, and writes it.
func (a *appending) release(e Ending) Conclusion {
	c, f := a.cfg, a.facts
	record, err := e.record(c, f)
	if err != nil {
		return a.fail(err)
	}

	if err := f.Log.RefuseToken(e.Worker, e.Token); err != nil {
		return a.fail(c.Lost(f, e.Worker, err))
	}

	if e.By == "" {
		if err := f.Log.RefuseLogin(e.Worker, f.Viewer); err != nil {
			return a.fail(c.Lost(f, e.Worker, err))
		}
	}

	own, ok := f.Log.Find(e.Worker)
	if ok && own.End != nil && endsAs(f, *own.End, record) {
		return a.releasedBefore(e, record)
	}
	if err := c.decides(own); err != nil {
		return a.fail(err)
	}
	if err := f.Log.Refuse(record, f.Viewer, c.Rules.Terms, f.Now); err != nil {
		return a.fail(c.Lost(f, e.Worker, unrecorded(err, record)))
	}

	// The issue is closed before the hold ends: whoever dies in between leaves a closed issue, and
	// not one that is offered again.
	if e.Done && f.Open {
		if err := a.close(); err != nil {
			return a.fail(err)
		}
		f.Open, f.StateReason = false, "completed"
	}

	err = a.post(a.record(f, record))
	switch {
	case errors.Is(err, lease.ErrLost):
		return a.fail(c.Lost(a.facts, e.Worker, err))
	case err != nil:
		return a.fail(unknownUnlessCall(a.issue, err))
	}

	a.end.Repair.Unproven = c.Rules.Unproven(f, record)
	return a.settleNow(a.overtaken(record))
}

// releasedBefore goes on with a release that the log shows already. If the issue is to be closed
// now, nobody may have taken it since.
func (a *appending) releasedBefore(e Ending, record claim.Record) Conclusion {
	c, f := a.cfg, a.facts
	if !e.Done || !f.Open {
		a.end.Repair.Unproven = !e.Done && c.Rules.Unproven(f, record)
		return a.settle(nil)
	}
	if _, held := c.Rules.Holder(f); held {
		again := claim.Record{Kind: claim.KindRelease, Worker: e.Worker}
		return a.fail(c.Lost(f, e.Worker, f.Log.Refuse(again, f.Viewer, c.Rules.Terms, f.Now)))
	}
	if err := a.close(); err != nil {
		return a.fail(err)
	}

	_ = a.look() // without a snapshot the labels are late
	return a.settleNow(nil)
}

// overtaken is a *LostError where somebody else ended the hold before the worker's end r, which can
// happen while the record is on its way.
func (a *appending) overtaken(r claim.Record) error {
	f := a.facts
	own, _ := f.Log.Find(r.Worker)
	if a.unread != nil || own.End == nil || own.Overruled || endsAs(f, *own.End, r) {
		return nil
	}

	if refusal := f.Log.Refuse(r, f.Viewer, a.cfg.Rules.Terms, f.Now); refusal != nil {
		return a.cfg.Lost(f, r.Worker, unrecorded(refusal, r))
	}

	return nil
}

// endsAs reports whether the end that the log shows says what r says: it is the same end, or r is
// the holder's success and the work was handed over before, by the Action or a sweep that saw its
// pull request, or the merge of what was held; or the closing of the issue has ended the hold, and
// r has nothing to add to that (spec-writing.md#release).
func endsAs(f lifecycle.Facts, end claim.Release, r claim.Record) bool {
	if end.By == r.By {
		return end.Outcome == r.Outcome && (r.PR == "" || r.PR == end.PR)
	}
	if r.By == "" && r.PR == "" && !f.Open && end.Outcome == claim.OutcomeCancelled {
		completed := r.Outcome == claim.OutcomeSuccess && f.StateReason == "completed"
		return completed || r.Outcome == claim.OutcomeCancelled
	}
	if r.By != "" || end.Unlinked || end.Outcome != claim.OutcomeSuccess || r.Outcome != claim.OutcomeSuccess {
		return false
	}

	return f.Merged() || end.PR != "" && (r.PR == "" || r.PR == end.PR)
}

// unrecorded adds to the end that the log shows that the caller's outcome did not become part of
// it.
func unrecorded(err error, r claim.Record) error {
	if !errors.Is(err, claim.ErrEnded) {
		return err
	}
	return fmt.Errorf("%w; the outcome %s was not recorded", err, r.Outcome)
}

// Resolved takes in what was found at the address of the pull request that the ending names:
// GitHub's own spelling of the address, and whether it closes the issue by its own word
// (spec.md#fields). An answer.Usage says that there is none.
func (e Ending) Resolved(i claim.Issue, got Replies) (Ending, error) {
	switch {
	case answer.Is(got.Err, answer.NoPull):
		return e, got.Err
	case got.Err != nil:
		return e, &UnknownError{i, got.Err}
	case got.Pull.URL != "":
		e.PR, e.closes = got.Pull.URL, !got.Pull.Bare
	}

	return e, nil
}

// record turns what the caller wants into the record, refusing moves that are not legal.
func (e Ending) record(c *Config, f lifecycle.Facts) (claim.Record, error) {
	own, _ := f.Log.Find(e.Worker)
	r := claim.Record{
		Kind:    claim.KindRelease,
		Worker:  e.Worker,
		Outcome: e.Outcome,
		PR:      e.PR,
		Closes:  e.closes,
		Reason:  fitting(e.Reason),
		By:      e.By,
		Attempt: own.Record.Attempt,
		At:      f.Now,
	}

	if e.Done {
		switch {
		case f.PullRequest:
			return claim.Record{}, answer.Wrongf("a pull request ends when it is merged or closed")
		case e.PR != "" || e.To != nil:
			return claim.Record{}, answer.Wrongf("an issue that is closed as done needs neither a pull request nor a transition")
		case r.Outcome != "" && r.Outcome != claim.OutcomeSuccess && r.Outcome != claim.OutcomeAlreadyImplemented:
			return claim.Record{}, answer.Wrongf("an issue that is closed as done ends as %s or %s", claim.OutcomeSuccess,
				claim.OutcomeAlreadyImplemented)
		}
	}

	// by the table of spec-writing.md#legal-moves; labels follow the log and nothing else, so the
	// outcome must lead there
	if e.To != nil {
		if f.Now.IsZero() { // then the labels stay as they are, which says nothing of the move
			return claim.Record{}, &UnknownError{f.Issue, errNoServerTime}
		}
		now, _ := c.Rules.Label(f)
		scheme := c.Rules.Scheme
		if err := scheme.Check(now.State, *e.To); err != nil {
			return claim.Record{}, answer.Wrong(err)
		}

		switch {
		case *e.To == labels.Claimed:
			return claim.Record{}, answer.Wrongf("transition to %s: a released issue is held by nobody", scheme.Claimed)
		case *e.To == labels.Done && e.Recorded() != claim.OutcomeAlreadyImplemented:
			return claim.Record{}, answer.Wrongf("transition to %s: needs outcome %s, or a merged pull request", scheme.Done,
				claim.OutcomeAlreadyImplemented)
		case *e.To == labels.PROpen && e.PR == "" && len(f.PRs) == 0:
			return claim.Record{}, answer.Wrongf("transition to %s: needs the pull request's URL", scheme.PROpen)
		case *e.To == labels.Available && e.PR != "":
			return claim.Record{}, answer.Wrongf("transition to %s: an issue with an open pull request is %s", scheme.Available,
				scheme.PROpen)
		case *e.To == labels.Available && len(scheme.Stages) > 0 &&
			!labels.Same(e.Label, scheme.Stages[c.Rules.Stage(f)].Label):
			return claim.Record{}, answer.Wrongf("transition to %s: a release leaves the issue in %s; advance moves it",
				e.Label, scheme.Stages[c.Rules.Stage(f)].Label)
		case *e.To == labels.PlanPending:
			return claim.Record{}, answer.Wrongf("transition to %s: post a plan instead of releasing", scheme.PlanPending)
		}
	}

	if e.By == "" { // another process of the run may be taking the hold over, and this ends nothing of that
		r.Token = cmp.Or(e.Token, own.Record.Token)
	}
	r.Outcome = e.Recorded()
	if _, err := claim.Encode(r); err != nil {
		return claim.Record{}, answer.Wrong(err)
	}

	return r, nil
}

// fitting is a reason as far as a record has room for it, however it is escaped.
func fitting(reason string) string { return printable.Clip(reason, 2000) }

// Recorded is the outcome that the record of this end names: the caller's, or the one that follows
// from where the issue is to go, or from a pull request.
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
