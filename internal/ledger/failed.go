package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/claim"
)

// unheard returns why a claim is no hold although it won: its labels were refused because its login may
// not label the repository, so nobody else counts its record (PRODUCT ruling 7). nil means that it
// is one. A strict store decides without any record.
func (a *attempt) unheard(late error) error {
	var labels *LabelsError
	var refused interface {
		error
		Forbidden() bool
	}
	known := slices.ContainsFunc(a.set.Trusted, func(login string) bool { return claim.SameLogin(login, a.facts.Viewer) })
	if a.store != nil || known || !errors.As(late, &labels) || !errors.As(labels.Err, &refused) || !refused.Forbidden() {
		return nil
	}
	return &UnknownError{a.issue, fmt.Errorf("this login may not label %s, so others do not count its claims: %w", a.issue.Slug(), refused)}
}

// leave brings the labels in line before a failed claim returns, if it ended somebody's dead hold
// on its way. A loser touches no label (PRODUCT ruling 3): the winner does it. What keeps the labels
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
