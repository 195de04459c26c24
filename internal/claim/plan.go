package claim

// A PlanAnswer is what has become of the plan of a claim.
type PlanAnswer string

// The answers (spec-writing.md#answers-to-a-plan). PlanOver is a hold that ended without one, or a
// claim without a plan.
const (
	PlanWaiting  PlanAnswer = "waiting"
	PlanApproved PlanAnswer = "approved"
	PlanRejected PlanAnswer = "rejected"
	PlanOver     PlanAnswer = "over"
)

// PlanAnswer returns what has become of the claim's newest plan.
func (c Claim) PlanAnswer() PlanAnswer {
	switch {
	case c.End != nil && c.End.Outcome == OutcomePlanRejected:
		return PlanRejected
	case c.End != nil || c.Plan == nil:
		return PlanOver
	case c.Plan.Approved:
		return PlanApproved
	}

	return PlanWaiting
}
