// Package work hands an agent its next item from any source: the highest priority first, within a
// priority the oldest, and claimed before it is shown.
//
// A [Source] knows where the items are. The queue of a GitHub repository is one
// (labelstate.Client.Source); the folder examples/folder of this module is another, on Markdown
// files.
//
//	got, err := work.Next(ctx, source, work.FetchOptions{})
//	if errors.Is(err, work.ErrNoWork) {
//		return
//	}
//	…
//	err = source.Complete(ctx, got.Item.ID, work.Result{Outcome: work.Success})
package work

import (
	"context"
	"time"
)

// A Source is where work comes from, as one agent sees it. Methods may be called from any
// goroutine. A refusal is an *Error with its reason; a fetch with a bad limit, label or cursor is
// an *OptionError.
type Source interface {
	// Fetch returns the free items, first to claim first.
	Fetch(ctx context.Context, o FetchOptions) (Page, error)
	// Claim takes an item for the source's agent. Of any number of callers one gets it.
	Claim(ctx context.Context, id string) (Claimed, error)
	// Complete ends a hold with what came of it. Idempotent for one result.
	Complete(ctx context.Context, id string, r Result) error
	// Release releases an item undone.
	Release(ctx context.Context, id string, o ReleaseOptions) error
	// Get returns one item, whatever its state.
	Get(ctx context.Context, id string) (Item, error)
}

// An Item is one piece of work. Its texts are other people's and may contain anything.
type Item struct {
	ID          string    `json:"id"`              // github-42
	Issue       string    `json:"issue,omitempty"` // owner/repo#42, which every command takes; empty when the source has no issues
	Source      string    `json:"source"`
	ExternalID  string    `json:"external_id"` // 42
	Title       string    `json:"title"`
	Description string    `json:"description"`
	Priority    Priority  `json:"priority"`
	Labels      []string  `json:"labels"`
	Claimed     bool      `json:"claimed"` // somebody works on it
	Metadata    Metadata  `json:"metadata"`
	URL         string    `json:"url"`
	Created     time.Time `json:"created"`
	Updated     time.Time `json:"updated"`
	Blockers    []string  `json:"blockers"` // what is open and blocks it: owner/repo#7, or an id of the source
	Tried       []Attempt `json:"tried,omitempty"`
}

// An Attempt is earlier work on an item, which has ended. Its texts are other people's.
type Attempt struct {
	By          string    `json:"by"`
	Outcome     string    `json:"outcome"`
	Reason      string    `json:"reason,omitempty"`
	Branch      string    `json:"branch,omitempty"`
	PullRequest string    `json:"pull_request,omitempty"` // its URL
	Ended       time.Time `json:"ended"`
}

// Number returns the number of an item whose external id is one, 42 of github-42, and 0 for any
// other.
func (i Item) Number() int {
	n, err := ParseID("", i.ExternalID)
	if err != nil {
		return 0
	}
	return int(n)
}

// Metadata is what else a source knows.
type Metadata struct {
	State     string   `json:"state"` // open or closed
	Assignees []string `json:"assignees"`
	Milestone string   `json:"milestone"`
	Author    string   `json:"author"`
}

// A Claimed is an item that the agent holds.
type Claimed struct {
	Item  Item
	Agent string // codename
	Run   string // firing id: the key of this hold
	Token int64  // fencing token, 0 when the source has none
	Until time.Time
	Lease time.Duration // how long the hold lasts after each renewal, 0 when the source does not renew
}

// An Outcome is how work ended.
type Outcome string

// The outcomes of Complete.
const (
	Success Outcome = "success"
	Failure Outcome = "failure"
	Partial Outcome = "partial"
)

// A Result is what came of an item. All its texts are fenced before anybody sees them.
type Result struct {
	Outcome   Outcome
	Summary   string   // one or a few lines
	Details   string   // any length; clipped
	Artifacts []string // URLs or paths
}

// ReleaseOptions say why an item comes back.
type ReleaseOptions struct {
	Reason  string // for people; empty says nothing
	Comment bool   // say it in a comment of its own, not only in the record
}
