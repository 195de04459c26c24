package main

import (
	"context"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/urfave/cli/v2"
)

func renewCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "renew", Usage: "extend a lease; exit 1 means stop all work on it", ArgsUsage: "REF",
		Description: "Edits the claim comment, so that a long run leaves one comment behind. Who asks is looked up in this work tree when no flag names it." +
			refForms +
			"   label-state renew 42\n" +
			"   label-state renew acme/app#42 --codename lucius --firing-id run-7",
		Flags:  writing(holderFlags()...),
		Action: t.on(renewIssue),
	}
}

func renewIssue(ctx context.Context, c *call, i claim.Issue) error {
	w, token, err := c.holder(i)
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		if err := c.holds(ctx, i, w, token); err != nil {
			return err
		}
		return c.answer(reply{Issue: i.String(), Answer: "dry-run"}, fmt.Sprintf("would renew %s for %s\n", i, w))
	}
	h, err := c.Ledger.Renew(ctx, i, w, token)
	if err != nil {
		return err
	}
	if err := c.Remember(h); err != nil {
		warn(c.err, "renewed, but this work tree's record could not be written: %s", err)
	}
	return c.answer(held(h, "renewed"), "renewed "+describeHold(h))
}

// holderFlags say who holds an issue, and prove that it is the hold that stands.
func holderFlags() []cli.Flag { return append(identityFlags(), tokenFlag()) }

func tokenFlag() cli.Flag {
	return &cli.Int64Flag{Name: "token", Usage: "fencing token `N` that claim printed (default: what this work tree recorded)"}
}

// holder is who holds the issue from here: named by flags or environment, else recorded by
// claim in this work tree. The fencing token is 0 when nobody told it.
func (c *call) holder(i claim.Issue) (claim.Worker, int64, error) {
	w, token, err := c.recorded(i)
	if c.IsSet("token") {
		token = c.Int64("token")
	}
	if err == nil && token < 0 {
		return w, 0, wrong(path(c.Context), "--token %d: want the number that claim printed", token)
	}
	return w, token, err
}

func (c *call) recorded(i claim.Issue) (claim.Worker, int64, error) {
	w := c.worker()
	recorded, found, err := c.Recall(i)
	if err != nil && (w.Codename == "" || w.FiringID == "") {
		return w, 0, err
	}
	switch {
	case found && (w.Codename == "" || w.Codename == recorded.Worker.Codename) && (w.FiringID == "" || w.FiringID == recorded.Worker.FiringID):
		return recorded.Worker, recorded.Token, nil
	case w.Codename != "" && w.FiringID != "":
		return w, 0, nil
	}
	return w, 0, wrong(path(c.Context), "this work tree has no hold on %s; name the worker with --codename and --firing-id", i)
}
