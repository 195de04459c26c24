package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// An Issue is what GitHub says about an issue to people: texts and labels, nothing that decides.
type Issue struct {
	Number           int
	PullRequest      bool
	Open             bool
	Title, Body, URL string // a body that was never written is empty
	Labels           []string
	Assignees        []string
	Milestone        string
	Author           string
	Created, Updated time.Time
}

// queuedIssue is the issue object of REST as a work list needs it.
type queuedIssue struct {
	restIssue
	User      *restUser  `json:"user"`
	Assignees []restUser `json:"assignees"`
	Milestone *struct {
		Title string `json:"title"`
	} `json:"milestone"`
	CreatedAt time.Time `json:"created_at"`
}

func (q queuedIssue) issue() Issue {
	out := Issue{
		Number: q.Number, PullRequest: q.PullRequest != nil, Open: q.State == "open", Title: q.Title, Body: q.Body, URL: q.HTMLURL,
		Labels: []string{}, Assignees: []string{}, Author: q.User.name(), Created: q.CreatedAt.UTC(), Updated: q.UpdatedAt.UTC(),
	}
	for _, l := range q.Labels {
		out.Labels = append(out.Labels, l.Name)
	}
	for _, u := range q.Assignees {
		out.Assignees = append(out.Assignees, u.Login)
	}
	if q.Milestone != nil {
		out.Milestone = q.Milestone.Title
	}
	return out
}

// usable refuses an answer that lacks what makes it an issue.
func (q queuedIssue) usable() error {
	if q.Number < 1 || q.State == "" || q.CreatedAt.IsZero() {
		return &AnswerError{Status: http.StatusOK, Reason: "it is not an issue"}
	}
	return nil
}

// OpenIssues lists the open issues with a label, each once, oldest first; a hundred a request. Pull
// requests are left out. The label holds no comma: to GitHub that is two labels.
func (c *Client) OpenIssues(ctx context.Context, r ledger.Repo, label string) ([]Issue, error) {
	path, err := at(r.Owner, r.Name, "/issues")
	if err != nil {
		return nil, fmt.Errorf("list issues of %s: %w", r, err)
	}
	found, _, err := list[queuedIssue](ctx, c, query(path, "state", "open", "labels", label, "sort", "created", "direction", "asc", "per_page", "100"))
	if err != nil {
		return nil, fmt.Errorf("list issues of %s: %w", r, missing(err, "repository "+r.String()))
	}
	out := []Issue{}
	for _, q := range found {
		if err := q.usable(); err != nil {
			return nil, fmt.Errorf("list issues of %s: %w", r, err)
		}
		again := slices.ContainsFunc(out, func(i Issue) bool { return i.Number == q.Number })
		if q.PullRequest == nil && !again {
			out = append(out, q.issue())
		}
	}
	return out, nil
}

// Issue reads one issue, or the pull request of that number.
func (c *Client) Issue(ctx context.Context, i claim.Issue) (Issue, error) {
	path, err := onIssue(i, "")
	if err != nil {
		return Issue{}, fmt.Errorf("read %s: %w", i, err)
	}
	var q queuedIssue
	if _, err = c.Do(ctx, http.MethodGet, path, nil, &q); err == nil {
		err = q.usable()
	}
	if err != nil {
		return Issue{}, fmt.Errorf("read %s: %w", i, missing(err, "issue "+i.String()))
	}
	return q.issue(), nil
}

// CloseCompleted closes an issue as completed; one that is closed already stays so.
func (c *Client) CloseCompleted(ctx context.Context, i claim.Issue) error {
	path, err := onIssue(i, "")
	if err == nil {
		_, err = c.Do(ctx, http.MethodPatch, path, map[string]string{"state": "closed", "state_reason": "completed"}, nil)
	}
	if err != nil {
		return fmt.Errorf("close %s: %w", i, missing(err, "issue "+i.String()))
	}
	return nil
}

// Said reports whether we have posted a comment that begins with that line.
func (c *Client) Said(ctx context.Context, i claim.Issue, line string) (bool, error) {
	path, err := onIssue(i, "/comments")
	if err != nil {
		return false, fmt.Errorf("read comments of %s: %w", i, err)
	}
	self, err := c.self(ctx)
	if err != nil {
		return false, err
	}
	all, _, err := list[restComment](ctx, c, query(path, "per_page", "100"))
	if err != nil {
		return false, fmt.Errorf("read comments of %s: %w", i, missing(err, "issue "+i.String()))
	}
	return slices.ContainsFunc(all, func(m restComment) bool {
		return claim.SameLogin(m.User.name(), self) && strings.HasPrefix(m.Body, line+"\n")
	}), nil
}
