// Package hold takes, keeps, shows and releases holds: claim, renew, release, run, push,
// dedup-check, status and log.
package hold

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
	urfave "github.com/urfave/cli/v2"
)

// NewClaimCommand makes the command claim.
func NewClaimCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:      "claim",
		Usage:     "take an issue, as a worker or as a person",
		ArgsUsage: "ISSUE",
		Description: "With --codename (or LABEL_STATE_CODENAME) a worker takes the hold; of any number exactly one wins.\n" +
			"Without it the person whose token it is takes the issue, until they release it; a label and the assignee show it." +
			cli.IssueForms +
			"   label-state claim acme/app#42 --codename lucius --ttl 2h\n" +
			"   label-state claim 42 --codename lucius --wait 10m   until it is free\n" +
			"   label-state claim 42 --force                        take over, as a person",
		Flags: cli.WriteFlags(append(cli.IdentityFlags(),
			cli.AgentFlag(),
			&urfave.DurationFlag{Name: "ttl", Usage: "length of the lease, at most claim.max_ttl (default: claim.ttl)"},
			&urfave.StringFlag{Name: "branch", Usage: "`BRANCH` the work will be pushed to"},
			&urfave.DurationFlag{Name: "wait", Usage: "keep trying this long while the issue is not free"},
			cli.ResumeFlag(),
			&urfave.BoolFlag{Name: "force", Usage: "end a hold that stands; recorded with your login"},
			&urfave.StringFlag{Name: "reason", Usage: "why, with --force"},
		)...),
		Action: t.OnAgentsIssue(takeIssue),
	}
}

func takeIssue(ctx context.Context, c *cli.Call, i claim.Issue) error {
	if c.Flags.IsSet("reason") && !c.Flags.Bool("force") {
		return cli.Usagef("claim", "--reason goes with --force")
	}
	w, resume := c.Claimant(), c.Flags.Bool("resume")
	switch {
	case resume && c.Flags.Bool("force"):
		return cli.Usagef("claim", "--resume and --force exclude each other")
	case resume && w.Codename == "":
		return cli.Usagef("claim", "--resume is for a worker; give --codename and --firing-id")
	}

	if w.Codename == "" {
		if err := c.OneSession(); err != nil {
			return err
		}
		return takeAsPerson(ctx, c, i)
	}

	req, err := c.Asks(i, w)
	if err != nil {
		return err
	}
	if c.Flags.Bool("dry-run") {
		return c.WouldClaim(ctx, i, req)
	}

	req.Force = c.Flags.Bool("force")
	if c.Flags.Bool("force") { // a hold is not ended for a claim that is refused anyway
		if err := c.Session.Ledger.MayClaim(i, req); err != nil {
			return err
		}
		f, v, err := c.Session.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: w})
		if err != nil {
			return err
		}

		others := c.Session.Ledger.Rules().BeyondForce(f, v, false)
		switch {
		case len(others.Reasons) > 0 && len(v.Expired) == 0:
			return &ledger.HeldError{Issue: i, Verdict: others}
		case f.Log.Used(w) || !v.Has(lifecycle.CodeInFlight) && !c.Session.Ledger.Rules().Stuck(f): // the claim says why not, or wins
		default:
			if err := c.ForceFree(ctx, i); err != nil {
				return err
			}
		}
	}

	h, err := claimWaiting(ctx, c, i, req)
	own, mine, err := c.MineAlready(ctx, err)
	if mine && !req.Force {
		if !own.Overdue(c.Session.Ledger.Rules().Terms, time.Now()) {
			return c.AnswerMine(i, own)
		}
		h, err = c.ClaimOverdue(ctx, i, own, req)
	}

	if err = c.RecordClaim(h, err); err != nil {
		return err
	}

	return c.Answer(cli.ViewHold(h, answer.Won), "claimed "+describeHold(h))
}

func describeHold(h ledger.Hold) string {
	until := "without end"
	if !h.Until.IsZero() {
		until = "until " + cli.Moment(h.Until)
		if h.Record.TTL > 0 {
			until += " (" + cli.Round(h.Record.TTL) + ")"
		}
	}

	token := ""
	if h.Token > 0 {
		token = fmt.Sprint(h.Token)
	}

	w := h.Record.Worker
	return fmt.Sprintf("%s %s\n", h.Issue, cli.OneLine(h.Title)) + cli.Table([][2]string{
		{"  worker", w.Codename + " (run " + w.FiringID + ")"},
		{"  lease", until},
		{"  token", token},
		{"  record", h.URL},
	})
}

// claimWaiting claims, and with --wait tries again while the answer is no. A made-up firing id is
// new at every try; a given one that has lost a race, or that another process has, is used up.
func claimWaiting(ctx context.Context, c *cli.Call, i claim.Issue, req ledger.Request) (ledger.Hold, error) {
	end, said := time.Now().Add(c.Flags.Duration("wait")), ""
	for pause := cli.RetryFirst; ; pause = min(2*pause, cli.RetryMost) {
		h, err := c.Session.Ledger.Claim(ctx, i, req)
		rest := min(pause, time.Until(end))
		var held *ledger.HeldError
		if _, mine, _ := c.MineAlready(ctx, err); mine {
			return h, err
		}
		if !errors.As(err, &held) || rest <= 0 || (held.Yielded != nil || held.Shared) && req.Worker.FiringID != "" {
			return h, err
		}

		if text := cli.OneLine(held.Error()); text != said {
			fmt.Fprintf(c.Terminal.Err, "label-state: %s is not free yet: %s\n", i, text)
			said = text
		}

		if setup.Clock().Sleep(ctx, rest) != nil {
			return h, err
		}
	}
}
