package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/prchain"
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

// OpenIssues lists the open issues with a label, each once, oldest first; a hundred a request.
func (c *Client) OpenIssues(ctx context.Context, r claim.Repo, label string) ([]Issue, error) {
	err := at(r, "").err
	var all []Issue
	if err == nil {
		all, err = c.queryOpen(ctx, r, label)
	}
	if err != nil {
		return nil, fmt.Errorf("list issues of %s: %w", r, missing(err, repository(r)))
	}

	out := []Issue{}
	for _, i := range all {
		if !slices.ContainsFunc(out, func(o Issue) bool { return o.Number == i.Number }) {
			out = append(out, i)
		}
	}

	return out, nil
}

// openIssues are the open issues of a repository with a label, as far as they were read.
type openIssues struct {
	repo  claim.Repo
	label string
	found []Issue
	way   trail
	done  bool
}

// queryOpen reads all pages of a work list, the first as Begin has read it.
func (c *Client) queryOpen(ctx context.Context, r claim.Repo, label string) ([]Issue, error) {
	q, begun := takeBegun(c, func(q *openIssues) bool { return q.label == label && q.repo == r })
	if !begun {
		q = &openIssues{repo: r, label: label}
	}

	pages := page{perPage, 1}
	for !q.done {
		err := pages.ask(ctx, func(ctx context.Context, n int) error { return c.askOpenPage(ctx, q, n) })
		if err != nil {
			return nil, err
		}
	}

	return q.found, nil
}

// openFields are what is read of an issue of a work list. GitHub allows a hundred labels.
const openFields = `__typename number title body url state createdAt updatedAt author { __typename login }
      labels(first: 100) { totalCount nodes { name } } milestone { title } ...A `

// askOpenPage reads the next page of a work list, of n issues.
func (c *Client) askOpenPage(ctx context.Context, q *openIssues, n int) error {
	d := newDocument()
	d.open("r0", q.repo)
	c.askAlong(d, q.repo)
	d.add("    open: issues(labels: [%s], states: [OPEN], first: %d%s, orderBy: {field: CREATED_AT, direction: ASC}) {\n"+
		"      totalCount pageInfo { hasNextPage endCursor } nodes { %s }\n    }\n",
		d.bind("String!", q.label), n, d.after(q.way.cursor), openFields)
	s, err := c.askSheet(ctx, q.repo, d)
	if err != nil {
		return err
	}

	var page *connection[queuedQuery]
	if err := json.Unmarshal(s.fields["open"], &page); err != nil || page == nil || s.failed("open") != nil {
		return unusable("the list of issues is missing")
	}

	for _, node := range page.Nodes {
		i, err := node.issue()
		if err != nil {
			return err
		}
		q.found = append(q.found, i)
	}

	if q.done = !page.PageInfo.HasNextPage; q.done {
		return nil
	}

	return q.way.follow(n, page.TotalCount, page.PageInfo.EndCursor)
}

// queuedQuery is an issue of GraphQL as a work list needs it.
type queuedQuery struct {
	queryIssue
	Author    *actor
	Milestone *struct{ Title string }
}

// issue is what it says; an answer that lacks what makes it an issue is an error.
func (q *queuedQuery) issue() (Issue, error) {
	if q != nil && q.Typename == "PullRequest" {
		return Issue{Number: q.Number, PullRequest: true}, nil
	}
	if q == nil || q.Number < 1 || q.State == "" || q.CreatedAt.IsZero() {
		return Issue{}, unusable("it is not an issue")
	}

	out := Issue{
		Number:    q.Number,
		Open:      q.State == "OPEN",
		Title:     q.Title,
		Body:      q.Body,
		URL:       q.URL,
		Labels:    []string{},
		Assignees: []string{},
		Author:    q.Author.name(),
		Created:   q.CreatedAt.UTC(),
		Updated:   q.UpdatedAt.UTC(),
	}
	names, err := q.Labels.all("labels")
	if err != nil {
		return out, err
	}

	for _, l := range names {
		out.Labels = append(out.Labels, l.Name)
	}
	people, err := q.Assignees.all("assignees")
	if err != nil {
		return out, err
	}

	for _, a := range people {
		out.Assignees = append(out.Assignees, a.Login)
	}

	if q.Milestone != nil {
		out.Milestone = q.Milestone.Title
	}

	return out, nil
}

// Issue reads one issue. Of a pull request it says that it is one.
func (c *Client) Issue(ctx context.Context, i claim.Issue) (out Issue, err error) {
	if err = nameable(i); err == nil {
		d := newDocument()
		d.add("    issue: issueOrPullRequest(number: %d) {\n"+
			"      ... on Issue { %s } ... on PullRequest { __typename number } }\n", i.Number, openFields)
		var q *queuedQuery
		if err = c.askWhole(ctx, i.In(), d, &q, "issue"); err == nil {
			out, err = q.issue()
		}
	}

	return out, failed(missing(err, issueObject(i)), "read %s", i)
}

// CheckParent implements prchain.Opener.
func (c *Client) CheckParent(ctx context.Context, i claim.Issue) error {
	got, err := c.Issue(ctx, i)
	switch {
	case is[*NotFoundError](err):
		return prchain.NoParent(i, "there is no such issue, or the token may not see it")
	case err != nil:
		return err
	case got.PullRequest:
		return prchain.NoParent(i, "it is a pull request")
	case !got.Open:
		return prchain.NoParent(i, "it is closed",
			answer.Shell("if it is not done after all", "gh", "issue", "reopen", strconv.Itoa(i.Number),
				"--repo", i.Slug()),
			answer.Advice("or name another with --parent"))
	}

	return nil
}

// CloseCompleted closes an issue as completed; one that is closed already stays so.
func (c *Client) CloseCompleted(ctx context.Context, i claim.Issue) error {
	_, err := c.send(ctx, http.MethodPatch, onIssue(i, ""),
		map[string]string{"state": "closed", "state_reason": "completed"}, nil)
	return failed(err, "close %s", i)
}

// Assign assigns a login to an issue. GitHub drops a login that cannot be assigned without a word:
// that is a ledger.ErrUnassignable.
func (c *Client) Assign(ctx context.Context, i claim.Issue, login string) error {
	var got struct {
		Number    int
		Assignees []restUser
	}
	_, err := c.send(ctx, http.MethodPost, onIssue(i, "/assignees"), map[string][]string{"assignees": {login}}, &got)
	is := func(u restUser) bool { return claim.SameLogin(login, u.Login) }
	if err == nil && got.Number != 0 && !slices.ContainsFunc(got.Assignees, is) {
		err = ledger.ErrUnassignable
	}
	return failed(err, "assign %s to %s", login, i)
}

// Unassign takes a login off an issue; one that is not assigned is success.
func (c *Client) Unassign(ctx context.Context, i claim.Issue, login string) error {
	_, err := c.send(ctx, http.MethodDelete, onIssue(i, "/assignees"), map[string][]string{"assignees": {login}}, nil)
	return failed(err, "take %s off %s", login, i)
}
