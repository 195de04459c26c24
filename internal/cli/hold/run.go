package hold

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// NewRunCommand makes the command run.
func NewRunCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "run",
		Usage:     "claim an issue, run a command under the hold, release it",
		ArgsUsage: "ISSUE -- COMMAND...",
		Description: "The lease is renewed while COMMAND runs. When the hold is lost, COMMAND gets TERM, and KILL after --grace. " +
			"Its environment says who it is: LABEL_STATE_CODENAME, LABEL_STATE_FIRING_ID, LABEL_STATE_ISSUE, LABEL_STATE_ISSUE_URL, LABEL_STATE_FENCING_TOKEN.\n\n" +
			"Exit code 0 with a pull request, or on one, is success, without one no-commit; another exit code is failure; a signal to this program is passed on and is cancelled. " +
			"The exit code is that of COMMAND, or 1 when the hold was refused or lost. --timeout is for the claim." +
			cli.IssueForms +
			"   label-state run 42 --codename lucius -- my-agent --task 42",
		Flags: cli.WriteFlags(append(cli.IdentityFlags(),
			&urfave.DurationFlag{Name: "ttl", Usage: "length of the lease, at most claim.max_ttl (default: 30m)"},
			&urfave.StringFlag{Name: "branch", Usage: "`BRANCH` the work will be pushed to"},
			cli.ResumeFlag(),
			cli.GraceFlag(),
		)...),
		Action: func(cc *urfave.Context) error { return runUnderHold(t, cc) },
	}
}

func runUnderHold(t cli.Terminal, cc *urfave.Context) error {
	args := cc.Args().Slice()
	if len(args) < 2 || args[1] != "--" {
		return cli.Usagef("run", "run: want an issue, --, and a command")
	}

	o := cli.SetupOptions(cc)
	if o.Ref = args[0]; o.Ref == "" {
		return cli.Usagef("run", "run: the issue is empty")
	}

	return t.WithSession(cc, o, func(ctx context.Context, c *cli.Call) error {
		if err := errors.Join(c.RequireWorker(), cli.CheckProgram(c, args[2:])); err != nil {
			return err
		}
		req, err := c.Asks(c.Session.Issue, c.Claimant())
		if err != nil {
			return err
		}
		if c.Flags.Bool("dry-run") {
			return c.WouldClaim(ctx, c.Session.Issue, req)
		}

		h, err := c.Session.Ledger.Claim(ctx, c.Session.Issue, req)
		if err := c.RecordClaim(h, err); err != nil {
			return err
		}

		return cli.RunProgram(ctx, c, h, cli.Program{Args: args[2:], In: c.Terminal.In})
	})
}
