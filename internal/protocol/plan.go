package protocol

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// commentLimit is how many characters GitHub takes as a comment.
const commentLimit = 65_536

// GateField is the field of a plan's record that says where else it was shown and may be answered.
const GateField = "gate"

// NewPlan posts what the holder w means to do; its text is shown as it is and can forge nothing.
// From now on the plan's own limit keeps the hold alive, instead of its ttl. A plan that waits
// already is answer.PlanWaits, a hold that is over a *LostError, a text that is empty or too long
// an answer.Usage. The conclusion's Comment is the plan's, and Facts are the snapshot before it.
func NewPlan(c *Config, i claim.Issue, w claim.Worker, text, gate string) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		posting, err := a.plan(w, text, gate)
		if err != nil {
			return a.fail(err)
		}
		if err = a.post(posting, nil); err != nil {
			return a.fail(unknownUnlessCall(i, err))
		}

		a.end.Comment = a.posting.comment
		return a.settleNow(nil)
	})
}

// plan begins to write a plan.
func (a *appending) plan(w claim.Worker, text, gate string) (recording, error) {
	c, f := a.cfg, a.facts
	switch {
	case f.PullRequest:
		return recording{}, answer.Wrongf("%s is a pull request: plans are for issues", f.Issue)
	case strings.TrimSpace(printable.Lines(text)) == "":
		return recording{}, answer.Wrongf("the plan is empty")
	}

	record := claim.Record{Kind: claim.KindPlan, Worker: w, At: f.Now}
	if gate != "" {
		record.Extra = []claim.Field{{Key: GateField, Value: gate}}
	}

	// The record, how to answer, and the plan in a block that it cannot end: what is approved is
	// what is seen.
	head := fmt.Sprintf("%s proposes a plan and waits for an answer until %s.\n\n"+
		"Answer with 👍 or 👎 on this comment, or comment `/approve` or `/reject why`.\n\n",
		whose(w), printable.Minute(f.Now.Add(c.Rules.Terms.Plan)))
	body, err := claim.Body(record, head+strings.TrimSpace(printable.Fence("markdown", text))+printable.Footer)
	switch {
	case err != nil:
		return recording{}, answer.Wrong(err)
	case utf8.RuneCountInString(body) > commentLimit:
		return recording{}, answer.Wrongf("the plan has %d characters: too long for a comment",
			utf8.RuneCountInString(text))
	}

	if err := f.Log.Refuse(record, f.Viewer, c.Rules.Terms, f.Now); err != nil {
		return recording{}, c.Lost(f, w, err)
	}
	if own, _ := f.Log.Find(w); own.Plan.Pending() {
		a.end.Comment.URL = own.Plan.URL
		return recording{}, &answer.Problem{Code: answer.PlanWaits, Why: "a plan waits for its answer already"}
	}

	posting, err := a.record(f, record)
	posting.body = body
	return posting, err
}

// An Answer is what somebody says to a plan that waits.
type Answer struct {
	Kind    claim.Kind // claim.KindApprove or claim.KindReject
	By      string
	Reason  string       // for people
	Moment  time.Time    // only a plan that waited then is meant; zero is now
	Worker  claim.Worker // only this worker's plan is meant; zero is anybody's
	Vouched bool         // somebody else made sure that By may answer
}

// NewAnswer records an answer to the plan that waits. answer.NoPlan says that there
// is nothing left to answer, answer.Barred that the login may not; nothing was written then.
// Whether it may label the repository is for the caller to know.
func NewAnswer(c *Config, i claim.Issue, said Answer) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		record, err := said.record(c, a.facts)
		if err == nil {
			err = a.write(record)
		}
		if err == nil {
			err = a.answered(record)
		}
		if err != nil {
			return a.fail(err)
		}

		return a.settleNow(nil)
	})
}

// record is the answer as it is written.
func (a Answer) record(c *Config, f lifecycle.Facts) (claim.Record, error) {
	r := claim.Record{Kind: a.Kind, By: a.By, Reason: fitting(a.Reason)}
	holder, held := f.Log.Holder()
	if !held || !holder.Plan.Pending() {
		return claim.Record{}, unanswerable(claim.ErrNoPlan)
	}
	if err := errors.Join(c.decides(holder), a.fits(c, holder)); err != nil {
		return claim.Record{}, err
	}

	r.Worker, r.At = holder.Record.Worker, f.Now
	return r, unanswerable(f.Log.Refuse(r, f.Viewer, c.Rules.Terms, f.Now))
}

// fits says why the plan is not the one that was answered, or who may not answer it, or nil.
func (a Answer) fits(c *Config, holder claim.Claim) error {
	switch {
	case !a.Worker.IsZero() && holder.Record.Worker != a.Worker:
		return unanswerable(claim.ErrNoPlan)
	case a.Vouched:
		return nil
	case !a.Moment.IsZero() && holder.Plan.At.After(a.Moment):
		return unanswerable(claim.ErrNoPlan)
	}

	if why := c.Rules.Approvers.Bars(holder, a.Kind, a.By); why != "" {
		return &answer.Problem{Code: answer.Barred, Why: why}
	}

	return nil
}

// unanswerable makes a no of why the log refuses an answer.
func unanswerable(err error) error {
	no := &answer.Problem{Code: answer.NoPlan, Cause: err}
	switch {
	case errors.Is(err, claim.ErrNoPlan):
		no.Why = answer.NoPlan.Meaning().Text
	case errors.Is(err, claim.ErrOverdue):
		no.Why = "the plan waited too long; its hold is over"
	case errors.Is(err, claim.ErrEnded), errors.Is(err, claim.ErrNotHolder):
		no.Why = "the hold has ended"
	default:
		return err
	}

	return no
}

// answered is why an answer that was recorded says nothing: the end of the hold, or another answer,
// came first.
func (a *appending) answered(r claim.Record) error {
	if a.unread != nil {
		return &UnknownError{a.issue, a.unread}
	}

	c, _ := a.facts.Log.Find(r.Worker)
	rejects := r.Kind == claim.KindReject
	switch {
	case rejects && c.End != nil && c.End.Outcome == claim.OutcomePlanRejected:
	case c.End != nil:
		return unanswerable(claim.ErrEnded)
	case rejects && c.Plan != nil && c.Plan.Approved:
		return unanswerable(claim.ErrNoPlan)
	}

	return nil
}
