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
	circleRounds = 4
	circleIssues = 20
)

// A CircleView is the JSON of a circle of blockers.
type CircleView struct {
	Path    []string `json:"path,omitempty"`    // the first again at the end
	Remedy  string   `json:"remedy,omitempty"`  // with path
	Unknown string   `json:"unknown,omitempty"` // without path: why nobody can tell
}

// rows are the circle for people.
func (v *CircleView) rows() [][2]string {
	switch {
	case v == nil:
		return nil
	case len(v.Path) == 0:
		return [][2]string{{"  circle", OneLine("whether it waits in a circle is not known: " + v.Unknown)}}
	}
	return [][2]string{
		{"  circle", OneLine(lifecycle.Round(v.Path) + ", so none of them ever wakes")},
		{"", CircleRemedy},
	}
}

// A pursuit follows what issues wait for.
type pursuit struct {
	waits map[claim.Issue][]claim.Issue
	seen  map[claim.Issue]bool // folded
	read  int
}

// FindCircle returns the circle that keeps an open issue blocked, be it one of it or not; nil when there is none. It reads
// circleIssues other issues at most, in circleRounds rounds; an issue without open blockers costs nothing.
func (c *Call) FindCircle(ctx context.Context, f lifecycle.Facts) *CircleView {
	if !f.Open {
		return nil
	}
	p := pursuit{waits: map[claim.Issue][]claim.Issue{f.Issue: f.Waits()}, seen: map[claim.Issue]bool{f.Issue.Folded(): true}}
	front := p.fresh(f.Waits())
	for round := 0; ; round++ {
		rings := lifecycle.Circles(p.waits)
		left := min(circleIssues-p.read, len(front))
		switch {
		case len(rings) > 0:
			return &CircleView{Path: lifecycle.Path(own(rings, f.Issue)), Remedy: CircleRemedy}
		case len(front) == 0:
			return nil
		case left == 0 || round == circleRounds:
			return &CircleView{Unknown: fmt.Sprintf("%d issues behind it were looked at, and there are more; the sweep looks at all", p.read)}
		}
		next, err := c.followBlockers(ctx, &p, front[:left])
		if err != nil {
			return &CircleView{Unknown: OneLine(err.Error())}
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

// own is the ring that the issue is in, else the first.
func own(rings [][]claim.Issue, i claim.Issue) []claim.Issue {
	for _, ring := range rings {
		if slices.ContainsFunc(ring, i.Same) {
			return ring
		}
	}
	return rings[0]
}
