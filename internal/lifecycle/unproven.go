package lifecycle

import (
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// Unproven reports whether a release as success leaves nothing that shows the success: it names no
// pull request, and the issue is ready again. The facts are those from before the release, or after
// it.
func (r Rules) Unproven(f Facts, release claim.Record) bool {
	c, claimed := f.Log.Find(release.Worker)
	silent := release.Kind == claim.KindRelease && release.By == "" && release.Outcome == claim.OutcomeSuccess &&
		release.PR == ""
	if !claimed || !silent {
		return false
	}

	r.Stray = 0 // the claimed label is the hold's own, and the release takes it off
	f.Log = f.Log.Ended([]claim.Claim{c}, func(claim.Claim) string { return release.Outcome }, f.Now)
	projection, _ := r.Label(f)
	return !projection.Keep && projection.State == labels.Available
}

// UnprovenUntil returns until when the issue is not offered to a kind of worker that has released
// it as success without a pull request: for the first back-off after its last such release. The
// zero time is no such release, or one before the issue was reopened or began again
// (spec-writing.md#release).
func (r Rules) UnprovenUntil(f Facts, codename string) (until time.Time) {
	if len(r.Rest) == 0 {
		return until
	}

	for _, c := range f.Log.Claims {
		own := c.Record.Worker.Codename == codename && c.Held() && c.WrittenBy(f.Viewer)
		if !own || c.End == nil || c.End.By != "" || c.End.Outcome != claim.OutcomeSuccess || c.End.PR != "" {
			continue
		}

		wished := f.ReopenedAt.After(c.End.At) || f.Log.Restart.Compare(c.End.Rank) > 0
		if !wished {
			until = claim.Latest(until, c.End.At.Add(r.Rest[0]))
		}
	}

	return until
}
