package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Load reads what is in progress in a repository, if its rules limit that; else nothing.
func (bs *base) Load(ctx context.Context, r claim.Repo) (lifecycle.Load, error) {
	if bs.set.Rules.Limits == (lifecycle.Limits{}) {
		return lifecycle.Load{}, nil
	}

	got := bs.forge.Reply(ctx, r.Issue(0), protocol.Ask{Load: true})
	return got.Load, got.Err
}

// limit says why somebody may hold nothing besides what is in progress; empty when they may.
func (bs *base) limit(ctx context.Context, i claim.Issue, who lifecycle.Asker) (string, error) {
	load, err := bs.Load(ctx, i.In())
	return bs.set.Rules.Limit(load, i, who), err
}
