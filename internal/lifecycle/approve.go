package lifecycle

import "github.com/label-state/label-state/internal/claim"

// Approvers are the logins that may answer plans. Without any it is everybody who may label the
// repository.
type Approvers []string

// Bars says why a login may not answer the plan of c, by approving or rejecting it; empty when it
// may, provided that it may label the repository. With names only those may. Without, everybody but
// the login that wrote the plan: nobody approves the own plan. To reject the own one is to give up.
func (a Approvers) Bars(c claim.Claim, answer claim.Kind, login string) string {
	switch {
	case len(a) > 0 && !claim.HasLogin(a, login):
		return login + " is not among the approvers of plans"
	case len(a) == 0 && answer == claim.KindApprove && claim.SameLogin(c.Author, login):
		return login + " wrote the plan itself; only plan.approvers can allow that"
	}

	return ""
}

// Votes reports whether somebody's reaction to the plan of c is an answer: a person's who is not
// barred, or whose name is among the approvers, whatever it is.
func (a Approvers) Votes(c claim.Claim, answer claim.Kind, login string, person bool) bool {
	return (person || claim.HasLogin(a, login)) && a.Bars(c, answer, login) == ""
}
