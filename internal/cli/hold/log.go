package hold

import (
	"context"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/lifecycle"
)

type logParams struct {
	cli.AnIssue
	cli.OneRepo
}

// Log shows the records of an issue.
func Log() cli.Verb {
	return cli.Do(cli.Verb{
		Name:     "log",
		Summary:  "the records of an issue, oldest first",
		About:    "One line for each record, in the order that decides. A record that does not count is shown with the reason.",
		Examples: "label-state log 42\nlabel-state log acme/app#42 --json\n",
		Shows:    true,
		Tools: []cli.Tool{{
			Name:      "log",
			Title:     "The records of an issue",
			Set:       cli.Work,
			Takes:     "issue",
			Reads:     true,
			Many:      true,
			About:     "Lists the records of an issue in the order that decides: claims, releases, and what does not count.",
			Untrusted: "worker outcome by reason pr ignored",
		}},
	}, cli.OnIssue(showLog))
}

func showLog(ctx context.Context, c *cli.Call, i claim.Issue, _ *logParams) error {
	f, err := c.Session.Ledger.Look(ctx, i)
	switch {
	case err == nil:
	case cli.ProblemOf(err).Code == answer.Store: // the comments have been read
		c.Warnf("%s; this is the log alone, and the lease store decides", err)
	default:
		return err
	}

	if f.Unshown > 0 {
		c.Warnf("%s: %s", i, lifecycle.Unshown(f.Unshown))
	}
	entries := cli.Timeline(f.Log)
	if len(entries) == 0 {
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
