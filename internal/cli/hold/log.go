package hold

import (
	"context"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/lifecycle"
	urfave "github.com/urfave/cli/v2"
)

// NewLogCommand makes the command log.
func NewLogCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "log",
		Usage:     "the records of an issue, oldest first",
		ArgsUsage: "ISSUE",
		Description: "One line a record, in the order that decides; what does not count is told with the reason." +
			cli.IssueForms + "   label-state log 42\n   label-state log acme/app#42 --json",
		Flags:  cli.RepoFlags(),
		Action: t.OnIssue(showLog),
	}
}

func showLog(ctx context.Context, c *cli.Call, i claim.Issue) error {
	f, err := c.Session.Ledger.Look(ctx, i)
	if err != nil {
		return err
	}

	if f.Unshown > 0 {
		cli.Warnf(c.Terminal.Err, "%s: %s", i, lifecycle.Unshown(f.Unshown))
	}
	entries := cli.Timeline(f.Log)
	if len(entries) == 0 && !c.Flags.Bool("json") {
		return c.Answer(nil, i.String()+" has no records; whether it is free: label-state status "+i.String()+"\n")
	}

	for n, line := range cli.LogLines(entries) {
		at, rest, _ := strings.Cut(line, " ")
		if err := c.Tell(entries[n], c.Paint(cli.InkFaint, at)+" "+rest); err != nil {
			return err
		}
	}

	return nil
}
