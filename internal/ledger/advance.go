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

// stages moves issues along a pipeline.
type stages struct{ *base }

// Advance moves an issue to another stage and ends the worker's hold (protocol.NewAdvance).
func (st *stages) Advance(ctx context.Context, i claim.Issue, a Advance) (Repair, labels.Stage, error) {
	end := st.Run(ctx, i, protocol.NewAdvance(st.config(), i, a, st.token()))
	var would *Unsent
	if errors.As(end.Err, &would) {
		end.Stage, _, _ = st.config().Target(would.Facts, a)
	}

	return end.Repair, end.Stage, end.Err
}
