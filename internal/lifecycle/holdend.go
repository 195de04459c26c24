package lifecycle

import (
	"errors"
	"slices"

	"github.com/label-state/label-state/internal/claim"
)

// A HoldEnd is what became of a worker's hold. The zero value is a hold that is lost.
type HoldEnd int

// What becomes of a hold.
const (
	HoldLost      HoldEnd = iota // somebody or time has ended it, or it never was the worker's: the worker must stop
	HoldStands                   // it is the worker's, as far as the log tells
	HoldReleased                 // the worker has ended it itself, whatever came of the work
	HoldDelivered                // the work is there
	// time has ended it, and nobody has taken the issue since: its worker may claim it again
	HoldExpired
)

// Own reports whether the hold ended as its worker would have it: by the worker itself, or because
// its work is there.
func (e HoldEnd) Own() bool { return e == HoldReleased || e == HoldDelivered }

// Overdue reports whether a hold that does not stand, because of err, is one that time alone has
// ended: its end may not be recorded yet.
func (e HoldEnd) Overdue(err error) bool {
	return e == HoldExpired || e == HoldStands && errors.Is(err, claim.ErrOverdue)
}

// EndOf tells a hold that is lost from one that its worker or time has ended, or whose work is
// there. It is the one answer to that question: whoever finds that a hold does not stand as it
// should asks here what that means.
//
// The work is there if the worker itself has recorded success or moved the issue to another stage;
// if somebody else has recorded success with a pull request that is still for the issue; if the
// worker's own pull request is open or merged; or if what was held is a pull request and was
// merged.
func (r Rules) EndOf(f Facts, w claim.Worker) HoldEnd {
	own, claimed := f.Log.Find(w)
	if !claimed {
		return HoldLost
	}
	if own.End == nil {
		return r.unended(f, own)
	}

	itself, outcome := own.End.By == "", own.End.Outcome
	success := outcome == claim.OutcomeSuccess
	switch {
	case success && (itself || f.Merged() || own.End.PR != "" && !own.End.Unlinked):
		return HoldDelivered
	case itself && outcome == claim.OutcomeAdvanced:
		return HoldDelivered
	case itself && own.End.Reason == claim.ReasonAgain: // it was to be claimed again, which did not come to that
		return r.untaken(f, own)
	// the others a program writes for its worker, when the hold is lost
	case itself && slices.Contains(claim.WorkerOutcomes(), outcome):
		return HoldReleased
	case outcome == claim.OutcomeStaleSwept || outcome == claim.OutcomePlanTimeout:
		return r.untaken(f, own)
	}

	return HoldLost
}

// untaken is what a hold is that time has ended: lost as soon as somebody has the issue, or a
// person has decided about it.
func (r Rules) untaken(f Facts, own claim.Claim) HoldEnd {
	_, held := r.Holder(f)
	if held || !own.Held() || own.Revoked != nil || !f.Open || r.BareHold(f) {
		return HoldLost
	}
	return HoldExpired
}

// unended is EndOf for a claim that no record has ended.
func (r Rules) unended(f Facts, own claim.Claim) HoldEnd {
	if f.Merged() {
		return HoldDelivered
	}
	if holder, _, delivered := r.Delivered(f); delivered && holder.Record.Worker == own.Record.Worker {
		return HoldDelivered
	}
	if holder, held := r.Holder(f); held && holder.Record.Worker == own.Record.Worker {
		return HoldStands
	}

	return r.untaken(f, own)
}
