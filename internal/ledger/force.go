package ledger

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Force ends whatever hold stands, in the name of by. Until its next heartbeat or check the
// former holder may still act: that window is inherent (spec.md#revoke-and-force). Nobody holding is a success; an
// issue that is stuck without a holder begins again (lifecycle.Rules.Stuck).
func (l *Ledger) Force(ctx context.Context, i claim.Issue, by, reason string) (Repair, []claim.Claim, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return Repair{Issue: i}, nil, err
	}
	return l.force(ctx, f, f.Log.Live(), by, reason)
}

// Revoke asks the holder to stop at its next heartbeat or push; no second holder can arise from
// it (spec.md#revoke-and-force). Nobody holding is a *LostError.
func (l *Ledger) Revoke(ctx context.Context, i claim.Issue, by, reason string) (claim.Claim, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return claim.Claim{}, err
	}
	c, held := f.Log.Holder()
	if !held {
		return c, &LostError{Issue: i, Err: errors.New("nobody holds it")}
	}
	r := claim.Record{Kind: claim.KindRevoke, Worker: c.Record.Worker, By: by, Reason: reason, At: f.Now}
	_, err = l.do(ctx, f, r)
	return c, wrapWrite(i, err)
}

// force ends claims and brings the labels in line.
func (l *Ledger) force(ctx context.Context, f lifecycle.Facts, claims []claim.Claim, by, reason string) (Repair, []claim.Claim, error) {
	var ended []claim.Claim
	for _, c := range claims {
		if err := l.decides(f.Issue, c); err != nil {
			return Repair{Issue: f.Issue}, ended, err
		}
		r := claim.Record{Kind: claim.KindRelease, Worker: c.Record.Worker, Outcome: claim.OutcomeForced, By: by, Reason: reason, At: f.Now}
		if _, err := l.do(ctx, f, r); err != nil {
			return Repair{Issue: f.Issue}, ended, wrapWrite(f.Issue, err)
		}
		ended = append(ended, c)
	}
	if len(claims) == 0 {
		if _, err := l.restart(ctx, f, by, reason); err != nil {
			return Repair{Issue: f.Issue}, nil, err
		}
	}
	rep, err := l.rereadAndReconcile(ctx, f)
	return rep, ended, err
}
