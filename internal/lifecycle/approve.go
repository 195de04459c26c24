package lifecycle

import (
	"slices"

	"github.com/label-state/label-state/internal/claim"
)

// Bars says why a login may not answer the plan of c, by approving or rejecting it; empty when it may,
// provided that it may label the repository. With Approvers only they may. Without, everybody but the
// login that wrote the plan: nobody waves the own plan through. To reject the own one is to give up.
func (r Rules) Bars(c claim.Claim, answer claim.Kind, login string) string {
	switch {
	case len(r.Approvers) > 0 && !r.approver(login):
		return login + " is not among the approvers of plans"
	case len(r.Approvers) == 0 && answer == claim.KindApprove && claim.SameLogin(c.Author, login):
		return login + " wrote the plan itself; plan.approvers would have to name it"
	}
	return ""
}

// Votes reports whether somebody's reaction to the plan of c is an answer: a person's who is not
// barred, or whose name is among Approvers, whatever it is.
func (r Rules) Votes(c claim.Claim, answer claim.Kind, login string, person bool) bool {
	return (person || r.approver(login)) && r.Bars(c, answer, login) == ""
}

func (r Rules) approver(login string) bool {
	return slices.ContainsFunc(r.Approvers, func(a string) bool { return claim.SameLogin(a, login) })
}
