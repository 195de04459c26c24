package cli

import (
	"context"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// WouldClaim is claim's dry run: the same question, and no request that writes.
func (c *Call) WouldClaim(ctx context.Context, i claim.Issue, w claim.Worker) error {
	if err := c.Session.Ledger.MayClaim(i, ledger.Request{Worker: w, TTL: c.TTL(), Branch: c.Flags.String("branch")}); err != nil {
		return err
	}
	f, v, err := c.Session.Ledger.Check(ctx, i, lifecycle.Seeker{Worker: w})
	if err != nil {
		return err
	}
	taken := v.Has(lifecycle.CodeInFlight)
	if c.Flags.Bool("force") {
		v = c.Session.Ledger.Rules().BeyondForce(f, v, false)
	}
	if len(v.Reasons) > 0 {
		return &ledger.HeldError{Issue: i, Verdict: v}
	}
	if err := c.Session.Ledger.Heard(ctx, i); err != nil {
		return err
	}
	text := fmt.Sprintf("would claim %s %s for %s", i, OneLine(f.Title), w.Codename)
	if taken {
		text += ", ending the hold that stands"
	}
	return c.Answer(Reply{Issue: i.String(), Answer: "free"}, text+"\n")
}
