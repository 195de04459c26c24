package queue

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"

	"github.com/label-state/label-state/internal/ledger"
)

type advanceParams struct {
	cli.HeldIssue
	cli.Identity
	To string `flag:"to" value:"STAGE" text:"stage to go to (default: the next)"`
	cli.Writing
}

// Advance moves an issue to another stage.
func Advance() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "advance",
		Summary: "move an issue to the next stage of its pipeline",
		About: "For repositories with preset: stages. The holder moves the issue on and ends its hold, by one record; the last " +
			"stage closes the issue as completed. Without --codename, and without a hold of this worktree, a person moves an issue that nobody holds.",
		Examples: "label-state advance 42\nlabel-state advance 42 --to ready  # back to the first stage\n",
		Tools: []cli.Tool{{
			Name:     "advance",
			Title:    "Move an issue to its next stage",
			Set:      cli.Plan,
			Takes:    "issue codename firing-id to",
			Needs:    "issue",
			Worker:   true,
			Destroys: true,
			Repeats:  true,
			About: "In repositories with stages: moves an issue that you hold to the next stage and ends your hold. The last stage closes the issue as completed. " +
				"Use it in place of release when the stage's work is done.",
		}},
	}, cli.OnIssue(advanceIssue))
}

func advanceIssue(ctx context.Context, c *cli.Call, i claim.Issue, p *advanceParams) error {
	a, err := readAdvance(ctx, c, i, p.To)
	if err != nil {
		return err
	}

	rep, to, err := c.Session.Ledger.Advance(ctx, i, a)
	if ledger.IsUnsent(err) {
		return c.Would(i, "move %s to %s (label %s)", i, to.Name, to.Label)
	}

	err = c.NoteLost(i, a.Worker, c.WarnLate(err))
	if err == nil || errors.Is(err, claim.ErrEnded) {
		c.ForgetHold(i)
	}

	if err != nil {
		return err
	}
	stages := c.Rules().Scheme.Stages
	if to == stages[len(stages)-1] {
		if err := c.Session.Client.CloseCompleted(ctx, i); err != nil {
			return err
		}
	}

	return c.Answer(cli.ViewMove(rep, answer.Advanced),
		fmt.Sprintf("advanced %s to %s: %s\n", i, to.Name, cli.Move(rep.Was, rep.Is, rep.Change)))
}

// readAdvance is who moves the issue: the worker that flags, environment or this worktree name,
// else the person whose token this is.
func readAdvance(ctx context.Context, c *cli.Call, i claim.Issue, to string) (ledger.Advance, error) {
	a := ledger.Advance{To: to}
	w, _, err := c.Holder(ctx, i)
	switch {
	case err == nil:
		a.Worker = w
		return a, nil
	case !errors.Is(err, cli.ErrNoHold) || c.Worker().Codename != "":
		return a, err
	}

	a.By, err = c.Session.Client.Viewer(ctx)
	if err != nil {
		return a, err
	}

	return a, c.Session.Ledger.Heard(ctx, i)
}
