package labelstate

import (
	"context"
	"time"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/trouble"
)

// An Answer says whether an issue is free.
type Answer string

// The answers.
const (
	AnswerFree    Answer = "free"
	AnswerHeld    Answer = "held"    // no
	AnswerUnknown Answer = "unknown" // could not find out
)

// A State is the state of an issue by its log. Its lifecycle label mirrors it. An expired hold
// counts as ended.
type State string

// The states.
const (
	StateNone        State = "none"      // no lifecycle label
	StateReady       State = "available" // in the queue
	StateInFlight    State = "claimed"
	StatePlanPending State = "plan-pending"
	StatePROpen      State = "pr-open"
	StateDone        State = "done"
	StateUnmanaged   State = "unmanaged" // the log says nothing; labels stay as they are
)

// A Status is everything that one snapshot shows about an issue.
type Status struct {
	Repo       string // owner/name
	Number     int
	Title, URL string // the title is other people's text
	Open       bool
	Now        time.Time // server time of the snapshot

	Answer  Answer
	Reasons []Reason // why not, unless the answer is free
	State   State
	Why     string // the state in one clause

	Labels   []string
	Add      []string // labels that the next sweep adds
	Remove   []string // labels that it removes
	Stranded string   // why no rule moves the issue on, so that a person must; empty when one does
	Store    string   // what decides: comments, refs or redis

	Holder       *Holder // nil when nobody holds it or is claiming it
	Plan         *Plan   // of the holder; nil when it posted none
	Blockers     []Blocker
	Attempts     []Attempt // that failed, since the last reset
	PullRequests []PullRequest
	Ignored      []IgnoredRecord
}

// A Holder is who holds an issue, or is claiming it.
type Holder struct {
	Codename, FiringID string
	Person             string // login, when a person holds it
	Author             string // login that wrote the claim
	Confirmed          bool   // false while it is claiming
	Expired            bool   // the lease and the grace are over: the next claim or sweep ends it
	Since, Renewed     time.Time
	Until              time.Time // end of the lease; zero when it has none
	Token              int64     // fencing token
	Branch, Bundle     string
	URL                string // of the claim comment
}

// A Blocker is an issue that has to be closed first.
type Blocker struct {
	Repo   string // owner/name
	Number int
	Open   bool
	URL    string
}

// An Attempt is a hold that ended in a way that counts against the issue.
type Attempt struct {
	Codename, FiringID string
	Outcome            Outcome
	Reason             string // other people's text
	At                 time.Time
}

// A PullRequest is a pull request for the issue. State is open, closed, merged, missing or
// unreadable.
type PullRequest struct {
	Repo   string // owner/name
	Number int
	Title  string // other people's text
	State  string
	Draft  bool
	URL    string
}

// An IgnoredRecord is a comment that looks like a record and does not count.
type IgnoredRecord struct {
	URL, Author string
	Reason      string // why it does not count
}

// Status returns everything that is known about an issue. It writes nothing.
func (c *Client) Status(ctx context.Context, number int) (Status, error) {
	f, err := c.s.Ledger.Look(ctx, c.issue(number))
	if err != nil {
		return Status{}, c.doing("status", number, c.answer(err))
	}

	f = c.s.Ledger.Here(f)
	r := c.s.Ledger.Rules()
	v, sum := r.Verdict(f, lifecycle.Seeker{}), r.Summary(f)
	s := Status{
		Repo:     f.Issue.Slug(),
		Number:   f.Issue.Number,
		Title:    f.Title,
		URL:      f.URL,
		Open:     f.Open,
		Now:      f.Now,
		Answer:   Answer(v.Answer.String()),
		Reasons:  trouble.Reasons(v),
		State:    State(sum.State.String()),
		Why:      sum.Why,
		Labels:   f.Labels,
		Add:      sum.Drift.Add,
		Remove:   sum.Drift.Remove,
		Stranded: sum.Stranded,
		Store:    c.s.Config.Claim.Lease,
	}

	if sum.Unmanaged {
		s.State = StateUnmanaged
	}

	if h, held := r.Shown(f); held {
		until, _ := h.Until(r.Terms)
		s.Holder = &Holder{
			Codename:  h.Record.Worker.Codename,
			FiringID:  h.Record.Worker.FiringID,
			Person:    h.Person,
			Author:    h.Author,
			Confirmed: h.Held(),
			Expired:   h.Expired(r.Terms, f.Now),
			Since:     h.Created,
			Renewed:   h.Updated,
			Until:     until,
			Token:     h.Record.Token,
			Branch:    h.Record.Branch,
			Bundle:    h.Record.Bundle,
			URL:       h.URL,
		}

		if h.Plan != nil {
			plan := planOf(h, r.Terms)
			s.Plan = &plan
		}
	}

	for _, b := range f.Blockers {
		s.Blockers = append(s.Blockers, Blocker{b.Issue.Slug(), b.Issue.Number, b.Open, b.URL})
	}

	for _, a := range f.Log.Attempts {
		s.Attempts = append(s.Attempts,
			Attempt{a.Worker.Codename, a.Worker.FiringID, Outcome(a.Release.Outcome), a.Release.Reason, a.Release.At})
	}

	for _, p := range f.PRs {
		s.PullRequests = append(s.PullRequests, PullRequest{p.Repo, p.Number, p.Title, string(p.State), p.Draft, p.URL})
	}

	for _, g := range f.Log.Ignored {
		s.Ignored = append(s.Ignored, IgnoredRecord{g.Comment.URL, g.Comment.Author, g.Reason})
	}

	return s, nil
}
