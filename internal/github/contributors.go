package github

import (
	"context"
	"fmt"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Remark is a comment in a list of everything that was said in a repository.
type Remark struct {
	ID       int64
	Number   int  // of the issue or pull request
	Pull     bool // it is a pull request
	Author   string
	Person   bool // the author is a user who is still there, and no App wrote in the user's name
	Outside  bool // GitHub calls the author neither an owner nor a member nor a collaborator
	Created  time.Time
	Edited   bool
	Answered bool // somebody has reacted with +1 or confused
	Body     string
}

// remark is a comment of REST with what a Remark needs besides.
type remark struct {
	restComment
	IssueURL  string    `json:"issue_url"`
	App       *struct{} `json:"performed_via_github_app"`
	Reactions struct {
		Yes int `json:"+1"`
		No  int `json:"confused"`
	} `json:"reactions"`
}

// Remarks lists what was said in a repository since then, newest first: at most so many pages of a
// hundred comments. whole is false when there is more.
func (c *Client) Remarks(ctx context.Context, r claim.Repo, since time.Time, pages int) (
	out []Remark, whole bool, err error,
) {
	to := at(r, "/issues/comments").where(
		"sort", "created", "direction", "desc", "since", since.UTC().Format(time.RFC3339), "per_page",
		strconv.Itoa(perPage),
	)
	for n := 1; n <= pages; n++ {
		page, header, err := fetch[[]remark](ctx, c, to.page(n))
		if err != nil {
			return nil, false, failed(err, "list comments of %s", r)
		}

		for _, m := range page {
			if m.CreatedAt.Before(since) { // it was edited since then, and the others are older
				return out, true, nil
			}
			number, err := strconv.Atoi(path.Base(m.IssueURL))
			if err != nil {
				return nil, false, fmt.Errorf("list comments of %s: %w", r,
					unusable("a comment belongs to no issue"))
			}

			out = append(out, m.remark(number))
		}

		if more, err := another(header, n); err != nil || !more {
			return out, true, err
		}
	}

	return out, false, nil
}

func (m remark) remark(number int) Remark {
	return Remark{
		ID:       m.ID,
		Number:   number,
		Pull:     strings.Contains(m.HTMLURL, fmt.Sprintf("/pull/%d#", number)),
		Author:   m.User.name(),
		Person:   m.App == nil && m.User.name() != Ghost && m.User.Type != "Bot",
		Outside:  m.Association != "OWNER" && !belongs(m.Association),
		Created:  m.CreatedAt.UTC(),
		Edited:   m.UpdatedAt.After(m.CreatedAt),
		Answered: m.Reactions.Yes+m.Reactions.No > 0,
		Body:     m.Body,
	}
}

// PersonsHolds reads the open issues with the label of a person's hold, a hundred a request.
func (c *Client) PersonsHolds(ctx context.Context, r claim.Repo) ([]lifecycle.Facts, error) {
	return c.readOpen(ctx, r, c.o.Scheme.Hold)
}

// readOpen reads the open issues with one of the labels.
func (c *Client) readOpen(ctx context.Context, r claim.Repo, labels ...string) (out []lifecycle.Facts, err error) {
	for f, err := range c.scanSelection(ctx, r, selection{labels: labels, open: true}) {
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}

	return out, nil
}

// InProgress reads what is in progress (ledger.Forge): the open issues that are held or have an
// open pull request, and the newest hundred open pull requests with the label of agents.
func (c *Client) InProgress(ctx context.Context, r claim.Repo) (out lifecycle.Load, err error) {
	s := c.o.Scheme
	out.Issues, err = c.readOpen(ctx, r, s.Claimed, s.PlanPending, s.Hold, s.PROpen)
	if err != nil {
		return out, err
	}

	d := newDocument()
	d.add("    pullRequests(states: [OPEN], first: 100, labels: [%s], orderBy: {field: CREATED_AT, direction: DESC}) {"+
		" nodes { number } }\n", d.bind("String!", s.Authored))
	var pulls connection[struct{ Number int }]
	if _, err := c.askIn(ctx, r, d, &pulls, "pullRequests"); err != nil {
		return out, failed(missing(err, repository(r)), "list the pull requests of agents in %s", r)
	}

	for p := range pulls.shown() {
		out.Authored = append(out.Authored, p.Number)
	}

	return out, nil
}

// Joined is when an account was made.
func (c *Client) Joined(ctx context.Context, login string) (time.Time, error) {
	got, _, err := fetch[struct {
		Created time.Time `json:"created_at"`
	}](ctx, c, target{path: "users/" + url.PathEscape(login)})
	if err == nil && got.Created.IsZero() {
		err = unusable("it is not an account")
	}

	return got.Created, failed(err, "read the account %s", login)
}

// A Mergeable is a pull request with what a merge of it brings.
type Mergeable struct {
	Pull
	Merge
}

// listedCommits is how many commits of each pull request in a list are read.
const listedCommits = 30

// NewestPulls lists the newest hundred open pull requests of a repository with what a merge brings,
// of more than listedCommits commits the first ones. Closes is empty: what they close is in their
// texts.
func (c *Client) NewestPulls(ctx context.Context, r claim.Repo) ([]Mergeable, error) {
	d := newDocument()
	d.add("    "+mergeSettings+"\n    pullRequests(states: [OPEN], first: 100, orderBy: {field: CREATED_AT, direction: DESC}) {\n"+
		"      nodes { ...P commits(first: %d) { "+commitFields+" } }\n    }\n", listedCommits)
	var found struct {
		queryMergeable
		PullRequests *connection[queryMergeablePull]
	}

	err := c.askWhole(ctx, r, d, &found)
	if err == nil && found.PullRequests == nil {
		err = absent()
	}
	if err != nil {
		return nil, failed(missing(err, repository(r)), "list the pull requests of %s", r)
	}

	var out []Mergeable
	for q := range found.PullRequests.shown() {
		one := Mergeable{Pull: Pull{PR: q.pr(), Body: q.Body, association: q.Association}}
		one.Merge.Merge = closing.Merge{Title: q.Title, Body: q.Body, Methods: found.Methods}
		for m := range q.Commits.shown() {
			one.Commits = append(one.Commits, m.Commit.Message)
		}
		out = append(out, one)
	}

	return out, nil
}
