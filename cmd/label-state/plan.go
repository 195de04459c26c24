package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/slackgate"
	"github.com/urfave/cli/v2"
)

func planCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "post a plan and wait for go or no-go", ArgsUsage: "REF",
		Description: "The holder says what it means to do. Until the answer the issue shows that a plan waits, and the hold outlives its " +
			"ttl; without an answer within plan.timeout it ends. Answered by \"approve\" and \"reject\", by /approve and /reject in a " +
			"comment, or by 👍 and 👎 on the plan.\n\nWith --wait and no --body-file nothing is posted: it waits for the answer to the plan that was.\n\n" +
			"Exit code 0: posted, or with --wait approved; 1: rejected, or the hold is over; 3: no answer yet." +
			refForms +
			"   label-state plan 42 --body-file plan.md\n" +
			"   label-state plan 42 --body-file - --wait 8h\n" +
			"   label-state plan 42 --wait 8h",
		Flags: writing(append(identityFlags(),
			&cli.StringFlag{Name: "body-file", Usage: "`FILE` with the plan, - for standard input"},
			&cli.DurationFlag{Name: "wait", Usage: "wait this long for the answer"},
			&cli.BoolFlag{Name: "slack", Usage: "show it in the channel of plan.slack too, and take the answer from there; with --wait"},
		)...),
		Action: t.on(postPlan),
	}
}

func approveCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "approve", Usage: "let the plan that waits go ahead", ArgsUsage: "REF",
		Description: "Recorded with your login. Who may: plan.approvers, else everybody who may label, except who wrote the plan." +
			refForms + "   label-state approve 42",
		Flags: writing(),
		Action: t.on(func(ctx context.Context, c *call, i claim.Issue) error {
			return c.answerPlan(ctx, i, claim.KindApprove, "approved", "")
		}),
	}
}

func rejectCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "reject", Usage: "turn the plan that waits down; the issue is free again", ArgsUsage: "REF",
		Description: "Recorded with your login; it is no failed attempt. Who may: as for \"approve\"." +
			refForms + "   label-state reject 42 --reason 'too large, split it'",
		Flags: writing(&cli.StringFlag{Name: "reason", Usage: "why, for whoever planned it"}),
		Action: t.on(func(ctx context.Context, c *call, i claim.Issue) error {
			return c.answerPlan(ctx, i, claim.KindReject, "rejected", c.String("reason"))
		}),
	}
}

// A planView is the JSON of a plan.
type planView struct {
	Issue  string `json:"issue"`
	Answer string `json:"answer"` // posted, approved, rejected, waiting or over
	Worker string `json:"worker"`
	URL    string `json:"url"`
	Until  string `json:"until,omitempty"` // while it waits
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// A proposal is what a plan command is about to post.
type proposal struct {
	worker claim.Worker
	text   string
	gate   *slackgate.Gate // nil without --slack
}

// proposal reads the command line.
func (c *call) proposal(i claim.Issue) (p proposal, err error) {
	if err = c.waitable(); err != nil {
		return p, err
	}
	if p.text, err = c.bodyFile(); err != nil {
		return p, err
	}
	if p.worker, _, err = c.holder(i); err != nil {
		return p, err
	}
	p.gate, err = c.gate()
	return p, err
}

func postPlan(ctx context.Context, c *call, i claim.Issue) error {
	if c.String("body-file") == "" && c.IsSet("wait") {
		return awaitPosted(ctx, c, i)
	}
	p, err := c.proposal(i)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		if err := c.holds(ctx, i, p.worker, 0); err != nil {
			return err
		}
		return c.answer(reply{Issue: i.String(), Answer: "dry-run"}, fmt.Sprintf("would post a plan of %d bytes on %s for %s\n", len(p.text), i, p.worker))
	}
	posted, err := c.propose(ctx, i, p)
	waits := errors.Is(err, ledger.ErrPlanWaits)
	switch {
	case waits && !c.IsSet("wait"):
		return &failure{err: &answerNo{err.Error() + ": " + posted.URL}, hint: waitOn(i)}
	case !waits && c.late(err) != nil:
		return err
	case c.IsSet("wait"):
		return c.awaitAnswer(ctx, i, p.worker, p.gate)
	}
	v := planView{Issue: i.String(), Answer: "posted", Worker: p.worker.String(), URL: posted.URL, Until: stamp(posted.Until)}
	return c.answer(v, fmt.Sprintf("posted %s\nit waits for an answer until %s\n", posted.URL, moment(posted.Until)))
}

// propose posts the plan, first in Slack if that was asked for: the record names the message.
func (c *call) propose(ctx context.Context, i claim.Issue, p proposal) (ledger.Proposal, error) {
	d := ledger.Draft{Text: p.text}
	if p.gate != nil {
		var err error
		if d.Gate, err = c.showInSlack(ctx, p.gate, i, p.worker, p.text); err != nil {
			return ledger.Proposal{}, err
		}
	}
	return c.Ledger.Plan(ctx, i, p.worker, d)
}

// planLimit is the longest plan that is read, in bytes: longer than a comment can be.
const planLimit = 256 << 10

