package board

import (
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// MarkCycles marks the cards of issues that are parts of a dependency cycle, as far as the snapshots show one: those of
// all repositories on the board, because a cycle may go through several. It returns the cycles, too.
func MarkCycles(cards []Card, snapshots []lifecycle.Facts) [][]claim.Issue {
	waits := map[claim.Issue][]claim.Issue{}
	for _, f := range snapshots {
		if f.Open {
			waits[f.Issue] = f.Waits()
		}
	}
	rings := lifecycle.Cycles(waits)
	for _, ring := range rings {
		for n := range cards {
			if slices.ContainsFunc(ring, cards[n].Issue.Same) {
				cards[n].markCycle(ring)
			}
		}
	}
	return rings
}

// markCycle says that it is a cycle that blocks the card. The mark is the first: nothing but a person ends a cycle.
func (c *Card) markCycle(ring []claim.Issue) {
	for _, name := range lifecycle.Path(ring) {
		c.Cycle = append(c.Cycle, printable.Line(name))
	}
	c.Marks = slices.DeleteFunc(slices.Clone(c.Marks), func(m Mark) bool { return m == blocked })
	c.Marks = slices.Insert(c.Marks, 0, Mark{"dependency cycle", true})
}
