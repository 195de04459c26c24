package cli

import (
	"context"
	"fmt"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// WouldClaim is claim's dry run: the same question, and no request that writes.
func (c *Call) WouldClaim(ctx context.Context, i claim.Issue, req ledger.Request) error {
	w := req.Worker
	if err := c.Session.Ledger.MayClaim(i, req); err != nil {
		return err
	}

	f, v, err := c.Session.Ledger.Check(ctx, i, req.Seeker())
	if err != nil {
		return err
	}

	taken := v.Has(lifecycle.CodeInFlight)
	if req.Force {
		v = c.Session.Ledger.Rules().BeyondForce(f, v, false)
	}

	resumes, err := c.Session.Ledger.MayResume(f, req)
	switch {
	case err != nil:
		return err
	case resumes:
		text := fmt.Sprintf("would take over %s %s for %s from another process of its run\n", i, OneLine(f.Title), w)
		return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.Free}, text)
	}

	if len(v.Reasons) > 0 {
		return &ledger.HeldError{Issue: i, Verdict: v, Shared: v.Has(lifecycle.CodeOwn)}
	}
	if err := c.Session.Ledger.Heard(ctx, i); err != nil {
		return err
	}

	text := fmt.Sprintf("would claim %s %s for %s", i, OneLine(f.Title), w.Codename)
	if taken {
		text += ", ending the current hold"
	}

	return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.Free}, text+"\n")
}

// Would is the answer of a dry run: what would have been done.
func (c *Call) Would(i claim.Issue, format string, args ...any) error {
	return c.Answer(answer.Answer{Issue: i.String(), Answer: answer.DryRun}, "would "+fmt.Sprintf(format, args...)+"\n")
}
