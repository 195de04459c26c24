// Package dedup answers whether what a push finishes is already someone else's work.
//
// It is pure. Who holds an issue is decided by lifecycle's one predicate (spec.md#the-verdict);
// this package decides what of that stops a push, which is little (spec.md#the-verdict), and says
// it in a form for people and one for programs.
package dedup

import (
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Commit is one that names an issue. Subject is its author's text, as it was written.
type Commit struct{ OID, Subject string }

// Named is an issue that the push finishes, with the commits that say so, in the push's order; or
// an open pull request from a branch that is pushed.
type Named struct {
	Issue   claim.Issue
	Commits []Commit
	Branch  string // whose pull request it is; empty for an issue
}

// A snapshot is what GitHub said about a named issue.
type Snapshot struct {
	Named
	Facts  lifecycle.Facts // meaningless when Absent or Unread say so
	Absent bool            // the repository was read and has no such issue
	Unread string          // why nothing is known about it; empty when it was read
	Guess  *claim.State    // the log if those count whom GitHub calls members, where it tells no roles; nil is none
}

// A Pusher is who pushes, as far as the environment, the worktree and git tell.
type Pusher struct {
	Worker   claim.Worker // named by the environment; zero when it names none
	Holds    []Hold       // what this worktree remembers having claimed
	Repo     string       // owner/repo that is pushed to, of a fork the fork
	Branches []string     // the branches that are pushed, without refs/heads/

	// Made reports whether the session that the push runs in has made the worker's claim; nil is
	// no.
	Made func(claim.Worker) bool
}

// A Hold is a claim that was made from this worktree.
type Hold struct {
	Issue  claim.Issue
	Worker claim.Worker
	Token  int64 // its fencing token; 0 is unknown
}

// A Policy says what becomes of a push about which nothing could be found out (hook.md).
type Policy int

// The policies. Allow is the default.
const (
	Allow Policy = iota
	Refuse
)

// A Report is everything there is to say about a push; the zero Report says nothing.
type Report struct {
	Home     string // owner/repo whose issues are written #7
	Policy   Policy
	Refusals []Refusal
	Notes    []Note
	Unknown  []Unchecked
}

// Empty reports whether there is nothing to say.
func (r Report) Empty() bool { return len(r.Refusals)+len(r.Notes)+len(r.Unknown) == 0 }

// Stops reports whether the push may not go on.
func (r Report) Stops() bool {
	return len(r.Refusals) > 0 || len(r.Unknown) > 0 && r.Policy == Refuse
}

// A Refusal is an issue that is someone else's work. Texts in it may be other people's.
type Refusal struct {
	Named
	Title, URL string
	Reasons    []lifecycle.Reason // one or more, each lifecycle.CodeInFlight or lifecycle.CodePROpen
	Lost       *claim.Claim       // the pusher's own claim that is no longer valid; nil when it has none
	Guess      bool               // GitHub does not tell the role of somebody whose records these reasons go by
	Terms      claim.Terms        // the lengths that the claims are judged by
	Now        time.Time          // server time of the snapshot
}

// A Note is something seen that stops nothing. Text is one clause and may hold other people's text.
type Note struct {
	Issue claim.Issue // zero when it is about no issue
	Text  string
	URL   string
}

// Unchecked is an issue about which nothing is known, or the whole push when Issue is zero.
type Unchecked struct {
	Issue  claim.Issue
	Reason string
}
