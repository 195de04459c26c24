package labelstate

import (
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/trouble"
)

// A PlanAnswer is the state of a plan.
type PlanAnswer = answer.Word

// The answers.
const (
	PlanWaiting  PlanAnswer = "waiting"
	PlanApproved PlanAnswer = "approved"
	PlanRejected PlanAnswer = "rejected" // and the hold is over
	PlanOver     PlanAnswer = "over"     // the hold ended without an answer
)

// A Plan is a worker's plan for an issue, with a person's Answer. URL is that of the comment with
// the plan. While it waits, an answer has to come before Until. By is who answered, or ended the
// hold, and Reason what that person wrote (other people's text), of a plan that is over otherwise
// the outcome.
type Plan = answer.Answer

// PostPlan posts what the worker means to do under a hold. text is Markdown. While the plan waits
// for its answer the plan's own limit keeps the hold alive instead of its ttl. [ErrPlanWaits] says
// that a plan of the hold waits already; its URL is returned with it.
func (c *Client) PostPlan(ctx context.Context, h Hold, text string) (Plan, error) {
	if err := c.of(h); err != nil {
		return Plan{}, c.doing("plan", h.Number, err)
	}
	posted, err := c.s.Ledger.Plan(ctx, c.issue(h.Number), h.key().worker, ledger.Draft{Text: text})
	p := Plan{Answer: PlanWaiting, URL: posted.URL, Until: posted.Until}
	if err = c.answer(err); err != nil && !errors.Is(err, ErrPlanWaits) {
		p = Plan{}
	}

	return p, c.doing("plan", h.Number, err)
}

// Between two looks at a plan AwaitPlan waits for planFirst, then twice as long each time, up to
// planMost.
const (
	planFirst = time.Second
	planMost  = 15 * time.Second
)

// AwaitPlan waits until the plan of a hold has its answer. nil means that it was approved.
// [ErrLost] means that it was rejected, or that the hold has ended; the Plan says by whom and why.
// Any other error, such as the end of ctx, means that the answer is not known yet. [Client.Keep]
// may run meanwhile.
func (c *Client) AwaitPlan(ctx context.Context, h Hold) (Plan, error) {
	if err := c.of(h); err != nil {
		return Plan{}, c.doing("await the plan of", h.Number, err)
	}

	for pause := planFirst; ; pause = min(2*pause, planMost) {
		p, err := c.lookAtPlan(ctx, h)
		if err != nil || p.Answer != PlanWaiting {
			return p, c.doing("await the plan of", h.Number, err)
		}
		if err := setup.Clock().Sleep(ctx, pause); err != nil {
			return p, c.doing("await the plan of", h.Number, err)
		}
	}
}

// lookAtPlan returns where the plan of a hold stands.
func (c *Client) lookAtPlan(ctx context.Context, h Hold) (Plan, error) {
	f, err := c.s.Ledger.Look(ctx, c.issue(h.Number))
	if err != nil {
		return Plan{}, c.answer(err)
	}

	own, found := f.Log.Find(h.key().worker)
	p := trouble.Plan(c.issue(h.Number), own, c.s.Ledger.Rules().Terms)
	foreign := f.Log.RefuseLogin(h.key().worker, f.Viewer)
	switch {
	case !found:
		return Plan{}, &Problem{Code: answer.Lost, Cause: claim.ErrNotHolder}
	case foreign != nil:
		return Plan{}, &Problem{Code: answer.Lost, Cause: foreign}
	case own.Plan == nil && own.End == nil:
		return Plan{}, ErrNoPlan
	case p.Answer == PlanRejected:
		return p, lost("the plan was rejected")
	case p.Answer == PlanOver:
		return p, lost("the hold is over")
	}

	return p, nil
}

// Approve approves the plan that waits on an issue. The approval is recorded in the name of the
// token's login. [ErrNoPlan] says that none waits, [ErrBarred] that this login may not answer: it
// wrote the plan, or the configuration names others.
func (c *Client) Approve(ctx context.Context, number int) error {
	return c.answerPlan(ctx, "approve the plan of", number, ledger.Answer{Kind: claim.KindApprove})
}

// Reject rejects the plan that waits on an issue. Its hold ends, and the issue is ready again. This
// does not count as a failed attempt. reason is for the worker that wrote the plan. The errors are
// those of [Client.Approve].
func (c *Client) Reject(ctx context.Context, number int, reason string) error {
	return c.answerPlan(ctx, "reject the plan of", number, ledger.Answer{Kind: claim.KindReject, Reason: reason})
}

// answerPlan answers in the name of the token's login, if its records count.
func (c *Client) answerPlan(ctx context.Context, verb string, number int, a ledger.Answer) (err error) {
	a.By, err = c.s.Client.Viewer(ctx)
	if err == nil {
		err = c.s.Ledger.Heard(ctx, c.issue(number))
	}

	if err == nil {
		_, err = c.s.Ledger.Answer(ctx, c.issue(number), a)
	}

	return c.doing(verb, number, c.answer(err))
}
