package lifecycle

import (
	"cmp"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// A Try is a hold that has ended, as whoever comes next is told of it. Its texts are other
// people's.
type Try struct {
	Worker  claim.Worker
	Person  string // whose hold it was; empty for a worker's
	Outcome string
	By      string // who ended it; empty when its own worker did
	Reason  string // of its end, else its last note
	Branch  string
	PR      string // URL of the pull request that the end names
	At      time.Time
}

// mostTried is how many earlier holds the next worker is told of.
const mostTried = 5

// Tried lists the confirmed holds of the issue that a record has ended, the newest end first, at
// most five. What took the issue and gave it back before any work is left out: a bundle that could
// not be had, and a claim that was confirmed and lost its race.
func (f Facts) Tried() []Try {
	ended := slices.DeleteFunc(slices.Clone(f.Log.Claims), func(c claim.Claim) bool {
		if c.End == nil || !c.Held() || c.Undone() {
			return true
		}
		_, yielded := claim.Yielded(c.End.Outcome)
		return yielded
	})
	slices.SortFunc(ended, func(a, b claim.Claim) int { return b.End.Rank.Compare(a.End.Rank) })
	var out []Try
	for _, c := range ended[:min(len(ended), mostTried)] {
		out = append(out, Try{
			Worker:  c.Record.Worker,
			Person:  c.Person,
			Outcome: c.End.Outcome,
			By:      c.End.Who(),
			Reason:  cmp.Or(c.End.Reason, c.Record.Reason),
			Branch:  c.Record.Branch,
			PR:      c.End.PR,
			At:      c.End.At,
		})
	}

	return out
}
