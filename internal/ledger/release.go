package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/protocol"
)

// releases ends holds for their own workers.
type releases struct{ *base }

// Release ends a hold and brings the labels in line (protocol.NewRelease).
func (rl *releases) Release(ctx context.Context, i claim.Issue, e Ending) (Repair, error) {
	return rl.repair(ctx, i, protocol.NewRelease(rl.config(), i, e))
}

// repair runs an operation that brings labels in line, and nothing else that its caller wants to
// know.
func (bs *base) repair(ctx context.Context, i claim.Issue, op protocol.Operation) (Repair, error) {
	end := bs.Run(ctx, i, op)
	return end.Repair, end.Err
}

// ResolvePull looks the pull request up that a worker names, as Release does before anything is
// written (spec.md#fields), and takes GitHub's own spelling of its address. An answer.Usage says that
// there is none.
func (rl *releases) ResolvePull(ctx context.Context, i claim.Issue, e Ending) (Ending, error) {
	if e.PR == "" {
		return e, nil
	}
	return e.Resolved(i, rl.forge.Reply(ctx, i, protocol.Ask{Pull: e.PR}))
}
