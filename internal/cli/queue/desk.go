package queue

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/ledger"
)

// queueOf is the queue of the session's repository, as the worker of the command line sees it, or a
// contributor. That records of the own login do not count comes once, instead of whose it cannot
// tell of each issue: a list warns of it, and a claim fails with it.
func queueOf(ctx context.Context, c *cli.Call, p *nextParams, contributes bool) *githubwork.Source {
	said := !p.List && !p.NoClaim
	o := githubwork.Options{
		Repo:    c.Session.Repo,
		Worker:  c.Claimant(),
		TTL:     p.TTL,
		Exclude: c.Source.Exclude,
		Shown:   p.List || p.NoClaim || p.DryRun,
		Take: func(ctx context.Context, i claim.Issue, req ledger.Request) (ledger.Hold, error) {
			h, err := c.Session.Ledger.Claim(ctx, i, req)
			return h, c.RecordClaim(h, err)
		},
		Warn: func(err error) {
			no := c.Outside(ctx, err)
			if no == err || !said {
				c.Warnf("%s", no)
			}
			said = said || no != err
		},
	}
	if contributes { // who takes by a comment, which knows no entry of a fleet
		o.Contributor, o.Worker, o.Exclude = true, claim.Worker{}, nil
		o.Queues = c.Session.Config.Contributors.Queues()
		var err error
		if o.Limit, err = cli.ContributorLimit(ctx, c.Session); err != nil {
			c.Warnf("whether you may claim one more could not be found out: %s", err)
		}
	}

	return githubwork.New(c.Session.Client, c.Session.Ledger, o)
}
