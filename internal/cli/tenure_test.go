package cli

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestPersonsTenure: a status says when the hold of a person ends, or what would end it.
func TestPersonsTenure(t *testing.T) {
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		ttl  string
		open bool
		want string
	}{
		{ttl: "none", want: "rob has held it since 2026-05-01 00:00:00 UTC, until they release it."},
		{ttl: "168h", want: "rob has held it since 2026-05-01 00:00:00 UTC, for another 6d unless they comment or open a pull request."},
		{ttl: "168h", open: true, want: "rob has held it since 2026-05-01 00:00:00 UTC, as long as their pull request is open."},
	} {
		body := "<!-- agent-claim:codename=rob firing_id=1 nonce=n state=held person=rob by=rob ttl=" + c.ttl + " -->"
		f := lifecycle.Facts{Now: at.Add(24 * time.Hour), Open: true}
		f.Log = claim.Replay([]claim.Comment{{
			ID:      1,
			Created: at,
			Updated: at,
			Author:  "apps[bot]",
			Trusted: true,
			Body:    body,
		}})

		if c.open {
			f.PRs = []lifecycle.PR{{Number: 2, State: lifecycle.PROpened, Author: "rob"}}
		}
		f = f.Lived()

		holder, _ := f.Log.Holder()
		if got := tenure(claim.DefaultTerms(), f, holder); got != c.want {
			t.Errorf("ttl %s, open %v: %s\nwant %s", c.ttl, c.open, got, c.want)
		}
	}
}
