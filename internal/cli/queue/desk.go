package queue

import (
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/ledger"
)

// queueOf is the queue of the session's repository, as the worker of the command line sees it.
func queueOf(c *cli.Call, ttl time.Duration) *githubwork.Source {
	return githubwork.New(c.Session.Client, c.Session.Ledger, githubwork.Options{
		Repo:    c.Session.Repo,
		Worker:  c.Claimant(),
		TTL:     ttl,
		Exclude: c.Source.Exclude,
		Take: func(ctx context.Context, i claim.Issue, req ledger.Request) (ledger.Hold, error) {
			h, err := c.Session.Ledger.Claim(ctx, i, req)
			return h, c.RecordClaim(h, err)
		},
		Warn: func(err error) { c.Warnf("%s", err) },
	})
}
