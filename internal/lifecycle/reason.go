package lifecycle

import (
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// A Code names a reason.
type Code string

// The reasons why an issue may not be taken, and the notes beside a verdict. What follows from each
// is a row of Meanings.
const (
	CodeUnread     Code = "unread"  // a fact is missing
	CodeUnshown    Code = "unshown" // GitHub counts comments that it does not show
	CodeClosed     Code = "closed"
	CodeInFlight   Code = "in-flight" // somebody else holds it, or asks for it
	CodeOwn        Code = "own"       // this very run holds it already
	CodePROpen     Code = "pr-open"   // an open pull request closes it
	CodeMerged     Code = "merged"    // a merged pull request was for it, the issue stayed open
	CodeDone       Code = "done"      // released as already implemented, or labelled so by a person
	CodePlan       Code = "plan"      // a plan label without a plan record: a person approves first
	CodeHold       Code = "person-hold"
	CodeScope      Code = "needs-scope"
	CodePaused     Code = "paused"
	CodeLimit      Code = "limit" // the repository limits how much is in progress at once
	CodeExcluded   Code = "excluded-label"
	CodeBlocked    Code = "blocked"
	CodeBackingOff Code = "backing-off"
	CodeCutShort   Code = "cut-short" // to a contributor whose last hold of it was, and who waits
	CodeAttempts   Code = "too-many-attempts"
	CodeAssigned   Code = "assigned" // to somebody else
	CodeExpired    Code = "expired"  // a note: the hold's lease is over
	// a note: who is assigned was not heard of, and no longer keeps anybody off
	CodeAssignmentExpired Code = "assignment-expired"
	CodeExcessive         Code = "too-many-issues" // a note: a pull request that names too many issues moves none
)

// A Meaning is what a reason says to those who act on it, and its words where only a few fit.
type Meaning struct {
	Code        Code
	Where       Where
	Person      bool   // it keeps a person from claiming as well; the others are an agent's alone
	Contributor bool   // it keeps a contributor off as well, who decides nothing in the repository
	Taken       bool   // somebody is at work on the issue, so that other work is to be looked for
	Force       Force  // what a claim with --force does about it
	Stated      bool   // the first sentence of a status states it: who holds the issue, or that it is closed
	Noted       bool   // a person may be at work without a hold, which stops no push: the push is told
	Passed      string // how many issues "next" passed over for it: "3 " and this
	Mark        string // on the card; empty where the column, or another mark, says it
	Alert       bool   // the mark is of what no rule moves on: a person is needed
}

// Where says in which part of a verdict a reason stands.
type Where int

// The parts of a verdict.
const (
	AmongReasons   Where = iota // the answer is held
	WithoutOther                // the answer is unknown, when no other reason was given; unshown may be a note as well
	AmongNotes                  // it says nothing about the answer
	ToContributors              // the answer is held, to them alone, of whom the specification knows nothing
)

// Force says what a claim with --force does about a reason.
type Force int

// What it does. Of an open pull request by a stranger see Reason.ByStranger.
const (
	ForceStops    Force = iota // the reason stops that claim as well
	ForceEnds                  // it ends the hold first
	ForcePasses                // it is made all the same
	ForcePerson                // a person's is made all the same, an agent's is stopped
	ForceRestarts              // where the issue is stuck, the issue begins again first
)

// BeyondForce is the verdict without the reasons that a claim with --force ends or passes over;
// person says that a person claims.
func (r Rules) BeyondForce(f Facts, v Verdict, person bool) Verdict {
	stuck := r.Stuck(f)
	v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(one Reason) bool {
		switch one.Code.Meaning().Force {
		case ForceEnds, ForcePasses:
			return true
		case ForcePerson:
			return person
		case ForceRestarts:
			return stuck || one.ByStranger()
		}

		return false
	})

	return v
}

