package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// An Advance is a step in a pipeline.
type Advance = protocol.Advance

// stages moves issues along a pipeline.
type stages struct{ *base }

// Advance moves an issue to another stage and ends the worker's hold (protocol.NewAdvance).
func (st *stages) Advance(ctx context.Context, i claim.Issue, a Advance) (Repair, labels.Stage, error) {
	end := st.Run(ctx, i, protocol.NewAdvance(st.config(), i, a, st.token()))
	return end.Repair, end.Stage, end.Err
}

// Target is the stage that an advance leads to; done says that the log shows the worker's move
// already. Its errors are Advance's.
func (st *stages) Target(f lifecycle.Facts, a Advance) (to labels.Stage, done bool, err error) {
	return st.config().Target(f, a)
}
