package labelstate

import (
	"context"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/trouble"
)

// A Status is everything that one snapshot shows about an issue, and a Holder who holds it.
type (
	Status = answer.Status
	Holder = answer.Holder
)

// An Answer says whether an issue is free.
type Answer = answer.Word

// The answers.
const (
	AnswerFree    Answer = "free"
	AnswerHeld    Answer = "held"    // no
	AnswerUnknown Answer = "unknown" // could not find out
)

// A State is the state of an issue by its log.
type State = answer.State

// The states.
const (
	StateNone        State = "none"      // no lifecycle label
	StateReady       State = "available" // in the queue
	StateInFlight    State = "claimed"
	StatePlanPending State = "plan-pending"
	StatePROpen      State = "pr-open"
	StateDone        State = "done"
	StateUnmanaged   State = "unmanaged" // the log says nothing; labels stay as they are
)

// Status returns everything that is known about an issue. It writes nothing.
func (c *Client) Status(ctx context.Context, number int) (Status, error) {
	f, err := c.s.Ledger.Look(ctx, c.issue(number))
	if err != nil {
		return Status{}, c.doing("status", number, c.answer(err))
	}

	f = c.s.Ledger.Here(f)
	rules := c.s.Ledger.Rules()
	s := trouble.Status(rules, f, rules.Verdict(f, lifecycle.Seeker{}))
	s.Store = c.s.Config.Claim.Lease
	return s, nil
}
