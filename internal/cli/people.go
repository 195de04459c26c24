package cli

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Login is the login that asks. An app is no person.
func (c *Call) Login(ctx context.Context) (string, error) {
	me, err := c.Session.Viewer(ctx)
	if err == nil && claim.IsApp(me) {
		err = Usagef("claim", "the token is of the app %s, and an app is no person: say which worker it is with --codename", me)
	}
	return me, err
}

// ClaimAsPerson ends the hold that stands first, if that is wanted and nothing else is in the way.
func (c *Call) ClaimAsPerson(ctx context.Context, i claim.Issue, me string, force bool) (ledger.Hold, error) {
	if force {
		f, v, err := c.Session.Ledger.Check(ctx, i, lifecycle.Seeker{})
		if err != nil {
			return ledger.Hold{}, err
		}
		v = ledger.PersonStops(f, v)
		others := Without(c.BeyondForce(f, v), lifecycle.CodeHold)
		switch {
		case len(others.Reasons) > 0:
			return ledger.Hold{}, &ledger.HeldError{Issue: i, Verdict: others}
		case v.Has(lifecycle.CodeInFlight) || c.Session.Ledger.Rules().Stuck(f):
			if err := c.ForceFree(ctx, i); err != nil {
				return ledger.Hold{}, err
			}
		}
	}
	h, err := c.Session.Ledger.ClaimPerson(ctx, i, me, force)
	if h.Unassigned != nil {
		Warnf(c.Terminal.Err, "%s is yours, but you could not be assigned: %s", i, h.Unassigned)
	}
	return h, err
}

func (c *Call) ForceFree(ctx context.Context, i claim.Issue) error {
	by, err := c.Session.Viewer(ctx)
	if err != nil {
		return err
	}
	_, ended, err := c.Session.Ledger.Force(ctx, i, by, c.Flags.String("reason"))
	c.WarnForced(i, ended)
	return c.WarnLate(err)
}

func (c *Call) WarnForced(i claim.Issue, ended []claim.Claim) {
	for _, e := range ended {
		if e.Person != "" {
			Warnf(c.Terminal.Err, "%s lost %s by force; tell them", e.Person, i)
			continue
		}
		Warnf(c.Terminal.Err, "%s lost %s by force; it may still act until its next heartbeat or push", e.Record.Worker, i)
	}
}
