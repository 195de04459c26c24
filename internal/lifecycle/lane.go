package lifecycle

import (
	"github.com/label-state/label-state/internal/labels"
)

// A Lane is a column of the board, and a part of what a sweep counts.
type Lane int

// The lanes, from left to right. LanePeople holds what waits for a person's decision.
const (
	LaneReady Lane = iota
	LaneInFlight
	LanePlan
	LanePull
	LaneDone
	LanePeople
	Lanes // how many there are
)

// String is the lane's name in JSON; where a lane is a lifecycle state it is that state's.
func (l Lane) String() string {
	return [...]string{"available", "claimed", "plan-pending", "pr-open", "done", "people"}[l]
}

// Title is the lane's name for people.
func (l Lane) Title() string {
	return [...]string{"ready", "in flight", "plan", "pull request", "done", "for people"}[l]
}

// Lane finds the lane of an issue that shows p; ok is false where it is in none. What only a person
// can move on is in the people's. Issues that are not part of the lifecycle have a lane while a
// person holds them, and pull requests while anybody does.
func (r Rules) Lane(f Facts, p labels.Projection) (l Lane, ok bool) {
	h, held := r.Shown(f)
	if f.PullRequest {
		return LanePull, held
	}

	persons := h.Person != "" || r.BareHold(f)
	state := p.State
	if p.Keep {
		have := r.Scheme.Of(f.Labels)
		if len(have) == 0 { // not part of the lifecycle
			return LanePeople, f.Open && persons
		}
		state = have[len(have)-1]
	}

	if p.Gate && state == labels.Available {
		return LanePlan, true
	}
	waits := persons || labels.Has(f.Labels, r.Scheme.NeedsScope) || labels.Has(p.Set, r.Scheme.NeedsScope)
	switch {
	case f.Open && waits && (state == labels.Available || state == labels.None):
		return LanePeople, true
	case state == labels.None:
		return 0, false
	}

	return Lane(state - labels.Available), true
}
