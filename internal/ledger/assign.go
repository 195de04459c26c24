package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// An Assigner is a Forge that assigns logins to issues. Without it nobody is assigned.
type Assigner interface {
	// Assign assigns a login; one that cannot be assigned is an ErrUnassignable.
	Assign(ctx context.Context, i claim.Issue, login string) error
	// Unassign takes a login off; one that is not assigned is success.
	Unassign(ctx context.Context, i claim.Issue, login string) error
}

// Assign does what the record of a live claim says, if a run that was cut off has not done it: it
// assigns its login, or takes one out of the record that cannot be assigned.
func (cs *claims) Assign(ctx context.Context, f lifecycle.Facts, c claim.Claim) error {
	there := slices.ContainsFunc(f.Assignees,
		func(login string) bool { return claim.SameLogin(login, c.Record.Assignee) })
	assigner, able := cs.forge.(Assigner)
	if !able || there || c.Record.Assignee == "" || !c.Live() || !c.Held() {
		return nil
	}

	err := assigner.Assign(ctx, f.Issue, c.Record.Assignee)
	if errors.Is(err, ErrUnassignable) {
		cs.disown(ctx, f, c.Comment, c.Record)
	}

	return err
}

// disown takes the login that could not be assigned out of a claim's record, and returns the
// record. That the edit fails does no harm: the field is a mirror.
func (cs *claims) disown(ctx context.Context, f lifecycle.Facts, comment int64, r claim.Record) claim.Record {
	r.Assignee = ""
	if body, err := claim.Body(r, protocol.Sentence(f, r)); err == nil {
		_, _ = cs.forge.EditComment(ctx, f.Issue, comment, body)
	}
	return r
}
