package ledger

import (
	"context"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Assign does what the record of a live claim says, if a run that was cut off has not done it: it
// assigns its login.
func (cs *claims) Assign(ctx context.Context, f lifecycle.Facts, c claim.Claim) error {
	there := slices.ContainsFunc(f.Assignees,
		func(login string) bool { return claim.SameLogin(login, c.Record.Assignee) })
	if there || c.Record.Assignee == "" || !c.Live() || !c.Held() {
		return nil
	}

	assign := []protocol.Write{{Kind: protocol.WriteAssign, Login: c.Record.Assignee}}
	return cs.forge.Write(ctx, []Batch{{Issue: f.Issue, Writes: assign}})[0].Results[0].Err
}
