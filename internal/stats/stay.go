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

// stay adds the times that the issue was in each state. What was before its first record no log
// tells.
func (c *counting) stay(f lifecycle.Facts) {
	var turns []turn
	for _, one := range f.Log.Claims {
		if !one.Held() {
			continue
		}
		turns = append(turns, turn{one.Created, labels.Claimed})
		if one.Plan != nil {
			turns = append(turns, turn{one.Plan.At, labels.PlanPending})
		}

		if one.Plan != nil && one.Plan.Approved {
			turns = append(turns, turn{one.Plan.AnsweredAt, labels.Claimed})
		}

		switch {
		case one.End == nil:
		case one.End.Outcome == claim.OutcomeCancelled && delivered(f, one): // its merge is a turn
		case one.End.Outcome == claim.OutcomeAlreadyImplemented:
			turns = append(turns, turn{one.End.At, labels.Done})
		case delivered(f, one) && one.End.Outcome != claim.OutcomeAdvanced:
			turns = append(turns, turn{one.End.At, labels.PROpen})
		default:
			turns = append(turns, turn{one.End.At, labels.Available})
		}
	}

	for _, p := range f.PRs {
		if len(turns) > 0 && p.MergedAt.After(turns[0].at) {
			turns = append(turns, turn{p.MergedAt, labels.Done})
		}
	}

	slices.SortStableFunc(turns, func(a, b turn) int { return a.at.Compare(b.at) })
	turns = slices.CompactFunc(turns, func(a, b turn) bool { return a.state == b.state }) // each into another one
	for n, t := range turns {
		if t.state == labels.Done {
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
