package pushcheck

import (
	"context"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
)

// decide lays over the snapshots who holds the issues where the log is not what decides. References
// are on GitHub and are asked, one more request for each issue of the repository that the
// configuration is of. Redis is not: its client would cost every push the time to load it. There
// the fencing tokens in the log say which of several holds is the last, and the hook is as late as
// the log.
func decide(ctx context.Context, s *setup.Session, of claim.Repo, snapshots []dedup.Snapshot) []dedup.Snapshot {
	var asked []*dedup.Snapshot
	var ruled []*lifecycle.Snapshot
	for k := range snapshots {
		r := &snapshots[k]
		switch home := strings.EqualFold(r.Issue.Slug(), of.String()); {
		case r.Absent, r.Unread != "", r.Facts.PullRequest && r.Branch == "":
		case s.Config.Claim.Lease != lease.Refs, !home:
			r.Facts.Log = r.Facts.Log.ByToken()
			if r.Guess != nil {
				guess := r.Guess.ByToken()
				r.Guess = &guess
			}

		default:
			r.Guess = nil // the references tell who holds the issue, and only who may push writes them
			asked, ruled = append(asked, r), append(ruled, &lifecycle.Snapshot{Facts: r.Facts})
		}
	}

	s.Ledger.RuledAll(ctx, ruled)
	for n, got := range ruled {
		if got.Err != nil {
			asked[n].Unread = ledger.Reason(asked[n].Issue, got.Err)
			continue
		}
		asked[n].Facts = got.Facts
	}

	return snapshots
}
