package ledger

import (
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/protocol"
)

// What people decide arrives late and may arrive twice: by an event that was delivered again, by
// a run that somebody repeated. So everything here names the moment at which the person spoke, and
// what began after it is left alone.

// Approve lets the plan that waited at that moment, or waits now if it is zero, go ahead, in the
// name of by. answer.NoPlan says that there is nothing left to approve, answer.Barred that
// by may not; nothing was written then. Whether by may label the repository is
// for the caller to know.
func (l *Ledger) Approve(ctx context.Context, i claim.Issue, moment time.Time, by string) (Repair, error) {
	return l.answer(ctx, i, protocol.Answer{Kind: claim.KindApprove, By: by, Moment: moment})
}

// Reject ends the hold whose plan waited at that moment, or waits now if it is zero, in the name of
// by; reason is for people. answer.NoPlan says that there is nothing left to reject,
// answer.Barred that by may not; nothing was written then. Whether by may label the repository is
// for the caller to know.
func (l *Ledger) Reject(ctx context.Context, i claim.Issue, moment time.Time, by, reason string) (Repair, error) {
	return l.answer(ctx, i, protocol.Answer{
		Kind:   claim.KindReject,
		By:     by,
		Moment: moment,
		Reason: reason,
	})
}

// Attest records the answer to the plan of w that was given elsewhere, to somebody who made sure
// that by may give it. Otherwise it is Approve, or Reject.
func (l *Ledger) Attest(ctx context.Context, i claim.Issue, w claim.Worker, answer claim.Kind,
	by string,
) (Repair, error) {
	return l.answer(ctx, i, protocol.Answer{
		Kind:    answer,
		By:      by,
		Worker:  w,
		Vouched: true,
	})
}

func (l *Ledger) answer(ctx context.Context, i claim.Issue, a protocol.Answer) (Repair, error) {
	return l.repair(ctx, i, protocol.NewAnswer(l.config(), i, a))
}
