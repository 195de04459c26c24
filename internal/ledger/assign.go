package ledger

import (
	"context"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An Assigner is a Forge that assigns logins to issues. Without it nobody is assigned.
type Assigner interface {
	// Assign assigns a login; one that cannot be assigned is dropped without an error.
	Assign(ctx context.Context, i claim.Issue, login string) error
	// Unassign takes a login off; one that is not assigned is success.
	Unassign(ctx context.Context, i claim.Issue, login string) error
}

// Assign does what the record of a live claim says, if a run that was cut off has not done it: it
// assigns its login.
func (cs *claims) Assign(ctx context.Context, f lifecycle.Facts, c claim.Claim) error {
	there := slices.ContainsFunc(f.Assignees,
		func(login string) bool { return claim.SameLogin(login, c.Record.Assignee) })
	assigner, able := cs.forge.(Assigner)
	if !able || there || c.Record.Assignee == "" || !c.Live() || !c.Held() {
		return nil
	}

	return assigner.Assign(ctx, f.Issue, c.Record.Assignee)
}
