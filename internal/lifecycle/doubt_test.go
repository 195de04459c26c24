package lifecycle_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestDoubt: where nobody could be asked whether some records count, a no is certain and a yes is
// not.
func TestDoubt(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	f := lifecycle.Facts{
		Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: 1},
		Open:   true,
		Now:    now,
		Doubts: []string{"ask for the role of eve: no answer"},
	}
	v := lifecycle.DefaultRules().Verdict(f, lifecycle.Seeker{})
	if v.Answer != lifecycle.Unknown || !v.Has(lifecycle.CodeUnread) {
		t.Errorf("free in doubt: %s", v)
	}

	f.Log = claim.Replay([]claim.Comment{{
		ID:      1,
		Created: now,
		Updated: now,
		Author:  "tia",
		Trusted: true,
		Body:    "<!-- agent-claim:codename=lucius firing_id=f1 ttl=1800 -->",
	}})

	if v := lifecycle.DefaultRules().Verdict(f, lifecycle.Seeker{}); v.Answer != lifecycle.Held ||
		!v.Has(lifecycle.CodeInFlight) {
		t.Errorf("held in doubt: %s", v)
	}
}
