package board

import (
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// MarkCycles marks the cards of issues that are parts of a dependency cycle, as far as the
// snapshots show one: those of all repositories on the board, because a cycle may go through
// several. It returns the cycles, too.
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
			c := &cards[n]
			if !slices.ContainsFunc(ring, c.Issue.Same) {
				continue
			}

			c.Stranded, c.Mine = true, true
			for _, name := range lifecycle.Path(ring) {
				c.Cycle = append(c.Cycle, printable.Line(name))
			}
			c.Marks = slices.DeleteFunc(slices.Clone(c.Marks),
				func(m Mark) bool { return m.Text == lifecycle.CodeBlocked.Meaning().Mark })

			// the first: nothing but a person ends a cycle
			c.Marks = slices.Insert(c.Marks, 0, Mark{"dependency cycle", true})
		}
	}

	return rings
}
