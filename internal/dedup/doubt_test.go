package dedup_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/dedup"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestDoubt: a push is refused as soon as somebody certainly holds the issue, whoever else could
// not be asked about; the holder's own push is unknown then, because somebody may have taken the
// issue over.
func TestDoubt(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	lucius := claim.Worker{Codename: "lucius", FiringID: "f1"}
	snapshot := dedup.Snapshot{
		Named: dedup.Named{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 1}},
		Facts: lifecycle.Facts{
			Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: 1},
			Open:   true,
			Now:    now,
			Doubts: []string{"ask for the role of eve: no answer"},
			Log: claim.Replay([]claim.Comment{{
				ID:      1,
				Created: now,
				Updated: now,
				Author:  "tia",
				Trusted: true,
				Body:    "<!-- agent-claim:codename=lucius firing_id=f1 ttl=1800 -->",
			}}),
		},
	}

	for name, c := range map[string]struct {
		who              dedup.Pusher
		refused, unknown int
	}{
		"somebody else": {dedup.Pusher{Worker: claim.Worker{Codename: "drake", FiringID: "f2"}}, 1, 0},
		"the holder":    {dedup.Pusher{Worker: lucius}, 0, 1},
	} {
		r := dedup.Check(lifecycle.DefaultRules(), c.who, []dedup.Snapshot{snapshot})
		if len(r.Refusals) != c.refused || len(r.Unknown) != c.unknown {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
