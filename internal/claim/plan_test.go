package claim_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// TestPlanAnswer: the end of the hold comes before its plan, and a plan that was not answered
// waits.
func TestPlanAnswer(t *testing.T) {
	at := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	waits, approved := &claim.Plan{At: at}, &claim.Plan{At: at, Approved: true, AnsweredAt: at}
	for name, c := range map[string]struct {
		claim claim.Claim
		want  claim.PlanAnswer
	}{
		"no plan":       {claim.Claim{}, claim.PlanOver},
		"no answer yet": {claim.Claim{Plan: waits}, claim.PlanWaiting},
		"approved":      {claim.Claim{Plan: approved}, claim.PlanApproved},
		"approved, then released": {
			claim.Claim{Plan: approved, End: &claim.Release{Outcome: claim.OutcomeFailure}},
			claim.PlanOver,
		},
		"rejected": {claim.Claim{
			Plan: &claim.Plan{At: at, AnsweredAt: at},
			End:  &claim.Release{Outcome: claim.OutcomePlanRejected},
		}, claim.PlanRejected},
		"expired": {
			claim.Claim{Plan: waits, End: &claim.Release{Outcome: claim.OutcomePlanTimeout}},
			claim.PlanOver,
		},
	} {
		if got := c.claim.PlanAnswer(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestRejectedPlanSaysWhy: the end of the hold has the reason of who rejected its plan.
func TestRejectedPlanSaysWhy(t *testing.T) {
	s := stateOf(t, planned+"\n3 0:06 ann reject a:1 by=ann reason=vague")
	if end := s.Claims[0].End; end == nil || end.Reason != "vague" || end.By != "ann" {
		t.Errorf("%+v", end)
	}
}
