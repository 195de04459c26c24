package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// Comment posts a comment. Posts are paced under GitHub's limits for content. Unless the error's
// Rejected is true the comment may be there all the same.
func (c *Client) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	posted, err := c.writeComment(ctx, http.MethodPost, onIssue(i, "/comments"), body)
	if err != nil {
		return claim.Comment{}, failed(err, Object{IssueObject, i.String()}, "comment on %s", i)
	}
	return posted, nil
}

// EditComment replaces a comment's body. A comment that is gone is ledger.ErrGone.
func (c *Client) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	to := onIssue(i, "")
	if to.err != nil {
		return claim.Comment{}, fmt.Errorf("edit comment of %s: %w", i, to.err)
	}

	edited, err := c.writeComment(ctx, http.MethodPatch, at(i.Owner, i.Repo, "/issues/comments/%d", id), body)
	err = missing(err, Object{CommentObject, strconv.FormatInt(id, 10)})
	switch {
	case is[*NotFoundError](err):
		return claim.Comment{}, fmt.Errorf("edit comment of %s: %w: %w", i, ledger.ErrGone, err)
	case err != nil:
		return claim.Comment{}, fmt.Errorf("edit comment %d of %s: %w", id, i, err)
	}

	return edited, nil
}

// writeComment sends a comment of our own, and returns it as GitHub stored it. An answer that lacks
// what makes it a comment is an error.
func (c *Client) writeComment(ctx context.Context, method string, to target, body string) (claim.Comment, error) {
	var got restComment
	_, err := c.send(ctx, method, to, map[string]string{"body": body}, &got)
	if err == nil && (got.ID == 0 || got.CreatedAt.IsZero() || got.User == nil || got.User.Login == "") {
		err = &AnswerError{Reason: "it is not a comment"}
	}

	out := got.comment().Comment
	out.Trusted = true
	return out, err
}

// React puts a reaction on a comment: +1, -1, laugh, confused, heart, hooray, rocket or eyes. One
// that is there already is success.
func (c *Client) React(ctx context.Context, r claim.Repo, comment int64, content string) error {
	to := at(r.Owner, r.Name, "/issues/comments/%d/reactions", comment)
	_, err := c.send(ctx, http.MethodPost, to, map[string]string{"content": content}, nil)
	return failed(err, Object{Kind: CommentObject}, "react to comment %d of %s", comment, r)
}

// Comments lists the comments of an issue or a pull request in GitHub's order, all of them, or
// those written or edited since then. Trusted is never set: nobody was asked.
func (c *Client) Comments(ctx context.Context, i claim.Issue, since time.Time) ([]claim.Comment, error) {
	to := onIssue(i, "/comments?per_page=100")
	if !since.IsZero() {
		to.path += "&since=" + since.UTC().Format(time.RFC3339)
	}

	got, _, err := list[restComment](ctx, c.api, to)
	out := make([]claim.Comment, 0, len(got))
	for _, m := range got {
		out = append(out, m.comment().Comment)
	}

	return out, failed(err, Object{IssueObject, i.String()}, "list comments of %s", i)
}

// Said reports whether we have posted a comment that begins with that line.
func (c *Client) Said(ctx context.Context, i claim.Issue, line string) (bool, error) {
	to := onIssue(i, "/comments?per_page=100")
	if to.err != nil {
		return false, fmt.Errorf("read comments of %s: %w", i, to.err)
	}

	self, err := c.viewer.self(ctx)
	if err != nil {
		return false, err
	}

	all, _, err := list[restComment](ctx, c.api, to)
	return slices.ContainsFunc(all, func(m restComment) bool {
		return claim.SameLogin(m.User.name(), self) && strings.HasPrefix(m.Body, line+"\n")
	}), failed(err, Object{IssueObject, i.String()}, "read comments of %s", i)
}

// DeleteComment takes a comment away; one that is gone is success.
func (c *Client) DeleteComment(ctx context.Context, i claim.Issue, id int64) error {
	to := at(i.Owner, i.Repo, "/issues/comments/%d", id)
	_, err := c.send(ctx, http.MethodDelete, to, nil, nil)
	if err == nil || is[*NotFoundError](err) && to.err == nil {
		return nil
	}
	return fmt.Errorf("delete comment %d of %s: %w", id, i, err)
}

type reaction struct {
	Content   string
	User      *restUser
	CreatedAt time.Time `json:"created_at"`
}

// Reactions lists what a login has put under a comment: +1, confused, ….
func (c *Client) Reactions(ctx context.Context, r claim.Repo, comment int64, login string) ([]string, error) {
	got, _, err := list[reaction](ctx, c.api,
		at(r.Owner, r.Name, "/issues/comments/%d/reactions?per_page=100", comment))
	var out []string
	for _, one := range got {
		if claim.SameLogin(one.User.name(), login) {
			out = append(out, one.Content)
		}
	}

	return out, failed(err, Object{Kind: CommentObject}, "list reactions to comment %d of %s", comment, r)
}

// Votes lists the reactions +1 and -1 to a comment of an issue, oldest first (ledger.Forge).
func (c *Client) Votes(ctx context.Context, i claim.Issue, comment int64) ([]ledger.Vote, error) {
	got, _, err := list[reaction](ctx, c.api,
		at(i.Owner, i.Repo, "/issues/comments/%d/reactions?per_page=100", comment))
	answers := map[string]claim.Kind{"+1": claim.KindApprove, "-1": claim.KindReject}
	var out []ledger.Vote
	for _, r := range got {
		if answer, votes := answers[r.Content]; votes && r.User != nil {
			out = append(out, ledger.Vote{
				Login:  r.User.name(),
				Person: r.User.Type == "User",
				Answer: answer,
				At:     r.CreatedAt.UTC(),
			})
		}
	}

	slices.SortStableFunc(out, func(a, b ledger.Vote) int { return a.At.Compare(b.At) })
	return out, failed(err, Object{Kind: CommentObject}, "list reactions to comment %d of %s", comment, i)
}
