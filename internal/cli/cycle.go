package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// How far status follows what an issue waits for. A round is one request where there is GraphQL.
const (
	cycleRounds = 4
	cycleIssues = 20
)

// A CycleView is the JSON of a dependency cycle.
type CycleView struct {
	Path    []string `json:"path,omitempty"`    // the first again at the end
	Remedy  string   `json:"remedy,omitempty"`  // with path
	Unknown string   `json:"unknown,omitempty"` // without path: why nobody can tell
}

// FindCycle returns the cycle that keeps an open issue blocked, be it one of it or not; nil when
// there is none. It reads cycleIssues other issues at most, in cycleRounds rounds; an issue without
// open blockers costs nothing.
func (c *Call) FindCycle(ctx context.Context, f lifecycle.Facts) *CycleView {
	if !f.Open {
		return nil
	}
	waits, seen := map[claim.Issue][]claim.Issue{}, map[claim.Issue]bool{f.Issue.Folded(): true}
	var front []claim.Issue // waited for, and not read yet
	follow := func(f lifecycle.Facts) {
		waits[f.Issue] = f.Waits()
		for _, i := range waits[f.Issue] {
			if !seen[i.Folded()] {
				seen[i.Folded()] = true
				front = append(front, i)
			}
		}
	}

	follow(f)
	for round, read := 0, 0; ; round++ {
		rings := lifecycle.Cycles(waits)
		left := min(cycleIssues-read, len(front))
		switch {
		case len(rings) > 0:
			own := slices.IndexFunc(rings,
				func(ring []claim.Issue) bool { return slices.ContainsFunc(ring, f.Issue.Same) })
			return &CycleView{Path: lifecycle.Path(rings[max(own, 0)]), Remedy: CycleRemedy}
		case len(front) == 0:
			return nil
		case left == 0 || round == cycleRounds:
			return &CycleView{Unknown: fmt.Sprintf("%d of its blockers were checked, and there are more; the sweep checks all", read)}
		}

		asked := front[:left]
		read, front = read+left, front[left:]
		for _, r := range c.Session.Client.FactsOf(ctx, asked) {
			if r.Err != nil {
				return &CycleView{Unknown: OneLine(r.Err.Error())}
			}
			if r.Facts.Open {
				follow(r.Facts)
			}
		}
	}
}
