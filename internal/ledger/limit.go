package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Loader is a Forge that knows what is in progress in a repository. Without it nothing is limited.
type Loader interface {
	InProgress(ctx context.Context, r Repo) (lifecycle.Load, error)
}

// Load reads what is in progress in a repository, if its rules limit that; else nothing.
func (bs *base) Load(ctx context.Context, r Repo) (lifecycle.Load, error) {
	loader, able := bs.forge.(Loader)
	if !able || bs.set.Rules.Limits == (lifecycle.Limits{}) {
		return lifecycle.Load{}, nil
	}
	return loader.InProgress(ctx, r)
}

// limit says why somebody may hold nothing besides what is in progress; empty when they may.
func (bs *base) limit(ctx context.Context, i claim.Issue, who lifecycle.Asker) (string, error) {
	load, err := bs.Load(ctx, Repo{Owner: i.Owner, Name: i.Repo})
	return bs.set.Rules.Limit(load, i, who), err
}
