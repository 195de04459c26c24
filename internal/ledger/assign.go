package ledger

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Assign does what the record of a holder's claim says, if a run that was cut off has not done it:
// it assigns its login, or takes one out of the record that cannot be assigned.
func (l *Ledger) Assign(ctx context.Context, f lifecycle.Facts, c claim.Claim) error {
	if claim.HasLogin(f.Assignees, c.Record.Assignee) || c.Record.Assignee == "" {
		return nil
	}

	err := l.one(ctx, f.Issue, protocol.Write{Kind: protocol.WriteAssign, Login: c.Record.Assignee})
	if errors.Is(err, ErrUnassignable) {
		l.disown(ctx, f, c.Comment, c.Record)
	}

	return err
}

// disown takes the login that could not be assigned out of a claim's record, and returns the
// record. That the edit fails does no harm: the field is a mirror.
func (l *Ledger) disown(ctx context.Context, f lifecycle.Facts, comment int64, r claim.Record) claim.Record {
	r.Assignee = ""
	if body, err := protocol.Body(f, r); err == nil {
		_ = l.one(ctx, f.Issue, protocol.Write{Kind: protocol.WriteEdit, Comment: comment, Body: body})
	}
	return r
}

// one sends one write.
func (l *Ledger) one(ctx context.Context, i claim.Issue, w protocol.Write) error {
	if l.set.DryRun {
		return &Unsent{}
	}
	return l.forge.Write(ctx, []Batch{{Issue: i, Writes: []protocol.Write{w}}})[0].Results[0].Err
}
