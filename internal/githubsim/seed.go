package githubsim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// A Seed describes a server: who there is, and what the repositories hold. What is left out is
// filled in.
type Seed struct {
	Users []SeedUser `json:"users"`
	Repos []SeedRepo `json:"repos"`
}

// A SeedUser is one credential of an account. An account with several tokens is listed several
// times. A login that ends in [bot] is an app's.
type SeedUser struct {
	Login       string            `json:"login"`
	Token       string            `json:"token"`
	Permissions map[string]string `json:"permissions"` // owner/repo to read, triage, write, maintain or admin; a custom role is triage:its name
	Scopes      []string          `json:"scopes"`      // makes it a classic token
	ReadOnly    bool              `json:"read_only"`   // may only read, as the token of a fork's workflow run
	// TokenPermissions are those of a fine-grained token, an App's or a workflow's: issues,
	// contents, pull_requests, metadata, statuses, checks or workflows to none, read, write or
	// admin. Left out the token has them all, given it has no others.
	TokenPermissions map[string]string `json:"token_permissions"`
}

// A SeedRepo is one repository.
type SeedRepo struct {
	Name          string            `json:"name"` // owner/repo
	DefaultBranch string            `json:"default_branch"`
	Private       bool              `json:"private"`
	Archived      bool              `json:"archived"`
	HasIssues     *bool             `json:"has_issues"`
	ForkOf        string            `json:"fork_of"`
	Files         map[string]string `json:"files"` // on the default branch
	Labels        []SeedLabel       `json:"labels"`
	Issues        []SeedIssue       `json:"issues"`
	Pulls         []SeedPull        `json:"pulls"`
	Merge         *SeedMerge        `json:"merge"` // merge commits alone, if it is left out
}

// A SeedMerge is how pull requests may be merged, and what the messages are made of, in GraphQL's
// words. An empty word is GitHub's default.
type SeedMerge struct {
	Commit        bool   `json:"commit"`
	Squash        bool   `json:"squash"`
	Rebase        bool   `json:"rebase"`
	CommitTitle   string `json:"commit_title"`
	CommitMessage string `json:"commit_message"`
	SquashTitle   string `json:"squash_title"`
	SquashMessage string `json:"squash_message"`
}

// A SeedLabel is a label of a repository.
type SeedLabel struct {
	Name        string     `json:"name"`
	Color       string     `json:"color"`
	Description *string    `json:"description"`
	CreatedAt   *time.Time `json:"created_at"`
}

// A SeedIssue is an issue. Labels that the repository does not have are made.
type SeedIssue struct {
	Number      int           `json:"number"`
	Title       string        `json:"title"`
	Body        string        `json:"body"`
	Author      string        `json:"author"`
	Labels      []string      `json:"labels"`
	Assignees   []string      `json:"assignees"` // anybody, bots too
	State       string        `json:"state"`
	StateReason string        `json:"state_reason"`
	Locked      bool          `json:"locked"`
	CreatedAt   *time.Time    `json:"created_at"`
	UpdatedAt   *time.Time    `json:"updated_at"`
	ClosedAt    *time.Time    `json:"closed_at"`
	Comments    []SeedComment `json:"comments"`
}

// A SeedPull is a pull request: an issue with branches.
type SeedPull struct {
	SeedIssue
	Head     string     `json:"head"` // branch, or owner:branch of a fork
	Base     string     `json:"base"`
	Draft    bool       `json:"draft"`
	Merged   bool       `json:"merged"`
	MergedAt *time.Time `json:"merged_at"`
}

// A SeedComment is a comment. An updated_at after created_at, or an editor, makes it an edited one;
// the editor ghost is an account that is gone. Spam is counted and not listed; minimized is the
// reason of one that was hidden.
type SeedComment struct {
	Author    string     `json:"author"`
	Body      string     `json:"body"`
	CreatedAt *time.Time `json:"created_at"`
	UpdatedAt *time.Time `json:"updated_at"`
	Editor    string     `json:"editor"`
	Minimized string     `json:"minimized"`
	Spam      bool       `json:"spam"`
}

// LoadSeed reads a seed. A key that it does not know is an error, and so is anything after the
// seed.
func LoadSeed(r io.Reader) (Seed, error) {
	decoder := json.NewDecoder(r)
	decoder.DisallowUnknownFields()
	var seed Seed
	err := decoder.Decode(&seed)
	if wrong, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		return Seed{}, fmt.Errorf("read seed: byte %d: %s where a seed has something else; expected {\"users\": […], \"repos\": […]}", wrong.Offset, wrong.Value)
	}
	if err != nil {
		return Seed{}, fmt.Errorf("read seed: %w", err)
	}
	if err := decoder.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return Seed{}, errors.New("read seed: more than one JSON value")
	}

	return seed, nil
}