func (c *call) bodyFile() (string, error) {
	from, name := c.in, c.String("body-file")
	switch name {
	case "":
		return "", wrong("plan", "what is the plan? Give --body-file FILE, or - for standard input")
	case "-":
	default:
		f, err := os.Open(name)
		if err != nil {
			return "", wrong("plan", "--body-file: %s", err)
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, planLimit))
	if err != nil {
		return "", wrong("plan", "--body-file: %s", err)
	}
	return string(text), nil
}

// viewPlan is the plan of a claim; over is the answer when the hold ended without one.
func viewPlan(i claim.Issue, c claim.Claim, t claim.Terms) planView {
	v := planView{Issue: i.String(), Worker: c.Record.Worker.String(), Answer: "over"}
	if c.Plan != nil {
		v.URL, v.By = c.Plan.URL, c.Plan.By
	}
	switch {
	case c.End != nil:
		v.By, v.Reason = c.End.By, oneLine(cmp.Or(c.End.Reason, c.End.Outcome))
		if c.End.Outcome == claim.OutcomePlanRejected {
			v.Answer = "rejected"
		}
	case c.Plan == nil:
	case c.Plan.Approved:
		v.Answer = "approved"
	default:
		v.Answer = "waiting"
		if end, limited := c.Until(t); limited {
			v.Until = stamp(end)
		}
	}
	return v
}

func (c *call) planAnswer(v planView) error {
	if v.Answer == "approved" {
		return c.answer(v, fmt.Sprintf("approved by %s: go on with %s\n", oneLine(v.By), v.Issue))
	}
	text := "the hold is over: " + v.Reason
	if v.Answer == "rejected" {
		text = fmt.Sprintf("rejected by %s: %s", oneLine(v.By), v.Reason)
	}
	no := &failure{err: &answerNo{text}, hint: "stop work on it; see where it stands: label-state status " + v.Issue}
	return errors.Join(no, c.answerJSON(v))
}

// answerPlan answers the plan that waits in the name of whose token this is.
func (c *call) answerPlan(ctx context.Context, i claim.Issue, answer claim.Kind, word, reason string) error {
	by, err := c.Viewer(ctx)
	if err != nil {
		return err
	}
	if err := c.counted(ctx, i, by); err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return c.wouldAnswer(ctx, i, answer, by)
	}
	var rep ledger.Repair
	if answer == claim.KindApprove {
		rep, err = c.Ledger.Approve(ctx, i, time.Time{}, by)
	} else {
		rep, err = c.Ledger.Reject(ctx, i, time.Time{}, by, reason)
	}
	if err = c.late(err); err != nil {
		return unanswerable(i, err)
	}
	return c.answer(moved(rep, word), fmt.Sprintf("%s the plan on %s: %s -> %s\n", word, i, state(rep.Was), state(rep.Is)))
}

// counted refuses a login whose records nobody else would count (PRODUCT ruling 7).
func (c *call) counted(ctx context.Context, i claim.Issue, login string) error {
	if labels.Has(c.Config.Trust.Logins, login) {
		return nil
	}
	may, err := c.Client.MayLabel(ctx, ledger.Repo{Owner: i.Owner, Name: i.Repo}, login)
	if err != nil || may {
		return err
	}
	return unanswerable(i, &ledger.BarredError{Login: login, Why: login + " may not label " + i.Slug() + ", so the answer would not count"})
}

func (c *call) wouldAnswer(ctx context.Context, i claim.Issue, answer claim.Kind, by string) error {
	f, _, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err != nil {
		return err
	}
	h, held := f.Log.Holder()
	if !held || !h.Plan.Pending() {
		return unanswerable(i, claim.ErrNoPlan)
	}
	if why := c.Ledger.Rules().Bars(h, answer, by); why != "" {
		return unanswerable(i, &ledger.BarredError{Login: by, Why: why})
	}
	return c.answer(reply{Issue: i.String(), Answer: "dry-run"}, fmt.Sprintf("would %s the plan of %s on %s\n", answer, h.Record.Worker, i))
}

// planAnswers are for a login that may not answer a plan, and for a Slack that asks to wait.
func planAnswers() []answer {
	return []answer{
		on(exitNo, help[*ledger.BarredError]),
		on(exitUnknown, says[*slackgate.BusyError]("wait that long, then run it again; or leave --slack out: a plan can be answered on GitHub")),
	}
}

// unanswerable turns the ledger's words into a no.
func unanswerable(i claim.Issue, err error) error {
	no := err
	barred, is := errors.AsType[*ledger.BarredError](err)
	switch {
	case is:
		no = barred
	case errors.Is(err, claim.ErrNoPlan):
		no = &answerNo{"no plan is waiting for an answer"}
	case errors.Is(err, claim.ErrOverdue):
		no = &answerNo{"the plan waited too long; its hold is over"}
	case errors.Is(err, claim.ErrEnded), errors.Is(err, claim.ErrNotHolder):
		no = &answerNo{"the hold has ended"}
	default:
		return err
	}
	return &failure{err: no, hint: "see where it stands: label-state status " + i.String()}
}
