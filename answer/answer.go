// Package answer is what an operation answers: one Answer, and one Problem when the answer is not
// yes.
//
// The package computes nothing else. It imports no package of ours, so that the Go package can hand
// out the same types. Front ends render an Answer as text, as JSON, as the result of an MCP tool or
// as Markdown; the field tags are the JSON of the command line (docs/cli.md).
package answer

import "time"

// A Word is the short answer in JSON ("answer").
type Word string

// The words of operations that did what they were asked. Those of a Problem are the Word of its
// code.
const (
	Won        Word = "won"        // the caller holds the issue
	Renewed    Word = "renewed"    // the lease was extended
	Released   Word = "released"   // the hold has ended as the caller said
	Asked      Word = "asked"      // the holder was asked to stop
	Advanced   Word = "advanced"   // the issue is in another stage
	Posted     Word = "posted"     // a plan is waiting for its answer
	Approved   Word = "approved"   // a plan was approved
	Rejected   Word = "rejected"   // a plan was rejected
	Reconciled Word = "reconciled" // the labels mirror the log
	Free       Word = "free"       // the issue may be taken
	DryRun     Word = "dry-run"    // nothing was written
	Recorded   Word = "recorded"   // this worktree has recorded the hold; GitHub was not asked
	None       Word = "none"       // this worktree has recorded no hold
)

// An Answer is what an operation on one issue came to. Times are the server's, in UTC and to the
// second; the zero time is absent. The zero Answer is valid and says nothing.
type Answer struct {
	Issue   string `json:"issue,omitempty"`
	Repo    string `json:"repo,omitempty"`    // of what is about no one issue
	Feature string `json:"feature,omitempty"` // of what is about several repositories
	Answer  Word   `json:"answer"`
	DryRun  bool   `json:"dry_run,omitempty"` // nothing was written
	Yours   bool   `json:"yours,omitempty"`   // the one who asks held it before it asked

	// The hold, of a claim, a renewal and a status.
	Codename    string    `json:"codename,omitempty"`
	FiringID    string    `json:"firing_id,omitempty"`
	Person      string    `json:"person,omitempty"` // login of the person whose hold it is
	Since       time.Time `json:"since,omitzero"`
	Until       time.Time `json:"until,omitzero"`        // end of the lease, or of a plan's limit; absent when there is none
	RenewBefore time.Time `json:"renew_before,omitzero"` // when a third of the lease is over
	Token       int64     `json:"token,omitempty"`       // fencing token
	Branch      string    `json:"branch,omitempty"`

	// The labels, of everything that may move them.
	Was     []string `json:"was,omitzero"`
	Is      []string `json:"is,omitzero"`
	Why     string   `json:"why,omitempty"`
	Outcome string   `json:"outcome,omitempty"` // as a release was recorded
	Ended   []string `json:"ended,omitempty"`   // keys of the claims that were ended

	// The plan.
	Worker string `json:"worker,omitempty"` // the key of the claim
	By     string `json:"by,omitempty"`     // who answered
	Reason string `json:"reason,omitempty"` // why

	URL string `json:"url,omitempty"` // of the comment that says so

	// Warnings are facts that do not change the answer, one clause each: late labels, for example.
	Warnings []string `json:"warnings,omitempty"`

	// Of a Problem. Problem.Answer fills them.
	Problem *Problem  `json:"-"`
	Code    Code      `json:"code,omitempty"`
	Reasons []Reason  `json:"reasons,omitempty"`
	Error   string    `json:"error,omitempty"`
	Next    []Command `json:"next,omitempty"`

	// Of the answer none, the queue.
	Queue  *int         `json:"queue,omitempty"` // how many issues are ready
	Passed []PassedOver `json:"passed_over,omitempty"`
}

// A PassedOver counts the items of a queue that could not be offered for one reason.
type PassedOver struct {
	Reason string `json:"reason"` // a code of the source's
	Text   string `json:"text"`   // the same in words
	Items  int    `json:"items"`
}

// A Reason is one cause why an issue may not be taken.
type Reason struct {
	Code  string    `json:"code"` // docs/spec.md, The verdict
	Text  string    `json:"text"` // one clause; it may contain other people's text
	URL   string    `json:"url,omitempty"`
	Until time.Time `json:"until,omitzero"` // when it ends by itself
}
