package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	urfave "github.com/urfave/cli/v2"
)

// NewPlanCommand makes the command plan.
func NewPlanCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "plan",
		Usage:     "post a plan and wait for go or no-go",
		ArgsUsage: "ISSUE",
		Description: "The holder says what it means to do. Until the answer the issue shows that a plan waits, and the hold outlives its " +
			"ttl; without an answer within plan.timeout it ends. Answered by \"approve\" and \"reject\", by /approve and /reject in a " +
			"comment, or by 👍 and 👎 on the plan.\n\nWith --wait and no --body-file nothing is posted: it waits for the answer to the plan that was.\n\n" +
			"Exit code 0: posted, or with --wait approved; 1: rejected, or the hold is over; 3: no answer yet." +
			cli.IssueForms +
			"   label-state plan 42 --body-file plan.md\n" +
			"   label-state plan 42 --body-file - --wait 8h\n" +
			"   label-state plan 42 --wait 8h",
		Flags: cli.WriteFlags(append(cli.IdentityFlags(),
			&urfave.StringFlag{Name: "body-file", Usage: "`FILE` with the plan, - for standard input"},
			&urfave.DurationFlag{Name: "wait", Usage: "wait this long for the answer"},
			&urfave.BoolFlag{
				Name:  "slack",
				Usage: "show it in the channel of plan.slack too, and take the answer from there; with --wait",
			},
		)...),
		Action: t.OnIssue(postPlan),
	}
}

// NewApproveCommand makes the command approve.
func NewApproveCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "approve",
		Usage:     "let the plan that waits go ahead",
		ArgsUsage: "ISSUE",
		Description: "Recorded with your login. Who may: plan.approvers, else everybody who may label, except who wrote the plan." +
			cli.IssueForms + "   label-state approve 42",
		Flags: cli.WriteFlags(),
		Action: t.OnIssue(func(ctx context.Context, c *cli.Call, i claim.Issue) error {
			return answerPlan(ctx, c, i, claim.KindApprove)
		}),
	}
}

// NewRejectCommand makes the command reject.
func NewRejectCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "reject",
		Usage:     "turn the plan that waits down; the issue is free again",
		ArgsUsage: "ISSUE",
		Description: "Recorded with your login; it is no failed attempt. Who may: as for \"approve\"." +
			cli.IssueForms + "   label-state reject 42 --reason 'too large, split it'",
		Flags: cli.WriteFlags(&urfave.StringFlag{Name: "reason", Usage: "why, for whoever planned it"}),
		Action: t.OnIssue(func(ctx context.Context, c *cli.Call, i claim.Issue) error {
			return answerPlan(ctx, c, i, claim.KindReject)
		}),
	}
}

func postPlan(ctx context.Context, c *cli.Call, i claim.Issue) error {
	if c.Flags.String("body-file") == "" && c.Flags.IsSet("wait") {
		return awaitPosted(ctx, c, i)
	}
	text, err := readBodyFile(c)
	if err != nil {
		return err
	}

	w, _, err := c.Holder(i)
	if err != nil {
		return err
	}

	gate, err := openGate(c)
	if err != nil {
		return err
	}
	if c.Flags.Bool("dry-run") {
		if err := c.CheckHolds(ctx, i, w, 0); err != nil {
			return err
		}
		return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.DryRun},
			fmt.Sprintf("would post a plan of %d bytes on %s for %s\n", len(text), i, w))
	}

	draft := ledger.Draft{Text: text}
	if gate != nil { // the record names the message in Slack
		if draft.Gate, err = showInSlack(ctx, c, gate, i, w, text); err != nil {
			return err
		}
	}

	posted, err := c.Session.Ledger.Plan(ctx, i, w, draft)
	waits := errors.Is(err, ledger.ErrPlanWaits)
	switch {
	case waits && !c.Flags.IsSet("wait"):
		return &answer.Problem{Code: answer.PlanWaits, Why: err.Error() + ": " + posted.URL, Next: waitOn(i)}
	case !waits && c.WarnLate(err) != nil:
		return err
	case c.Flags.IsSet("wait"):
		return awaitAnswer(ctx, c, i, w, gate)
	}

	v := answer.Answer{
		Issue:  i.String(),
		Answer: answer.Posted,
		Worker: w.String(),
		URL:    posted.URL,
		Until:  posted.Until.UTC(),
	}

	return c.Answer(v, fmt.Sprintf("posted %s\nit waits for an answer until %s\n", posted.URL,
		cli.Moment(posted.Until)))
}

