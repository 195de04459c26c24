package answer

import "time"

// A State is the state of an issue by its log. Its lifecycle label mirrors it. An expired hold
// counts as ended.
type State string

// A Status is everything that one snapshot shows about an issue. Times are the server's, in UTC and
// to the second; the zero time is absent. Other people's texts are of one line.
type Status struct {
	Issue    string        `json:"issue"` // owner/repo#7
	Title    string        `json:"title"` // other people's text
	URL      string        `json:"url"`
	Open     bool          `json:"open"`
	Pull     bool          `json:"pull_request,omitempty"` // the number is a pull request's
	Answer   Word          `json:"answer"`                 // free, held or unknown
	Reasons  []Reason      `json:"reasons"`                // why not, unless the answer is free
	State    State         `json:"state"`
	Why      string        `json:"why"`                // the state in one clause
	Stage    string        `json:"stage,omitempty"`    // of a pipeline
	Labels   []string      `json:"labels"`             // all that it has
	Drift    *Drift        `json:"drift,omitempty"`    // nil when the labels are right
	Stranded string        `json:"stranded,omitempty"` // why no rule moves the issue on, so that a person must
	Store    string        `json:"lease_store"`        // what decides: comments, refs or redis
	Holder   *Holder       `json:"holder,omitempty"`   // nil when nobody holds it or is claiming it
	Plan     *Answer       `json:"plan,omitempty"`     // of the holder; nil when it posted none
	Blockers []Blocker     `json:"blockers"`
	Attempts []Attempt     `json:"attempts"` // earlier holds, newest first, at most five
	PRs      []PullRequest `json:"pull_requests"`
	Ignored  []Ignored     `json:"ignored"`
	Now      time.Time     `json:"server_time"` // of the snapshot
}

// A Drift is what the next sweep changes of the labels, and why.
type Drift struct {
	Add    []string `json:"add"`
	Remove []string `json:"remove"`
	Why    string   `json:"why"`
}

// A Holder is who holds an issue, or is claiming it.
type Holder struct {
	Codename    string    `json:"codename"`
	FiringID    string    `json:"firing_id"`
	Person      string    `json:"person,omitempty"` // login, when a person holds it
	Author      string    `json:"author"`           // login that wrote the claim
	Since       time.Time `json:"since,omitzero"`
	Renewed     time.Time `json:"renewed,omitzero"`
	Until       time.Time `json:"until,omitzero"`        // end of the lease; zero when it has none
	RenewBefore time.Time `json:"renew_before,omitzero"` // of a hold of whoever asks on the command line
	Confirmed   bool      `json:"confirmed"`             // false while it is claiming
	Expired     bool      `json:"expired"`               // lease and grace are over: the next claim or sweep ends it
	Token       int64     `json:"token,omitempty"`       // fencing token
	Branch      string    `json:"branch,omitempty"`
	Bundle      string    `json:"bundle,omitempty"`
	URL         string    `json:"url"`            // of the claim comment
	Note        string    `json:"note,omitempty"` // the last one of its renewals
}

// A Blocker is an issue that has to be closed first.
type Blocker struct {
	Issue string `json:"issue"` // owner/repo#7
	Open  bool   `json:"open"`
	URL   string `json:"url"`
}

// An Attempt is a hold that has ended.
type Attempt struct {
	Worker  string    `json:"worker"`           // codename:firing_id
	Person  string    `json:"person,omitempty"` // whose hold it was, when a person's
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"` // other people's text
	At      time.Time `json:"at"`
	Branch  string    `json:"branch,omitempty"`
	PR      string    `json:"pr,omitempty"`
	Failed  bool      `json:"failed,omitempty"` // it counts against the issue
}

// A PullRequest is a pull request for the issue. State is open, closed, merged, missing or
// unreadable.
type PullRequest struct {
	Ref   string `json:"ref"`   // owner/repo#7
	Title string `json:"title"` // other people's text
	State string `json:"state"`
	Draft bool   `json:"draft"`
	URL   string `json:"url"`
}

// An Ignored record is a comment that looks like a record and does not count.
type Ignored struct {
	URL    string `json:"url"`
	Author string `json:"author"`
	Reason string `json:"reason"` // why it does not count
}
