package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/protocol"
)

// Reconcile does for an issue what a sweep does, in the name of by, but for votes: it ends what is
// over and brings the labels in line with the facts (spec-writing.md#sweep). Labels that did not
// settle are a *LabelsError wrapping ErrDirty; a snapshot that failed is an *UnknownError.
func (l *Ledger) Reconcile(ctx context.Context, i claim.Issue, by string) (Finding, error) {
	end := l.Run(ctx, i, protocol.NewTend(l.config(), i, by, nil, l.token()))
	return Finding{
		Repair:   end.Repair,
		Ended:    end.Ended,
		Swept:    end.Swept,
		Mirrored: end.Mirrored,
	}, end.Err
}
