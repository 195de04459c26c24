package claim

import "slices"

// A Kind says what a record does to the log.
type Kind string

// The record kinds (spec.md#grammar).
const (
	KindClaim   Kind = "claim"   // a worker asks for, and after confirmation holds, the issue
	KindRelease Kind = "release" // ends the claim of its key, for ever
	KindRevoke  Kind = "revoke"  // asks the holder to stop at its next heartbeat
	KindPlan    Kind = "plan"    // the holder proposes and waits
	KindApprove Kind = "approve" // the plan of the key may go ahead
	KindReject  Kind = "reject"  // the plan of the key may not; ends the claim
	KindReset   Kind = "reset"   // the count of attempts restarts here, and waits after holds end
	KindUnlink  Kind = "unlink"  // the pull request that the key's release names is no longer for the issue
)

// An About is what holds for all records of a kind. What a record of the kind does to a claim is in
// replay.go.
type About struct {
	Kind   Kind
	Signed bool // it is written by others than the worker, and must say in by= by whom
	Aging  bool // it says nothing of today once its key has ended; others stay, because people read and wrote them
	Once   bool // a further one of the same key is ignored
	// what its worker did by it, as a list of records says it; of a claim and a release it goes by
	// more than the kind
	Deed string
}

// About returns what holds for records of the kind; of one that is none of ours it has the kind
// alone.
func (k Kind) About() About {
	rows := abouts()
	if i := slices.IndexFunc(rows, func(a About) bool { return a.Kind == k }); i >= 0 {
		return rows[i]
	}
	return About{Kind: k}
}

// abouts is the table of all kinds, in the order of spec.md#grammar.
func abouts() []About {
	return []About{
		{Kind: KindClaim, Aging: true},
		{Kind: KindRelease, Aging: true},
		{
			Kind:   KindRevoke,
			Signed: true,
			Aging:  true,
			Deed:   "was asked to stop",
		},
		{Kind: KindPlan, Deed: "posted a plan, and waits"},
		{
			Kind:   KindApprove,
			Signed: true,
			Once:   true,
			Deed:   "had its plan approved",
		},
		{
			Kind:   KindReject,
			Signed: true,
			Once:   true,
			Deed:   "had its plan rejected",
		},
		{
			Kind:   KindReset,
			Signed: true,
			Deed:   "had its failed attempts and waits reset",
		},
		{
			Kind:   KindUnlink,
			Signed: true,
			Once:   true,
			Deed:   "had its pull request unlinked",
		},
	}
}

// Kinds returns the record kinds, in the order of spec.md#grammar. Decode ignores a record of any
// other.
func Kinds() []Kind {
	var out []Kind
	for _, a := range abouts() {
		out = append(out, a.Kind)
	}
	return out
}
