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

// rows are the cycle for people.
func (v *CycleView) rows() [][2]string {
	switch {
	case v == nil:
		return nil
	case len(v.Path) == 0:
		return [][2]string{{"  cycle", OneLine("whether it waits in a dependency cycle is not known: " + v.Unknown)}}
	}
	return [][2]string{
		{"  cycle", OneLine(lifecycle.Round(v.Path) + ", so none of them ever wakes")},
		{"", CycleRemedy},
	}
}

// A pursuit follows what issues wait for.
type pursuit struct {
	waits map[claim.Issue][]claim.Issue
	seen  map[claim.Issue]bool // folded
	read  int
}

// FindCycle returns the cycle that keeps an open issue blocked, be it one of it or not; nil when there is none. It reads
// cycleIssues other issues at most, in cycleRounds rounds; an issue without open blockers costs nothing.
func (c *Call) FindCycle(ctx context.Context, f lifecycle.Facts) *CycleView {
	if !f.Open {
		return nil
	}
	p := pursuit{waits: map[claim.Issue][]claim.Issue{f.Issue: f.Waits()}, seen: map[claim.Issue]bool{f.Issue.Folded(): true}}
	front := p.fresh(f.Waits())
	for round := 0; ; round++ {
		rings := lifecycle.Cycles(p.waits)
		left := min(cycleIssues-p.read, len(front))
		switch {
		case len(rings) > 0:
			own := slices.IndexFunc(rings, func(ring []claim.Issue) bool { return slices.ContainsFunc(ring, f.Issue.Same) })
			return &CycleView{Path: lifecycle.Path(rings[max(own, 0)]), Remedy: CycleRemedy}
		case len(front) == 0:
			return nil
		case left == 0 || round == cycleRounds:
			return &CycleView{Unknown: fmt.Sprintf("%d issues behind it were looked at, and there are more; the sweep looks at all", p.read)}
		}
		next, err := c.followBlockers(ctx, &p, front[:left])
		if err != nil {
			return &CycleView{Unknown: OneLine(err.Error())}
		}
		front = append(front[left:], next...)
	}
}

// followBlockers reads some issues and returns those behind them that are new.
func (c *Call) followBlockers(ctx context.Context, p *pursuit, issues []claim.Issue) (next []claim.Issue, err error) {
	p.read += len(issues)
	for _, r := range c.Session.Client.FactsOf(ctx, issues) {
		if r.Err != nil {
			return nil, r.Err
		}
		if r.Facts.Open {
			p.waits[r.Facts.Issue] = r.Facts.Waits()
			next = append(next, p.fresh(r.Facts.Waits())...)
		}
	}
	return next, nil
}

// fresh are those of the issues that nobody has seen.
func (p pursuit) fresh(issues []claim.Issue) (out []claim.Issue) {
	for _, i := range issues {
		if !p.seen[i.Folded()] {
			p.seen[i.Folded()] = true
			out = append(out, i)
		}
	}
	return out
}