// planLimit is the longest plan that is read, in bytes: longer than a comment can be.
const planLimit = 256 << 10

func readBodyFile(c *cli.Call) (string, error) {
	from, name := c.Terminal.In, c.Flags.String("body-file")
	switch name {
	case "":
		return "", cli.Usagef("plan", "what is the plan? Give --body-file FILE, or - for standard input")
	case "-":
	default:
		f, err := os.Open(name)
		if err != nil {
			return "", cli.Usagef("plan", "--body-file: %s", err)
		}
		defer f.Close()
		from = f
	}

	text, err := io.ReadAll(io.LimitReader(from, planLimit))
	if err != nil {
		return "", cli.Usagef("plan", "--body-file: %s", err)
	}

	return string(text), nil
}

// answerPlan answers the plan that waits in the name of whose token this is.
func answerPlan(ctx context.Context, c *cli.Call, i claim.Issue, kind claim.Kind) error {
	by, err := c.Session.Client.Viewer(ctx)
	if err != nil {
		return err
	}
	if err := checkCounted(ctx, c, i, by); err != nil {
		return err
	}
	if c.Flags.Bool("dry-run") {
		f, err := c.Session.Ledger.Look(ctx, i)
		if err != nil {
			return err
		}

		h, held := f.Log.Holder()
		if !held || !h.Plan.Pending() {
			return unanswerable(i, claim.ErrNoPlan)
		}
		if why := c.Session.Ledger.Rules().Approvers.Bars(h, kind, by); why != "" {
			return unanswerable(i, &ledger.BarredError{Login: by, Why: why})
		}

		return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.DryRun},
			fmt.Sprintf("would %s the plan of %s on %s\n", kind, h.Record.Worker, i))
	}

	var rep ledger.Repair
	word := answer.Approved
	if kind == claim.KindApprove {
		rep, err = c.Session.Ledger.Approve(ctx, i, time.Time{}, by)
	} else {
		word = answer.Rejected
		rep, err = c.Session.Ledger.Reject(ctx, i, time.Time{}, by, c.Flags.String("reason"))
	}

	if err = c.WarnLate(err); err != nil {
		return unanswerable(i, err)
	}

	return c.Answer(cli.ViewMove(rep, word),
		fmt.Sprintf("%s the plan on %s: %s -> %s\n", word, i, cli.StateOf(rep.Was), cli.StateOf(rep.Is)))
}

// checkCounted refuses a login whose records nobody else would count (spec.md#which-records-count).
func checkCounted(ctx context.Context, c *cli.Call, i claim.Issue, login string) error {
	if labels.Has(c.Session.Config.Trust.Logins, login) {
		return nil
	}
	may, err := c.Session.Client.MayLabel(ctx, ledger.Repo{Owner: i.Owner, Name: i.Repo}, login)
	if err != nil || may {
		return err
	}

	return unanswerable(i, &ledger.BarredError{Login: login, Why: login + " may not label " + i.Slug() +
		", so the answer would not count"})
}

// unanswerable turns the ledger's words into a no.
func unanswerable(i claim.Issue, err error) error {
	barred, is := errors.AsType[*ledger.BarredError](err)
	switch {
	case is:
		return &answer.Problem{Code: answer.Barred, Why: barred.Why, Cause: err}
	case errors.Is(err, claim.ErrNoPlan):
		return &answer.Problem{Code: answer.NoPlan}
	case errors.Is(err, claim.ErrOverdue):
		return &answer.Problem{Code: answer.NoPlan, Why: "the plan waited too long; its hold is over"}
	case errors.Is(err, claim.ErrEnded), errors.Is(err, claim.ErrNotHolder):
		return &answer.Problem{Code: answer.NoPlan, Why: "the hold has ended"}
	}

	return err
}
