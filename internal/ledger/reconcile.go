package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/protocol"
)

// Reconcile brings the labels of an issue in line with its facts (spec-writing.md#reconcile).
// Labels that did not settle are a *LabelsError wrapping ErrDirty; a snapshot that failed is an
// *UnknownError.
func (l *Ledger) Reconcile(ctx context.Context, i claim.Issue) (Repair, error) {
	return l.repair(ctx, i, protocol.NewReconcile(l.config(), i))
}
