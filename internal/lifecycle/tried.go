package lifecycle

import (
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// A Try is a hold that has ended, as whoever comes next is told of it. Its texts are other
// people's.
type Try struct {
	By      string // the person, or the worker's codename
	Outcome string
	Reason  string
	Branch  string
	PR      string // URL of the pull request that the end names
	At      time.Time
}

// Tried lists the confirmed holds of the issue that a record has ended, the newest end first, at
// most so many. What took the issue and gave it back before any work, as a bundle does that could
// not be had, is left out.
func (f Facts) Tried(most int) []Try {
	ended := slices.DeleteFunc(slices.Clone(f.Log.Claims), func(c claim.Claim) bool {
		return c.End == nil || !c.Held() || c.Undone()
	})
	slices.SortFunc(ended, func(a, b claim.Claim) int { return b.End.Rank.Compare(a.End.Rank) })
	var out []Try
	for _, c := range ended[:min(len(ended), most)] {
		by := c.Record.Worker.Codename
		if c.Person != "" {
			by = c.Person
		}

		out = append(out, Try{
			By:      by,
			Outcome: c.End.Outcome,
			Reason:  c.End.Reason,
			Branch:  c.Record.Branch,
			PR:      c.End.PR,
			At:      c.End.At,
		})
	}

	return out
}
