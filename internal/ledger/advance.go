package ledger

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/protocol"
)

// An Advance is a step in a pipeline.
type Advance = protocol.Advance

// Advance moves an issue to another stage and ends the worker's hold (protocol.NewAdvance).
func (l *Ledger) Advance(ctx context.Context, i claim.Issue, a Advance) (Repair, labels.Stage, error) {
	end := l.Run(ctx, i, protocol.NewAdvance(l.config(), i, a, l.token()))
	var would *Unsent
	if errors.As(end.Err, &would) {
		end.Stage, _, _ = l.config().Target(would.Facts, a)
	}

	return end.Repair, end.Stage, end.Err
}
