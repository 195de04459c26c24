package ledger

import (
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/protocol"
)

// What people decide arrives late and may arrive twice: by an event that was delivered again, by
// a run that somebody repeated. So everything here, and an answer to a plan, names the moment at
// which the person spoke, and what began after it is left alone.

// Force ends the current hold, in the name of by. Until its next heartbeat or check the former
// holder may still act: that window is inherent (spec-writing.md#revoke-and-force). Nobody holding
// is a success; an issue that is stuck without a holder begins again (lifecycle.Rules.Stuck).
func (l *Ledger) Force(ctx context.Context, i claim.Issue, by, reason string) (Repair, []claim.Claim, error) {
	return l.force(ctx, i, protocol.Override{By: by, Reason: reason})
}

// ForceBefore ends, in the name of by, the holds that were claimed up to a moment
// (spec-writing.md#revoke-and-force) and brings the labels in line. Without any it is a success and
// touches nothing. What was not confirmed yet is somebody else's beginning and stays.
func (l *Ledger) ForceBefore(ctx context.Context, i claim.Issue, moment time.Time, by,
	reason string,
) (Repair, []claim.Claim, error) {
	return l.force(ctx, i, protocol.Override{By: by, Reason: reason, Moment: moment})
}

func (l *Ledger) force(ctx context.Context, i claim.Issue, o protocol.Override) (Repair, []claim.Claim, error) {
	end := l.Run(ctx, i, protocol.NewForce(l.config(), i, o, l.token()))
	return end.Repair, end.Ended, end.Err
}

// Revoke asks the holder to stop at its next heartbeat or push; no second holder can arise from
// it (spec-writing.md#revoke-and-force). A holder who was asked before, as the claim's Revoked
// says, is not asked again. Nobody holding is a *LostError, a person's own hold an answer.Usage.
func (l *Ledger) Revoke(ctx context.Context, i claim.Issue, by, reason string) (claim.Claim, error) {
	end := l.Run(ctx, i, protocol.NewRevoke(l.config(), i, protocol.Override{By: by, Reason: reason}))
	return end.Claim, end.Err
}

// Reset restarts the count of attempts, and ends a person's wait after a hold, if there was either
// by that moment, in the name of by, and reports whether it did (spec.md#attempts). Labels are for
// the caller to bring in line: whoever resets usually takes needs:human-scope off as well.
func (l *Ledger) Reset(ctx context.Context, i claim.Issue, moment time.Time, by string) (bool, error) {
	end := l.Run(ctx, i, protocol.NewReset(l.config(), i, protocol.Override{By: by, Moment: moment}))
	return len(end.Records) > 0, end.Err
}

// Restart begins an issue again that is stuck, in the name of by, if nothing was recorded after
// that moment, and reports whether it did. Labels are for the caller to bring in line.
func (l *Ledger) Restart(ctx context.Context, i claim.Issue, moment time.Time, by, reason string) (bool, error) {
	o := protocol.Override{By: by, Reason: reason, Moment: moment}
	end := l.Run(ctx, i, protocol.NewRestart(l.config(), i, o, l.token()))
	return len(end.Records) > 0, end.Err
}
