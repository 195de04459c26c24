package stats

import (
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A turn is a moment at which an issue comes into a state.
type turn struct {
	at    time.Time
	state labels.State
}

// stay adds the times that the issue was in each state. What was before its first record no log tells.
func (c *counting) stay(f lifecycle.Facts) {
	turns := turns(f)
	for n, t := range turns {
		if t.state == labels.Done || t.state == labels.None {
			continue
		}
		if c.stays[t.state] == nil {
			c.stays[t.state] = &sample{}
		}
		all := c.stays[t.state]
		last := n == len(turns)-1
		switch {
		case last && f.Open && t.at.Before(c.to):
			all.now++
		case !last && c.within(turns[n+1].at):
			all.lengths = append(all.lengths, turns[n+1].at.Sub(t.at))
		}
	}
}

// turns are the moments at which the issue changed its state, in order, each into another one.
func turns(f lifecycle.Facts) []turn {
	var all []turn
	for _, c := range f.Log.Claims {
		if !c.Held() {
			continue
		}
		all = append(all, turn{c.Created, labels.Claimed})
		if c.Plan != nil {
			all = append(all, turn{c.Plan.At, labels.PlanPending})
		}
		if c.Plan != nil && c.Plan.Approved {
			all = append(all, turn{c.Plan.AnsweredAt, labels.Claimed})
		}
		switch {
		case c.End == nil:
		case c.End.Outcome == claim.OutcomeAlreadyImplemented:
			all = append(all, turn{c.End.At, labels.Done})
		case c.End.Outcome == claim.OutcomeSuccess || c.End.PR != "":
			all = append(all, turn{c.End.At, labels.PROpen})
		default:
			all = append(all, turn{c.End.At, labels.Available})
		}
	}
	for _, p := range f.PRs {
		if p.State == lifecycle.PRMerged && len(all) > 0 && p.MergedAt.After(all[0].at) {
			all = append(all, turn{p.MergedAt, labels.Done})
		}
	}
	slices.SortStableFunc(all, func(a, b turn) int { return a.at.Compare(b.at) })
	return slices.CompactFunc(all, func(a, b turn) bool { return a.state == b.state })
}
