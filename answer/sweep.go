package answer

// A Sweep is what a sweep did, or would do in a dry run.
type Sweep struct {
	Examined  int        `json:"examined"` // issues
	Ended     int        `json:"swept"`    // holds that were released
	Repaired  int        `json:"repaired"` // issues whose labels, or a record, were brought in line
	Failed    int        `json:"failed"`
	Skipped   []string   `json:"not_examined"`                 // and why
	Left      []string   `json:"left_alone"`                   // repositories, and why
	Unshown   []string   `json:"comments_not_shown,omitempty"` // issues of which not all comments can be read
	Minimized int        `json:"minimized,omitempty"`          // comments of ended holds
	Findings  []Finding  `json:"findings"`
	Stranded  []Stranded `json:"stranded"`
	DryRun    bool       `json:"dry_run"`
}

// A Stranded issue has no live holder, and no rule moves it on: a person must.
type Stranded struct {
	Issue string `json:"issue"` // owner/repo#7
	Why   string `json:"why"`
}

// A Finding is one issue that a sweep changed, or failed at.
type Finding struct {
	Issue string   `json:"issue"`           // owner/repo#7
	Was   []string `json:"was"`             // lifecycle labels before
	Is    []string `json:"is"`              // and after
	Ended []string `json:"ended,omitempty"` // workers whose holds were released, as codename:firing_id
	Why   string   `json:"why"`
	Added string   `json:"recorded,omitempty"` // worker whose hold was missing in the log
	Error string   `json:"error,omitempty"`

	Came, Went []string `json:"-"` // all labels that did
}
