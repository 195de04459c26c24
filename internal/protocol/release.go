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

// NewRelease ends a hold and brings the labels in line. Only the holder may, or somebody named in
// By (spec-writing.md#release). A release that the log shows already is a success; a hold that
// ended otherwise is a *LostError, a move that is not legal an answer.Usage and nothing is written.
func NewRelease(c *Config, i claim.Issue, e Ending) Append {
	return newAppend(c, i, releasing{ending: e})
}

// releasing is the rule of a release.
type releasing struct {
	ending Ending
	looked bool            // the pull request that it names was looked up
	facts  lifecycle.Facts // by which it ends the hold
	record claim.Record
	again  bool // the log shows the release already, and the issue was still to be closed
}

func (r releasing) next(c *Config, t turn) (rule, move) {
	e, f := r.ending, t.facts
	switch {
	case r.again && t.closed == nil: // the issue was closed, and this is the snapshot after that
		return nil, move{relabel: true, late: true}
	case len(t.records) > 0:
		return nil, r.recorded(c, t)
	case t.wrote != nil && errors.Is(t.wrote, lease.ErrLost):
		return nil, move{err: c.Lost(f, e.Worker, t.wrote)}
	case t.wrote != nil:
		return nil, move{err: unknownUnlessCall(f.Issue, t.wrote)}
	case t.closed != nil:
		return r.closed(t)
	}

	if !c.shown(t, func(s claim.State) bool {
		_, claimed := s.Find(e.Worker)
		return (claimed || s.Used(e.Worker)) && s.RefuseToken(e.Worker, e.Token) == nil
	}) {
		return r, move{again: true}
	}

	if e.PR != "" && !r.looked {
		if t.reply == nil {
			return r, move{ask: Ask{Pull: e.PR}}
		}
		resolved, err := e.Resolved(f.Issue, *t.reply)
		if err != nil {
			return nil, move{err: err}
		}

		r.looked, r.ending = true, resolved
	}

	return r.begin(c, f)
}

// begin judges the release by a snapshot. Nothing was written yet.
func (r releasing) begin(c *Config, f lifecycle.Facts) (rule, move) {
	e := r.ending
	record, err := e.record(c, f)
	if err != nil {
		return nil, move{err: err}
	}

	r.record, r.facts = record, f
	if err := f.Log.RefuseToken(e.Worker, e.Token); err != nil {
		return nil, move{err: c.Lost(f, e.Worker, err)}
	}

	if e.By == "" {
		if err := f.Log.RefuseLogin(e.Worker, f.Viewer); err != nil {
			return nil, move{err: c.Lost(f, e.Worker, err)}
		}
	}

	own, ok := f.Log.Find(e.Worker)
	if ok && own.End != nil && endsAs(f, *own.End, record) {
		return r.before(c, f)
	}
	if err := c.decides(own); err != nil {
		return nil, move{err: err}
	}
	if err := f.Log.Refuse(record, f.Viewer, c.Rules.Terms, f.Now); err != nil {
		return nil, move{err: c.Lost(f, e.Worker, unrecorded(err, record))}
	}

	// The issue is closed before the hold ends: whoever dies in between leaves a closed issue, and
	// not one that is offered again.
	if e.Done && f.Open {
		return r, move{closes: true}
	}

	return r, move{record: &r.record}
}

// before goes on with a release that the log shows already. If the issue is to be closed now,
// nobody may have taken it since.
func (r releasing) before(c *Config, f lifecycle.Facts) (rule, move) {
	e := r.ending
	if !e.Done || !f.Open {
		unproven := Conclusion{Repair: Repair{Unproven: !e.Done && c.Rules.Unproven(f, r.record)}}
		return nil, move{relabel: true, with: unproven}
	}
	if _, held := c.Rules.Holder(f); held {
		again := claim.Record{Kind: claim.KindRelease, Worker: e.Worker}
		return nil, move{err: c.Lost(f, e.Worker, f.Log.Refuse(again, f.Viewer, c.Rules.Terms, f.Now))}
	}

	r.again = true
	return r, move{closes: true}
}

// closed goes on after the issue was closed as completed.
func (r releasing) closed(t turn) (rule, move) {
	if t.closed.Did != Applied {
		return nil, move{err: unknownUnlessCall(t.facts.Issue, t.closed.Err)}
	}
	if r.again {
		return r, move{look: true}
	}

	r.facts.Open, r.facts.StateReason = false, "completed"
	return r, move{record: &r.record, facts: &r.facts}
}

// recorded brings the labels in line after the release. If the snapshot shows that somebody else
// ended the hold before, which can happen while the record is on its way, the error is a
// *LostError.
func (r releasing) recorded(c *Config, t turn) move {
	m := c.afterOwnEnd(t, r.record)
	m.with.Repair.Unproven = c.Rules.Unproven(r.facts, r.record)
	return m
}

// afterOwnEnd brings the labels in line after a worker ended its hold by r.
func (c *Config) afterOwnEnd(t turn, r claim.Record) move {
	m := move{relabel: true, late: true}
	now := t.facts
	own, _ := now.Log.Find(r.Worker)
	if t.err != nil || own.End == nil || own.Overruled || endsAs(now, *own.End, r) {
		return m
	}

	if refusal := now.Log.Refuse(r, now.Viewer, c.Rules.Terms, now.Now); refusal != nil {
		m.err = c.Lost(now, r.Worker, unrecorded(refusal, r))
	}

	return m
}

// shown reports whether a snapshot is good enough for a caller that knows that its own claim must
// be there. A snapshot that lacks it may be stale, and an absence decides nothing at once
// (spec-writing.md#claim). Where a store decides, the log may lack it for good, and the first
// snapshot is the answer.
func (c *Config) shown(t turn, shows func(claim.State) bool) bool {
	return t.looks >= sightings || c.Store != "" || shows(t.facts.Log)
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
		Reason:  e.Reason,
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
