package action

import (
	"context"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Judged returns a hub whose snapshots are as the ledger's lease store decides them, for issues of
// its repository, so that the guard and the commands ask whom the claims ask. Where the log decides
// it is the hub itself. A run that GitHub gives no secrets, as for a fork's pull request, cannot
// ask a store and is as late as its mirror.
func (s *Step) Judged(h Hub, l *ledger.Ledger, of claim.Repo) Hub {
	switch {
	case !l.IsStrict():
		return h
	case s.Event.readOnly():
		return ruled{Hub: h}
	}

	return ruled{h, l, of}
}

type ruled struct {
	Hub
	ledger *ledger.Ledger
	of     claim.Repo // whose issues the ledger's store decides; zero: every log is as late as its mirror
}

// FactsOf implements Hub. A snapshot that the store says nothing about is unread.
func (r ruled) FactsOf(ctx context.Context, issues []claim.Issue) []lifecycle.Snapshot {
	out := r.Hub.FactsOf(ctx, issues)
	var own []*lifecycle.Snapshot
	for n := range out {
		switch f := out[n].Facts; {
		case out[n].Err != nil:
		case strings.EqualFold(f.Issue.Slug(), r.of.String()):
			own = append(own, &out[n])
		default:
			out[n].Facts.Log = f.Log.ByToken()
		}
	}

	r.ledger.RuledAll(ctx, own)
	return out
}
