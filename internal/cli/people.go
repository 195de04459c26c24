package cli

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
)

// ForceFree ends whatever hold an issue has, in the name of the login that is signed in, and names on standard error whoever lost it. Errors are those
// of Ledger.Force.
func (c *Call) ForceFree(ctx context.Context, i claim.Issue) error {
	by, err := c.Session.Client.Viewer(ctx)
	if err != nil {
		return err
	}
	_, ended, err := c.Session.Ledger.Force(ctx, i, by, c.Flags.String("reason"))
	c.WarnForced(i, ended)
	return c.WarnLate(err)
}

// WarnForced names whoever lost an issue by force. A worker that lost it may act until it asks next (docs/guarantees.md).
func (c *Call) WarnForced(i claim.Issue, ended []claim.Claim) {
	for _, e := range ended {
		if e.Person != "" {
			Warnf(c.Terminal.Err, "%s lost %s by force; tell them", e.Person, i)
			continue
		}
		Warnf(c.Terminal.Err, "%s lost %s by force; it may still act until its next heartbeat or push", e.Record.Worker, i)
	}
}
