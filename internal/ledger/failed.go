package ledger

import (
	"context"
	"errors"
	"fmt"
)

// leave brings the labels in line before a failed claim returns, if it ended somebody's dead hold
// on its way. A loser touches no label (spec.md#claim): the winner does it. What keeps the labels
// late is told in words only: a *LabelsError from a claim would say that the hold is real.
func (a *attempt) leave(ctx context.Context, err error) error {
	var held *HeldError
	if len(a.ended) == 0 || errors.As(err, &held) && held.Yielded != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedIn)
	defer cancel()
	if _, late := a.Reconcile(ctx, a.issue); late != nil {
		return fmt.Errorf("%w; %s", err, late) // as text: a *LabelsError would say that there is a hold
	}
	return err
}
