package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/urfave/cli/v2"
)

func advanceCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "advance", Usage: "move an issue to the next stage of its pipeline", ArgsUsage: "REF",
		Description: "For repositories with preset: stages. The holder moves the issue on and ends its hold, by one record; the last " +
			"stage closes the issue as completed. Without --codename, and without a hold of this work tree, a person moves an issue that nobody holds." +
			refForms +
			"   label-state advance 42\n" +
			"   label-state advance 42 --to ready    back to the first stage",
		Flags: writing(append(identityFlags(),
			&cli.StringFlag{Name: "to", Usage: "`STAGE` to go to (default: the next)"},
		)...),
		Action: t.on(advanceIssue),
	}
}

func advanceIssue(ctx context.Context, c *call, i claim.Issue) error {
	a, err := c.mover(ctx, i)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		return c.wouldAdvance(ctx, i, a)
	}
	rep, to, err := c.Ledger.Advance(ctx, i, a)
	err = c.late(err)
	if !a.Worker.IsZero() && (err == nil || errors.Is(err, claim.ErrEnded)) {
		c.forget(i)
	}
	if err != nil {
		return err
	}
	stages := c.Ledger.Rules().Scheme.Stages
	if to == stages[len(stages)-1] {
		if err := c.Client.CloseCompleted(ctx, i); err != nil {
			return err
		}
	}
	return c.answer(moved(rep, "advanced"), fmt.Sprintf("advanced %s to %s: %s -> %s\n", i, to.Name, state(rep.Was), state(rep.Is)))
}

// mover is who moves the issue: the worker that flags, environment or this work tree name, else the person whose token this is.
func (c *call) mover(ctx context.Context, i claim.Issue) (ledger.Advance, error) {
	a := ledger.Advance{To: c.String("to")}
	w, _, err := c.holder(i)
	var use *usageError
	switch {
	case err == nil:
		a.Worker = w
		return a, nil
	case !errors.As(err, &use) || c.worker().Codename != "":
		return a, err
	}
	a.By, err = c.Viewer(ctx)
	if err != nil {
		return a, err
	}
	return a, c.counted(ctx, i, a.By)
}

func (c *call) wouldAdvance(ctx context.Context, i claim.Issue, a ledger.Advance) error {
	f, v, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: a.Worker})
	if err != nil {
		return err
	}
	to, err := c.Ledger.Target(f, a)
	switch {
	case err != nil:
		return err
	case !a.Worker.IsZero():
		if err := c.holds(ctx, i, a.Worker, 0); err != nil {
			return err
		}
	case v.Has(lifecycle.CodeInFlight):
		return &ledger.HeldError{Issue: i, Verdict: v}
	}
	return c.answer(reply{Issue: i.String(), Answer: "dry-run"}, fmt.Sprintf("would move %s to %s\n", i, describeStage(to)))
}

func describeStage(s labels.Stage) string { return fmt.Sprintf("%s (label %s)", s.Name, s.Label) }
