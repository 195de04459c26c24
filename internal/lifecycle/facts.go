// Package lifecycle turns the facts of an issue into the labels it should show and into the
// answer to "may this worker take it?".
//
// It is pure. Facts are read elsewhere, all of them before a question is asked; time is the
// server's and is one of the facts. The one predicate is Rules.Verdict (PRODUCT ruling 2).
package lifecycle

import (
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// Facts are one reading of an issue: everything the rules look at.
type Facts struct {
	Issue        claim.Issue
	Title, URL   string
	PullRequest  bool // GitHub numbers pull requests as issues; they are never work
	Open         bool
	StateReason  string    // lower case: completed, not_planned, duplicate, reopened, or empty
	ReopenedAt   time.Time // of the last reopening; zero when never, or not known
	Labels       []string
	ClaimedAt    time.Time // when the claimed label was last put on; zero when not known
	BlockedAt    time.Time // the same of the blocked label
	Log          claim.State
	PRs          []PR      // pull requests that close the issue, those the log names, and the other parts of their chains
	Blockers     []Blocker // open and closed ones; nil with BlockersRead false means not known
	BlockersRead bool
	Pause        *Pause    // nil when the repository is not paused
	Now          time.Time // server time: the Date of the oldest response this was read from
	Viewer       string    // login the reading was made as
	Missing      []string  // what could not be read; anything here makes the verdict unknown
}

// Labelled takes in that a label was put on at a moment; of several the last counts. Only labels
// whose age tells something are kept.
func (f *Facts) Labelled(s labels.Scheme, name string, at time.Time) {
	switch {
	case labels.Same(name, s.Claimed):
		f.ClaimedAt = at.UTC()
	case labels.Same(name, s.Blocked):
		f.BlockedAt = at.UTC()
	}
}

// A PR is a pull request that is about the issue.
type PR struct {
	Repo        string // owner/repo
	Number      int
	Title, URL  string
	State       PRState
	Draft       bool
	MergedAt    time.Time
	Head        string // branch name
	HeadRepo    string // owner/repo; a fork's differs from Repo, empty when the fork is gone
	Base        string
	DefaultBase bool // Base is the default branch: only then do its keywords close (PRODUCT ruling 11)
	Recorded    bool // named by the log (pr=) rather than by a closing keyword
	Author      string
	Chain       string // the feature whose chain it is a part of, as all parts known here agree; empty when none
	Sibling     bool   // a part of the chain that does not close the issue itself
}

// PRState is what became of a pull request.
type PRState string

// The states of a pull request. PRUnreadable is one the log names and GitHub would not show.
const (
	PROpened     PRState = "open"
	PRClosed     PRState = "closed"
	PRMerged     PRState = "merged"
	PRUnreadable PRState = "unreadable"
)

// A Blocker is an issue that must be closed before this one can go on (PRODUCT ruling 19).
type Blocker struct {
	Issue claim.Issue
	Open  bool
	URL   string
}

// A Pause says that nothing in the repository is to be claimed.
type Pause struct {
	Since      time.Time
	By, Reason string
}

// Rules are a repository's settings.
type Rules struct {
	Scheme      labels.Scheme
	Terms       claim.Terms
	Exclude     []string        // labels that keep an issue from being taken
	MaxAttempts int             // failed attempts before a person must look; 0 never asks
	Rest        []time.Duration // after the first, second, … failed attempt; the last repeats
	Stray       time.Duration   // how long a claimed label without a claim is left alone
	Requeue     bool            // on_reopen: requeue
	Approvers   []string        // logins that may answer plans; none is everybody who may label
}
