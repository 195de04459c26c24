package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/protocol"
)

// labelling brings labels in line with logs.
type labelling struct{ *base }

// Reconcile brings the labels of an issue in line with its facts (spec-writing.md#reconcile).
// Labels that did not settle are a *LabelsError wrapping ErrDirty; a snapshot that failed is an
// *UnknownError.
func (lb *labelling) Reconcile(ctx context.Context, i claim.Issue) (Repair, error) {
	return lb.repair(ctx, i, protocol.NewReconcile(lb.config(), i))
}
