package hold

import (
	"context"
	"fmt"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// NewRenewCommand makes the command renew.
func NewRenewCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "renew",
		Usage:     "extend a lease; exit 1 means stop all work on it",
		ArgsUsage: "[ISSUE]",
		Description: "Edits the claim comment, so that a long run leaves one comment behind. Who asks is looked up in this worktree when no flag names it, and so is the issue." +
			cli.IssueForms +
			"   label-state renew 42\n" +
			"   label-state renew acme/app#42 --codename lucius --firing-id run-7",
		Flags:  cli.WriteFlags(cli.HolderFlags()...),
		Action: t.OnHeld(renewIssue),
	}
}

func renewIssue(ctx context.Context, c *cli.Call, i claim.Issue) error {
	w, token, err := c.Holder(i)
	if err != nil {
		return err
	}
	if c.Flags.Bool("dry-run") {
		if err := c.Session.Ledger.MayRenew(ctx, i, w, token); err != nil {
			return err
		}
		return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.DryRun},
			fmt.Sprintf("would renew %s for %s\n", i, w))
	}

	h, err := c.Session.Ledger.Renew(ctx, i, w, token)
	if err != nil {
		return err
	}

	if err := c.Session.Extended(h); err != nil {
		cli.Warnf(c.Terminal.Err, "renewed, but this worktree's record could not be written: %s", err)
	}

	return c.Answer(cli.ViewHold(h, answer.Renewed), "renewed "+describeHold(h))
}
