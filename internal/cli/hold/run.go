package hold

import (
	"context"
	"errors"
	"slices"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

type runParams struct {
	cli.AnIssue
	Command []string `arg:"-- COMMAND..."`
	cli.Identity
	cli.OfAgent
	cli.Claiming
	cli.Stopping
	cli.Writing
}

// Run runs a command under a hold.
func Run() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "run",
		Summary: "claim an issue, run a command under the hold, release it",
		About: "The lease is renewed while COMMAND runs; without --ttl it is 30m long, or claim.max_ttl if that is less. When the hold is lost, COMMAND gets TERM, and KILL after --grace. " +
			"Its environment says who it is: LABEL_STATE_CODENAME, LABEL_STATE_FIRING_ID, LABEL_STATE_ISSUE, LABEL_STATE_ISSUE_URL, LABEL_STATE_FENCING_TOKEN.\n\n" +
			"Exit code 0 is success if there is a pull request, else no-commit; any other is failure. A signal " +
			"to this program is passed on, and the outcome is cancelled. " +
			"The exit code is that of COMMAND, or 1 when the hold was refused or lost.",
		Examples: "label-state run 42 --codename lucius -- my-agent --task 42\n",
	}, cli.OnIssue(runUnderHold))
}

func runUnderHold(ctx context.Context, c *cli.Call, i claim.Issue, p *runParams) error {
	if err := errors.Join(c.RequireWorker(), c.CheckProgram(p.Command)); err != nil {
		return err
	}

	p.TTL = c.RunTTL(p.TTL)
	req, err := c.Asks(i, c.Claimant(), p.Claiming)
	if err != nil {
		return err
	}

	h, err := c.Session.Ledger.Claim(ctx, i, req)
	if err := c.RecordClaim(h, err); err != nil {
		return c.WouldClaim(orResume(c, i, err), req.Worker, req.Worker.Codename)
	}

	return cli.RunProgram(ctx, c, h, p.Program(c, p.Command))
}

// orResume adds to a refusal by the hold that this worktree has recorded, as after a run that was
// killed, how to go on under it. While a command is at work under it, and to a session, it says
// nothing.
func orResume(c *cli.Call, i claim.Issue, err error) error {
	held, is := errors.AsType[*ledger.HeldError](err)
	recorded, found, unread := c.Session.Recall(i)
	if !is || unread != nil || !found || !recorded.Session.IsZero() || c.Env.InSession() ||
		!cli.Fits(c.Worker(), recorded.Worker) || c.Session.Attended(i) {
		return err
	}

	own := func(r lifecycle.Reason) bool { return r.Claim != nil && r.Claim.Record.Worker == recorded.Worker }
	if !slices.ContainsFunc(held.Verdict.Reasons, own) {
		return err
	}
	return cli.Advise(err, answer.Call("this worktree claimed it; if that process is gone, go on with", answer.Again,
		"--resume"))
}
