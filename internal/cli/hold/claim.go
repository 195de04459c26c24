// Package hold takes, keeps, shows and releases holds: claim, renew, release, run, push,
// dedup-check, status and log.
package hold

import (
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
)

type claimParams struct {
	cli.AnIssue
	cli.Identity
	cli.OfAgent
	cli.Claiming
	Wait  time.Duration `flag:"wait" text:"keep trying this long while the issue is not free"`
	Force bool          `flag:"force" text:"end the current hold; recorded with your login"`
	cli.Because
	cli.Writing
}

// Claim takes an issue.
func Claim() cli.Verb {
	return cli.Do(cli.Verb{
		Name:    "claim",
		Summary: "take an issue, as a worker or as a person",
		About: "With --codename a worker takes the hold; however many try, exactly one wins. Without it the " +
			"owner of the token takes it, until they release it.",
		Examples: "label-state claim acme/app#42 --codename lucius --ttl 2h\n" +
			"label-state claim 42 --codename lucius --wait 10m  # until it is free\n" +
			"label-state claim 42 --force                       # take over, as a person\n",
		Tools: []cli.Tool{{
			Name:   "claim",
			Title:  "Claim an issue",
			Set:    cli.Core,
			Takes:  "issue codename firing-id ttl branch resume",
			Worker: true,
			About: "Takes an issue before you work on it. However many workers try, exactly one wins. " +
				"Answer no means that somebody else has it, or that it may not be worked on now: take another. Keep result.firing_id; renew before result.renew_before. " +
				"Use resume only when you know that the other process with the same firing_id is gone.",
		}},
	}, cli.OnIssue(func(ctx context.Context, c *cli.Call, i claim.Issue, p *claimParams) error {
		err := c.OrContribute(ctx, i, c.Outside(ctx, takeIssue(ctx, c, i, p)))
		if p.Force || c.Claimant().Codename != "" {
			return err
		}
		return c.OrComment(ctx, i, "/claim", err)
	}))
}

func takeIssue(ctx context.Context, c *cli.Call, i claim.Issue, p *claimParams) error {
	if p.Reason != nil && !p.Force {
		return c.Usagef("--reason goes with --force")
	}
	w := c.Claimant()
	switch {
	case p.Resume && p.Force:
		return c.Usagef("--resume and --force exclude each other")
	case p.Resume && w.Codename == "":
		return c.Usagef("--resume is for a worker; give --codename and --firing-id")
	}

	if w.Codename == "" {
		if err := c.OneSession(); err != nil {
			return err
		}
		return takeAsPerson(ctx, c, i, p)
	}

	req, err := c.Asks(i, w, p.Claiming)
	if err != nil {
		return err
	}

	req.Force, req.Reason = p.Force, p.Why()
	if p.Force {
		if err := c.Session.Ledger.MayClaim(i, req); err != nil {
			return err
		}
		if err := endFirst(ctx, c, i, req.Seeker(), p.Why()); err != nil {
			return c.WouldClaim(err, w, w.Codename)
		}
	}

	if p.DryRun {
		p.Wait = 0
	}
	h, err := claimWaiting(ctx, c, i, req, p.Wait)
	own, mine, err := c.MineAlready(ctx, err)
	if mine && !req.Force {
		if !own.Overdue {
			if p.TTL > 0 && p.TTL != own.Claim.Lease(c.Rules().Terms) ||
				p.Branch != "" && p.Branch != own.Claim.Record.Branch {
				c.Warnf("the hold stays as it was claimed: %s and %s are for a new one", c.Option("ttl"), c.Option("branch"))
			}
			return c.AnswerMine(i, *own.Claim)
		}
		h, err = c.ClaimOverdue(ctx, i, *own.Claim, req)
	}

	if err = c.RecordClaim(h, err); err != nil {
		return c.WouldClaim(err, w, w.Codename)
	}

	var as [][2]string
	if c.Worker().Codename == "" {
		as = [][2]string{{"  for", "the session of " + w.Codename + " around this command; a person claims outside of it"}}
	}

	return c.Answer(cli.ViewHold(h, answer.Won), "claimed "+cli.DescribeHold(h, as...))
}

// endFirst ends the hold that stands, as --force says, if nothing else is in the way of whoever
// claims.
func endFirst(ctx context.Context, c *cli.Call, i claim.Issue, who lifecycle.Seeker, reason string) error {
	f, v, beyond, err := c.Session.Ledger.CheckForced(ctx, i, who)
	switch {
	case err != nil:
		return err
	case len(beyond.Reasons) > 0 && (who.Person || len(v.Expired) == 0):
		return &ledger.HeldError{Issue: i, Verdict: beyond}
	case f.Log.Used(who.Worker) || !v.Has(lifecycle.CodeInFlight) && !c.Rules().Stuck(f): // the claim says why not, or wins
		return nil
	}

	_, _, err = c.Force(ctx, i, reason)
	return err
}

// claimWaiting claims, and with --wait tries again while the answer is no. A made-up firing id is
// new at every try; a given one that has lost a race, or that another process has, is used up. When
// the caller's time is over the answer is unknown, in a try and between two.
func claimWaiting(ctx context.Context, c *cli.Call, i claim.Issue, req ledger.Request,
	wait time.Duration,
) (ledger.Hold, error) {
	end, said := time.Now().Add(wait), ""
	stop := func() {}
	defer func() { stop() }()
	for pause := cli.RetryFirst; ; pause = min(2*pause, cli.RetryMost) {
		h, err := c.Session.Ledger.Claim(ctx, i, req)
		rest := min(pause, time.Until(end))
		var held *ledger.HeldError
		_, mine, refused := c.MineAlready(ctx, err)
		if mine || !errors.As(refused, &held) {
			return h, err
		}
		if rest <= 0 || (held.Yielded != nil || held.Shared) && req.Worker.FiringID != "" {
			return h, err
		}

		if text := cli.OneLine(held.Error()); text != said {
			stop()
			stop, said = c.Awaits(ctx, i.String()+" ("+text+")", end), text
		}

		_ = setup.Clock().Sleep(ctx, rest) // when the caller's time is over, the next try says so
	}
}
