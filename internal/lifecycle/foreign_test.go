package lifecycle_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestForeignKey: whose login did not write a claim does not hold it by its key, unless an app
// wrote it for that login. A snapshot that knows no login goes by the key.
func TestForeignKey(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		author, more, viewer string
		want                 lifecycle.Code
	}{
		{"wes", "", "wes", lifecycle.CodeOwn},
		{"wes", "", "WES", lifecycle.CodeOwn},
		{"wes", "", "", lifecycle.CodeOwn},
		{"wes", "", "eve", lifecycle.CodeInFlight},
		{"wes", " person=wes", "eve", lifecycle.CodeInFlight},
		{"tool[bot]", " person=wes by=wes", "wes", lifecycle.CodeOwn},
		{"tool[bot]", " person=wes by=wes", "eve", lifecycle.CodeInFlight},
	} {
		f := lifecycle.Facts{
			Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: 1},
			Open:   true,
			Now:    now,
			Viewer: c.viewer,
		}

		f.Log = claim.Replay([]claim.Comment{{
			ID:      1,
			Created: now,
			Updated: now,
			Author:  c.author,
			Trusted: true,
			Body: "<!-- agent-claim:codename=lucius firing_id=f1 nonce=7f3a9c1e ttl=1800 state=held" +
				c.more + " -->",
		}})
		v := lifecycle.DefaultRules().Verdict(f,
			lifecycle.Seeker{Worker: claim.Worker{Codename: "lucius", FiringID: "f1"}})
		if !v.Has(c.want) {
			t.Errorf("written by %s%s, asked by %q: %s, want %s", c.author, c.more, c.viewer, v, c.want)
		}
	}
}
