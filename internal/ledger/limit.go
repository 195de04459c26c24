package ledger

import (
	"cmp"
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Load reads what is in progress in a repository, if its rules limit that; else nothing.
func (l *Ledger) Load(ctx context.Context, r claim.Repo) (lifecycle.Load, error) {
	if l.set.Rules.Limits == (lifecycle.Limits{}) {
		return lifecycle.Load{}, nil
	}

	got := l.forge.Reply(ctx, r.Issue(0), protocol.Ask{Load: true})
	return got.Load, got.Err
}

// Limited is the snapshot with why the seeker may hold nothing besides what is in progress, if that
// is so. An error is an *UnknownError.
func (l *Ledger) Limited(ctx context.Context, f lifecycle.Facts, who lifecycle.Seeker) (lifecycle.Facts, error) {
	load, err := l.Load(ctx, f.Issue.In())
	if err != nil {
		return lifecycle.Facts{}, &UnknownError{Issue: f.Issue, Err: err}
	}

	as := cmp.Or(who.Worker.Codename, who.As)
	f.Limit = l.set.Rules.Limit(load, f, lifecycle.Asker{Login: f.Viewer, Codename: as})
	return f, nil
}
