package labelstate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/trouble"
)

// A StaleClaim is an expired hold whose end is not recorded yet. Times are GitHub's.
type StaleClaim struct {
	Number             int
	Codename, FiringID string
	Since, Renewed     time.Time
	Until              time.Time // end of the lease
	URL                string    // of the claim comment
}

// StaleClaims lists the holds that a sweep would release. It writes nothing.
func (c *Client) StaleClaims(ctx context.Context) ([]StaleClaim, error) {
	rules := c.s.Ledger.Rules()
	out := []StaleClaim{}
	for f, err := range c.s.Client.Scan(ctx, c.s.Repo, time.Time{}) {
		if err == nil && len(f.Log.Live()) > 0 { // of others nothing is to be asked of a lease store
			f, err = c.s.Ledger.Ruled(ctx, f)
		}

		if err != nil {
			return nil, fmt.Errorf("list stale claims of %s: %w", c.Repo(), err)
		}

		for _, held := range rules.Over(f) {
			until, _ := held.Until(rules.Terms)
			w := held.Record.Worker
			out = append(out, StaleClaim{
				f.Issue.Number, w.Codename, w.FiringID, held.Created, held.Updated, until,
				held.URL,
			})
		}
	}

	return out, nil
}

// SweepOptions say what to sweep. The zero value is valid.
type SweepOptions struct {
	MaxAge time.Duration // shortens the lease of claims without a ttl of their own; 0 leaves it
	// besides every issue with a lifecycle label, those that changed since then; zero is two days
	// ago
	Since time.Time
}

// A Report is what a sweep did.
type Report = answer.Sweep

// Sweep releases expired holds and brings labels in line with the log. It goes on past an issue
// that fails. A nil error means that every issue was examined and every write succeeded; the Report
// is valid in any case. With Options.DryRun it writes nothing and reports what it would do.
func (c *Client) Sweep(ctx context.Context, o SweepOptions) (Report, error) {
	if o.Since.IsZero() {
		o.Since = time.Now().Add(-ledger.Lookback)
	}

	r := c.s.Ledger.Sweep(ctx, c.s.Client, ledger.Sweep{
		Repos:  []claim.Repo{c.s.Repo},
		By:     ledger.SweepID(time.Now(), setup.Word()),
		MaxAge: o.MaxAge,
		Since:  o.Since,
		DryRun: c.dryRun,
	})
	out := trouble.NewSweep(c.dryRun)
	trouble.AddSweep(&out, r)

	var failed []error
	for _, f := range r.Findings {
		if f.Err != nil {
			failed = append(failed, fmt.Errorf("sweep %s: %w", f.Issue, f.Err))
		}
	}

	for _, what := range r.Skipped {
		failed = append(failed, errors.New("skipped "+what))
	}

	return out, errors.Join(failed...)
}
