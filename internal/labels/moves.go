package labels

import (
	"cmp"
	"fmt"
	"strings"
)

// A Move is one legal step of an issue's life.
type Move struct {
	From, To  State
	Escalates bool // ends at needs:human-scope, without a lifecycle label
	Trigger   string
}

// Moves is the table of spec-writing.md#legal-moves.
func Moves() []Move {
	return []Move{
		{From: None, To: Available, Trigger: "a person or planner files it"},
		{From: Available, To: Claimed, Trigger: "claim"},
		{
			From:      Available,
			To:        None,
			Escalates: true,
			Trigger:   "too many failed attempts",
		},
		{From: Available, To: PROpen, Trigger: "a pull request that closes it is opened though nobody claimed it"},
		{From: Claimed, To: Available, Trigger: "release, expired lease, race yield, forced release"},
		{From: Claimed, To: PlanPending, Trigger: "plan posted"},
		{From: Claimed, To: PROpen, Trigger: "release with a pull request; pull request event"},
		{From: Claimed, To: Done, Trigger: "released as already-implemented; merged pull request seen"},
		{
			From:      Claimed,
			To:        None,
			Escalates: true,
			Trigger:   "too many failed attempts",
		},
		{From: PlanPending, To: Claimed, Trigger: "approved"},
		{From: PlanPending, To: Available, Trigger: "rejected, timed out, expired"},
		{From: PROpen, To: Done, Trigger: "pull request merged into the default branch"},
		{From: PROpen, To: Available, Trigger: "last pull request closed without merge"},
		{From: PROpen, To: Claimed, Trigger: "the pull request is closed and its worker still holds the issue"},
		{From: Done, To: Available, Trigger: "issue reopened and on_reopen: requeue"},
	}
}

// Check returns nil for a legal move or for staying, else which moves would be.
func (s Scheme) Check(from, to State) error {
	if from == to {
		return nil
	}

	for _, m := range Moves() {
		if m.From == from && m.To == to && !m.Escalates {
			return nil
		}
	}

	const none = "(none)" // how a state without a label is called
	var targets []string
	for _, m := range Moves() {
		switch {
		case m.From != from:
		case m.Escalates:
			targets = append(targets, s.NeedsScope)
		default:
			targets = append(targets, cmp.Or(s.Name(m.To), none))
		}
	}

	return fmt.Errorf("no legal move from %q to %q; from there: %s", cmp.Or(s.Name(from), none),
		cmp.Or(s.Name(to), none), cmp.Or(strings.Join(targets, ", "), "nothing"))
}
