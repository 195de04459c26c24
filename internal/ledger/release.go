package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/protocol"
)

// releases ends holds for their own workers.
type releases struct{ *base }

// Release ends a hold and brings the labels in line (protocol.NewRelease).
func (rl *releases) Release(ctx context.Context, i claim.Issue, e Ending) (Repair, error) {
	return rl.repair(ctx, i, protocol.NewRelease(rl.config(), i, e))
}

// repair runs an operation that brings labels in line, and nothing else that its caller wants to
// know.
func (bs *base) repair(ctx context.Context, i claim.Issue, op protocol.Operation) (Repair, error) {
	end := bs.Run(ctx, i, op)
	return end.Repair, end.Err
}