// Meanings is the table of all reasons, a row for each.
func Meanings() []Meaning {
	return []Meaning{
		{
			Code:   CodeUnread,
			Where:  WithoutOther,
			Person: true,
			Passed: "not read",
			Mark:   "not read",
			Alert:  true,
		},
		{
			Code:   CodeUnshown,
			Where:  WithoutOther,
			Person: true,
			Passed: "with comments that GitHub does not show",
		},
		{
			Code:   CodeClosed,
			Person: true,
			Stated: true,
			Passed: "closed",
		},
		{
			Code:   CodeInFlight,
			Person: true,
			Taken:  true,
			Force:  ForceEnds,
			Stated: true,
			Passed: "held",
		},
		{
			Code:   CodeOwn,
			Person: true,
			Taken:  true,
			Stated: true,
			Passed: "yours already",
		},
		{
			Code:   CodePROpen,
			Person: true,
			Taken:  true,
			Force:  ForceRestarts,
			Passed: "with an open pull request",
		},
		{
			Code:   CodeMerged,
			Force:  ForceRestarts,
			Passed: "with a merged pull request",
			Mark:   "merged",
			Alert:  true,
		},
		{
			Code:        CodeDone,
			Contributor: true,
			Force:       ForceRestarts,
			Passed:      "done",
			Mark:        "done",
			Alert:       true,
		},
		{Code: CodePlan, Contributor: true, Passed: "waiting for a plan's approval"},
		{
			Code: CodeHold, Person: true, Taken: true, Force: ForcePerson, Noted: true, Passed: "held by a person",
			Mark: "a person's",
		},
		{
			Code:        CodeScope,
			Contributor: true,
			Passed:      "waiting for a person",
			Mark:        "needs scope",
			Alert:       true,
		},
		{
			Code:   CodeLimit,
			Person: true,
			Force:  ForcePerson,
			Passed: "beyond a limit of the repository",
		},
		{
			Code:        CodePaused,
			Contributor: true,
			Passed:      "paused with the repository",
			Mark:        "paused",
		},
		{
			Code:        CodeExcluded,
			Contributor: true,
			Passed:      "excluded by a label",
			Mark:        "excluded",
		},
		{
			Code:        CodeBlocked,
			Contributor: true,
			Passed:      "blocked by other issues",
			Mark:        "blocked",
		},
		{Code: CodeBackingOff, Passed: "backing off after a failure", Mark: "backing off"},
		{
			Code:   CodeCutShort,
			Where:  ToContributors,
			Passed: "waiting after a hold of yours that expired or was ended",
		},
		{Code: CodeAttempts, Passed: "failed too often"},
		{
			Code: CodeAssigned, Person: true, Force: ForcePasses, Noted: true, Passed: "assigned to somebody else",
			Mark: "assigned",
		},
		{Code: CodeExpired, Where: AmongNotes},
		{Code: CodeAssignmentExpired, Where: AmongNotes},
		{Code: CodeExcessive, Where: AmongNotes},
	}
}

// Meaning returns the row of c; of a code that is none of ours it has the code alone.
func (c Code) Meaning() Meaning {
	rows := Meanings()
	if i := slices.IndexFunc(rows, func(m Meaning) bool { return m.Code == c }); i >= 0 {
		return rows[i]
	}
	return Meaning{Code: c}
}

// A Reason is one cause of a verdict with its evidence.
type Reason struct {
	Code  Code
	Text  string // one clause, plain facts; may contain other people's text
	URL   string // evidence
	Claim *claim.Claim
	PR    *PR
	Until time.Time // when it ends by itself; zero when it does not
	Here  bool      // of CodePaused: on this host only
	Pull  PRState   // of CodeClosed: how a pull request ended; empty of an issue

	Resumed bool // of CodeInFlight: another process of the seeker's run has taken the hold over
	Overdue bool // of a hold that is in the way: its lease is over, and only its grace is left
}

// stops reports whether the reason stops the person who asks as f.Viewer (spec.md#people): a person
// may take what is paused, blocked or too vague, if it is no contributor, has put the own label on
// for that, and goes on with the own pull request.
func (r Reason) stops(f Facts, who Seeker) bool {
	own := r.Code == CodePROpen && r.PR != nil && claim.SameLogin(r.PR.Author, f.Viewer) ||
		r.Code == CodeHold && claim.SameLogin(f.HoldBy, f.Viewer)
	m := r.Code.Meaning()
	return (m.Person || m.Contributor && who.Contributor) && !own
}

// ByStranger reports whether the reason is a stranger's pull request. Somebody whose records count
// may claim in spite of it.
func (r Reason) ByStranger() bool { return r.Code == CodePROpen && r.PR != nil && r.PR.Stranger }
