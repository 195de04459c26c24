// Package lifecycle turns the facts of an issue into the labels it should show and into the
// answer to "may this worker take it?".
//
// It is pure. Facts are read elsewhere, all of them before a question is asked; time is the
// server's and is one of the facts. The one predicate is Rules.Verdict (spec.md#the-verdict).
package lifecycle

import (
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// A Snapshot is what one read of an issue returned: its facts, or why they could not be read.
// Facts.Issue is set in every one.
type Snapshot struct {
	Facts Facts
	Err   error

	// Guess is the log with the records of authors whose role GitHub does not tell and whom it
	// calls members or collaborators; nil where there are none. It may be too careful, so it
	// decides nothing but a refusal.
	Guess *claim.State
}

// Facts are what one read of an issue showed: everything the rules look at.
type Facts struct {
	Issue      claim.Issue
	Title, URL string
	Body       string // its text, for people; empty when it has none
	// the number is a pull request's (spec.md#held-pull-requests); then PRs and Blockers are empty
	PullRequest bool
	Created     time.Time // zero when not known
	Open        bool
	// lower case: completed, not_planned, duplicate, reopened, of a pull request merged, or empty
	StateReason string
	ReopenedAt  time.Time // of the last reopening; zero when never, or not known
	Labels      []string
	// when the queue's label was put on, as early as is known; zero when not known. For figures
	// alone
	ReadyAt   time.Time
	ClaimedAt time.Time // when the claimed label was last put on; zero when not known
	BlockedAt time.Time // the same of the blocked label
	HoldAt    time.Time // the same of the label of a person's hold
	HoldBy    string    // login of the person who put that label on; empty when it was an app, or is not known
	HoldApp   string    // of the app, if it was one
	Assignees []string  // logins; an App's ends in [bot]
	// when each of them was assigned last, by login in lower case; missing where that is not known
	AssignedAt map[string]time.Time
	Log        claim.State
	// pull requests that close the issue, those the log names, and the other parts of their chains
	PRs          []PR
	Excessive    []Excess  // pull requests that move nothing, because they name too many issues; they are not among PRs
	Blockers     []Blocker // open and closed ones; nil with BlockersRead false means not known
	BlockersRead bool
	Pause        *Pause    // nil when the repository is not paused
	Limit        string    // what keeps whoever asks from holding anything more; empty when it may, and where nobody asked
	PauseErr     error     // why it is not known whether this host has paused the repository
	Now          time.Time // server time: the Date of the oldest response this was read from
	Viewer       string    // login the snapshot was made as
	Unshown      int       // comments that GitHub counts and does not show, in a snapshot that is whole otherwise
	Missing      []string  // what could not be read; anything here makes the verdict unknown
	// about whose records nobody could be asked: the log goes without them, and only a no is
	// certain
	Doubts []string
}

// Labelled takes in that a label was put on at a moment by a login, empty when it is not known; of
// several the last counts. Only labels whose age tells something are kept.
func (f *Facts) Labelled(s labels.Scheme, name string, at time.Time, by string) {
	switch {
	case labels.Has(s.Queues(), name):
		if f.ReadyAt.IsZero() || at.Before(f.ReadyAt) {
			f.ReadyAt = at.UTC()
		}
	case labels.Same(name, s.Claimed):
		f.ClaimedAt = at.UTC()
	case labels.Same(name, s.Blocked):
		f.BlockedAt = at.UTC()
	case labels.Same(name, s.Hold):
		f.HoldAt, f.HoldBy, f.HoldApp = at.UTC(), by, ""
		if claim.IsApp(by) {
			f.HoldBy, f.HoldApp = "", by
		}
	}
}

// Assigned takes in that a login was assigned at a moment; of several the last counts.
func (f *Facts) Assigned(login string, at time.Time) {
	if f.AssignedAt == nil {
		f.AssignedAt = map[string]time.Time{}
	}
	f.AssignedAt[strings.ToLower(login)] = at.UTC()
}

// A PR is a pull request that is about the issue.
type PR struct {
	Repo        string // owner/repo
	Number      int
	Title, URL  string
	State       PRState
	Draft       bool
	MergedAt    time.Time
	ClosedAt    time.Time // zero while it is open, and where it is not known; for figures alone
	Head        string    // branch name
	HeadRepo    string    // owner/repo; a fork's differs from Repo, empty when the fork is gone
	Base        string
	DefaultBase bool       // Base is the default branch: only then do its keywords close (spec.md#closing-keywords)
	Recorded    bool       // named by the log (pr=), whether or not a closing keyword names the issue as well
	Bare        bool       // only the log names it: as far as its description and GitHub tell, it closes nothing
	Named       claim.Rank // of the newest release that names it
	Author      string
	Chain       string // the feature whose chain it is a part of, as all parts known here agree; empty when none
	Sibling     bool   // a part of the chain that does not close the issue itself
	// opened by a stranger to the repository (spec.md#facts-of-a-pull-request), and no release
	// names it
	Stranger bool
}

// PRState is what became of a pull request.
type PRState string

// The states of a pull request. PRMissing is one that the log names in a repository that is there
// and does not have it. PRUnreadable is one that the log names in a repository that GitHub would
// not show.
const (
	PROpened     PRState = "open"
	PRClosed     PRState = "closed"
	PRMerged     PRState = "merged"
	PRMissing    PRState = "missing"
	PRUnreadable PRState = "unreadable"
)

// A Blocker is an issue that must be closed before this one can go on (spec.md#further-labels).
type Blocker struct {
	Issue claim.Issue
	Open  bool
	URL   string
}

// A Pause says that nothing in the repository is to be claimed.
type Pause struct {
	Since      time.Time
	By, Reason string
	Here       bool // on this host only
}

// Told says where, since when, by whom and why, as far as it is known: a marker that was made by
// hand has no name, nor has that of a host that could not ask for it.
func (p Pause) Told() string {
	text, since := "", ""
	if p.Here {
		text = " on this host"
	}
	if !p.Since.IsZero() {
		since = printable.Minute(p.Since)
	}

	for _, part := range [][2]string{{" since ", since}, {" by ", p.By}, {": ", p.Reason}} {
		if part[1] != "" {
			text += part[0] + part[1]
		}
	}

	return text
}

// Rules are a repository's settings.
type Rules struct {
	Scheme         labels.Scheme
	Terms          claim.Terms
	Exclude        []string        // labels that keep an issue from being taken
	MaxAttempts    int             // failed attempts before a person must look; 0 never asks
	Rest           []time.Duration // after the first, second, … failed attempt; the last repeats
	Stray          time.Duration   // how long a claimed label without a claim is left alone
	Requeue        bool            // on_reopen: requeue
	OutsiderIssues int             // how many issues a pull request may move whose author's records do not count
	PersonTTL      time.Duration   // of a member's own hold, without a sign of life; 0 is without an end
	ContributorTTL time.Duration   // of a contributor's, who waits as long after one that was cut short; 0 is no wait
	Nudge          time.Duration   // after which a person is asked about a hold without an end; 0 is never
	Approvers      Approvers
	Limits         Limits
	Unassigned     bool          // claim.assignees: ignore, so that an assignee is no reason
	AssigneeTTL    time.Duration // how long a person's assignment keeps others off without a sign of life; 0 is without an end
	AssignedBotTTL time.Duration // the same of an App's
	Unassign       bool          // a sweep takes those off that no longer do
}
