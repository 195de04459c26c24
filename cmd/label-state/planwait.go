package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/slackgate"
)

// A waitingError is a plan that nobody has answered yet: neither a yes nor a no.
type waitingError struct{ after time.Duration }

func (e *waitingError) Error() string {
	return "no answer within " + printable.Exact(e.after) + "; the plan waits on"
}

// waitOn is the command that waits for the answer to a plan that was posted.
func waitOn(i claim.Issue) string {
	return "wait for the answer: label-state plan " + i.String() + " --wait 8h"
}

// waitable refuses a --wait that is no time.
func (c *call) waitable() error {
	if c.IsSet("wait") && c.Duration("wait") <= 0 {
		return wrong("plan", "--wait %s: want more than nothing, such as 8h", c.Duration("wait"))
	}
	return nil
}

// awaitPosted waits for the answer to the plan that the worker posted before. It posts nothing: asking again
// whether a plan was approved must not put the next one in its place.
func awaitPosted(ctx context.Context, c *call, i claim.Issue) error {
	if err := c.waitable(); err != nil {
		return err
	}
	w, _, err := c.holder(i)
	if err != nil {
		return err
	}
	gate, err := c.gate()
	if err != nil {
		return err
	}
	f, _, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: w})
	if err != nil {
		return err
	}
	own, found := f.Log.Find(w)
	switch {
	case !found:
		return &ledger.LostError{Issue: i, Worker: w, Err: claim.ErrNotHolder}
	case own.Plan == nil && own.End == nil:
		return &failure{err: &answerNo{w.String() + " has posted no plan"}, hint: "post it: label-state plan " + i.String() + " --body-file FILE"}
	}
	return c.awaitAnswer(ctx, i, w, gate)
}

// awaitAnswer looks again and again until the plan of w has its answer, its hold is over, or --wait is.
func (c *call) awaitAnswer(ctx context.Context, i claim.Issue, w claim.Worker, gate *slackgate.Gate) error {
	end := time.Now().Add(c.Duration("wait"))
	asked := slackWatch{gate: gate}
	for pause := retryFirst; ; pause = min(2*pause, retryMost) {
		v, err := c.lookAtPlan(ctx, i, w, &asked)
		if err == nil && v.Answer != "waiting" {
			return c.planAnswer(v)
		}
		rest := min(pause, time.Until(end))
		if rest <= 0 {
			return c.noAnswerYet(v, err, i)
		}
		if over := setup.Clock().Sleep(ctx, rest); over != nil {
			return &ledger.UnknownError{Issue: i, Err: cmp.Or(err, over)}
		}
	}
}

// lookAtPlan is where the plan of w stands now, and takes in an answer from Slack.
func (c *call) lookAtPlan(ctx context.Context, i claim.Issue, w claim.Worker, asked *slackWatch) (planView, error) {
	f, _, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: w})
	if err == nil && c.ask(ctx, asked, f, w) {
		f, _, err = c.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: w})
	}
	if err != nil {
		return planView{}, err
	}
	own, _ := f.Log.Find(w)
	return viewPlan(i, own, c.Ledger.Rules().Terms), nil
}

// noAnswerYet is what a wait ends with. The error is why the last look saw nothing; nil when it saw the plan wait.
func (c *call) noAnswerYet(v planView, err error, i claim.Issue) error {
	if err != nil {
		return err
	}
	f := &failure{err: &waitingError{c.Duration("wait")}, hint: waitOn(i)}
	return errors.Join(f, c.answerJSON(v))
}
