package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/protocol"
)

// Release ends a hold and brings the labels in line (protocol.NewRelease).
func (l *Ledger) Release(ctx context.Context, i claim.Issue, e Ending) (Repair, error) {
	return l.repair(ctx, i, protocol.NewRelease(l.config(), i, e))
}

// repair runs an operation that brings labels in line, and nothing else that its caller wants to
// know.
func (l *Ledger) repair(ctx context.Context, i claim.Issue, op protocol.Operation) (Repair, error) {
	end := l.Run(ctx, i, op)
	return end.Repair, end.Err
}
