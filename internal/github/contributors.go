package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// A Remark is a comment in a list of everything that was said in a repository.
type Remark struct {
	ID       int64
	Number   int // of the issue or pull request
	Author   string
	Person   bool // the author is a user, and no App wrote in the user's name
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
// hundred comments.
func (c *Client) Remarks(ctx context.Context, r ledger.Repo, since time.Time, pages int) ([]Remark, error) {
	to := at(r.Owner, r.Name, "/issues/comments").where(
		"sort", "created", "direction", "desc", "since", since.UTC().Format(time.RFC3339), "per_page",
		strconv.Itoa(perPage),
	)
	var out []Remark
	for n := 1; n <= pages; n++ {
		page, header, err := fetch[[]remark](ctx, c.api, to.page(n))
		if err != nil {
			return nil, failed(err, Object{RepositoryObject, r.String()}, "list comments of %s", r)
		}

		for _, m := range page {
			if m.CreatedAt.Before(since) { // it was edited since then
				continue
			}
			number, err := strconv.Atoi(path.Base(m.IssueURL))
			if err != nil {
				return nil, fmt.Errorf("list comments of %s: %w", r,
					&AnswerError{Status: http.StatusOK, Reason: "a comment is of no issue"})
			}

			out = append(out, m.remark(number))
		}

		if more, err := another(header, n); err != nil || !more {
			return out, err
		}
	}

	return out, nil
}

func (m remark) remark(number int) Remark {
	return Remark{
		ID:       m.ID,
		Number:   number,
		Author:   m.User.name(),
		Person:   m.App == nil && m.User != nil && m.User.Type != "Bot",
		Outside:  m.Association != "OWNER" && !belongs(m.Association),
		Created:  m.CreatedAt.UTC(),
		Edited:   m.UpdatedAt.After(m.CreatedAt),
		Answered: m.Reactions.Yes+m.Reactions.No > 0,
		Body:     m.Body,
	}
}

// HeldBy lists the open issues, and pull requests, that are assigned to a login and have the label
// of a person's hold.
func (c *Client) HeldBy(ctx context.Context, r ledger.Repo, login string) ([]claim.Issue, error) {
	to := at(r.Owner, r.Name, "/issues").where(
		"assignee", login, "labels", c.o.Scheme.Hold, "state", "open", "per_page", strconv.Itoa(perPage),
	)
	listed, _, err := list[restIssue](ctx, c.api, to)
	var out []claim.Issue
	for _, i := range listed {
		out = append(out, claim.Issue{Owner: r.Owner, Repo: r.Name, Number: i.Number})
	}

	return out, failed(err, Object{RepositoryObject, r.String()}, "list the issues of %s in %s", login, r)
}

// Joined is when an account was made.
func (c *Client) Joined(ctx context.Context, login string) (time.Time, error) {
	got, _, err := fetch[struct {
		Created time.Time `json:"created_at"`
	}](ctx, c.api, target{path: "users/" + url.PathEscape(login)})
	if err == nil && got.Created.IsZero() {
		err = &AnswerError{Status: http.StatusOK, Reason: "it is not an account"}
	}

	return got.Created, failed(err, Object{}, "read the account %s", login)
}

// NewestPulls lists the newest hundred open pull requests of a repository. Closes is empty: what
// they close is in their descriptions.
func (c *Client) NewestPulls(ctx context.Context, r ledger.Repo) ([]Pull, error) {
	to := at(r.Owner, r.Name, "/pulls").where(
		"state", "open", "sort", "created", "direction", "desc", "per_page", strconv.Itoa(perPage),
	)
	listed, _, err := fetch[[]restPull](ctx, c.api, to)
	var out []Pull
	for _, p := range listed {
		out = append(out, Pull{
			PR:          p.pr(),
			Body:        p.Body,
			Comments:    p.Comments,
			association: p.Association,
		})
	}

	return out, failed(err, Object{RepositoryObject, r.String()}, "list the pull requests of %s", r)
}
