package ledger

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// labelling brings labels in line with logs.
type labelling struct{ *base }

// Reconcile brings the labels of an issue in line with its facts (spec.md#reconcile). Labels that did
// not settle are a *LabelsError wrapping ErrDirty; a snapshot that failed is an *UnknownError.
func (lb *labelling) Reconcile(ctx context.Context, i claim.Issue) (Repair, error) {
	return lb.repair(ctx, i, protocol.NewReconcile(lb.config(), i))
}

// reconcile starts from a snapshot that is fresh.
func (lb *labelling) reconcile(ctx context.Context, f lifecycle.Facts) (Repair, error) {
	return lb.repair(ctx, f.Issue, protocol.NewReconcile(lb.config(), f.Issue).By(f))
}

// lateLabels is the error of a reconcile whose record counts: whatever went wrong, the labels are late.
func lateLabels(i claim.Issue, err error) error {
	var late *LabelsError
	if err == nil || errors.As(err, &late) {
		return err
	}
	return &LabelsError{Issue: i, Err: err}
}
