package queue

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/slackgate"
	"github.com/label-state/label-state/internal/trouble"
)

// waitOn is the command that waits for the answer to a plan that was posted, where it was asked.
func waitOn(i claim.Issue, gate *slackgate.Gate) []answer.Command {
	args := []string{i.String(), "--wait", "8h"}
	if gate != nil {
		args = append(args, "--slack")
	}
	return []answer.Command{answer.Call("wait for the answer", "plan", args...)}
}

// awaitPosted waits for the answer to the plan that the worker posted before. It posts nothing:
// asking again whether a plan was approved must not put the next one in its place.
func awaitPosted(ctx context.Context, c *cli.Call, i claim.Issue, p *planParams) error {
	w, _, err := c.Holder(ctx, i)
	if err != nil {
		return c.WhoHolds(ctx, i, err)
	}

	gate, err := openGate(c, p)
	if err != nil {
		return err
	}

	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return err
	}

	own, found := f.Log.Find(w)
	foreign := f.Log.RefuseLogin(w, f.Viewer)
	switch {
	case !found:
		return c.Session.Ledger.Holds(f, w, 0)
	case foreign != nil:
		return c.Session.Ledger.Lost(f, w, foreign)
	case own.Plan == nil && own.End == nil:
		return cli.Declined(w.String()+" has posted no plan",
			answer.Call("post it", "plan", i.String(), "--body-file", "FILE"))
	}

	return awaitAnswer(ctx, c, i, w, gate, p.Wait)
}

// awaitAnswer looks again and again until the plan of w has its answer, its hold is over, or --wait
// is.
func awaitAnswer(ctx context.Context, c *cli.Call, i claim.Issue, w claim.Worker, gate *slackgate.Gate,
	wait time.Duration,
) error {
	end := time.Now().Add(wait)
	defer c.Awaits(ctx, "the answer to the plan on "+i.String(), end)()
	asked := slackWatch{gate: gate}
	for pause := cli.RetryFirst; ; pause = min(2*pause, cli.RetryMost) {
		f, err := c.Session.Ledger.Look(ctx, i)
		if err == nil && askSlack(ctx, c, &asked, f, w) {
			f, err = c.Session.Ledger.Look(ctx, i)
		}

		own, _ := f.Log.Find(w)
		v := trouble.Plan(i, own, c.Rules().Terms)
		switch {
		case err != nil || v.Answer == "waiting":
		case v.Answer == "approved":
			return c.Answer(v, fmt.Sprintf("approved by %s: go on with %s\n", cli.OneLine(v.By), v.Issue))
		default:
			_ = c.NoteLost(i, w, c.Session.Ledger.Holds(f, w, 0)) // which the answer says, too
			text := "the hold is over: " + v.Reason
			if v.Answer == "rejected" {
				text = "rejected by " + cli.OneLine(v.By)
				if v.Reason != "" {
					text += ": " + v.Reason
				}
			}
			no := cli.Declined(text, answer.Call("stop work on it; see its state", "status", v.Issue))
			return unanswered(c, v, no)
		}

		rest := min(pause, time.Until(end))
		if rest <= 0 {
			if err != nil {
				return err // the last look saw nothing
			}

			waiting := &answer.Problem{
				Code: answer.Timeout,
				Why:  "no answer within " + printable.Exact(wait) + "; the plan is still waiting",
				Next: waitOn(i, gate),
			}

			return unanswered(c, v, waiting)
		}

		if over := setup.Clock().Sleep(ctx, rest); over != nil {
			return &ledger.UnknownError{Issue: i, Err: cmp.Or(err, over)}
		}
	}
}

// unanswered is a problem whose JSON says besides how the plan stands.
func unanswered(c *cli.Call, v answer.Answer, problem error) error {
	c.No = func(a answer.Answer, _ error) any {
		v.Code, v.Reasons, v.Error, v.Next = a.Code, a.Reasons, a.Error, a.Next
		return v
	}
	return problem
}
