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
	posted, err := c.writeComment(hinted(ctx, commenting), http.MethodPost, onIssue(i, "/comments"), body)
	return posted, failed(err, "comment on %s", i)
}

// EditComment replaces a comment's body. A comment that is gone is ledger.ErrGone.
func (c *Client) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	to := onIssue(i, "")
	if to.err != nil {
		return claim.Comment{}, fmt.Errorf("edit comment of %s: %w", i, to.err)
	}

	to = onComment(i.In(), id, "").about(Object{CommentObject, strconv.FormatInt(id, 10)})
	edited, err := c.writeComment(ctx, http.MethodPatch, to, body)
	switch {
	case is[*NotFoundError](err):
		return edited, fmt.Errorf("edit comment of %s: %w: %w", i, ledger.ErrGone, err)
	default:
		return edited, failed(err, "edit comment %d of %s", id, i)
	}
}

// writeComment sends a comment of our own, and returns it as GitHub stored it. An answer that lacks
// what makes it a comment is an error.
func (c *Client) writeComment(ctx context.Context, method string, to target, body string) (claim.Comment, error) {
	var got restComment
	_, err := c.send(ctx, method, to, map[string]string{"body": body}, &got)
	if err != nil {
		return claim.Comment{}, err
	}
	return ours(got.comment())
}

// ours is a comment that we have just written.
func ours(m comment) (claim.Comment, error) {
	if m.ID == 0 || m.Created.IsZero() || m.Author == Ghost {
		return claim.Comment{}, unusable("it is not a comment")
	}
	m.Trusted = true
	return m.Comment, nil
}

// onComment is something of a comment.
func onComment(r claim.Repo, id int64, what string) target {
	return at(r, "/issues/comments/%d%s", id, what).about(Object{Kind: CommentObject})
}

// React puts a reaction on a comment: +1, -1, laugh, confused, heart, hooray, rocket or eyes. One
// that is there already is success.
func (c *Client) React(ctx context.Context, r claim.Repo, comment int64, content string) error {
	to := onComment(r, comment, "/reactions")
	_, err := c.send(ctx, http.MethodPost, to, map[string]string{"content": content}, nil)
	return failed(err, "react to comment %d of %s", comment, r)
}

// Comments lists the comments of an issue or a pull request in GitHub's order, all of them, or
// those written or edited since then. Trusted is never set: nobody was asked.
func (c *Client) Comments(ctx context.Context, i claim.Issue, since time.Time) ([]claim.Comment, error) {
	to := onIssue(i, "/comments?per_page=100")
	if !since.IsZero() {
		to.path += "&since=" + since.UTC().Format(time.RFC3339)
	}

	got, err := list[restComment](ctx, c, to)
	out := make([]claim.Comment, 0, len(got))
	for _, m := range got {
		out = append(out, m.comment().Comment)
	}

	return out, failed(err, "list comments of %s", i)
}

// Said reports whether we have posted a comment that begins with that line.
func (c *Client) Said(ctx context.Context, i claim.Issue, line string) (bool, error) {
	self, err := c.self(ctx)
	if err != nil {
		return false, err
	}

	all, err := c.Comments(ctx, i, time.Time{})
	return slices.ContainsFunc(all, func(m claim.Comment) bool {
		return claim.SameLogin(m.Author, self) && strings.HasPrefix(m.Body, line+"\n")
	}), err
}

// DeleteComment takes a comment away; one that is gone is success.
func (c *Client) DeleteComment(ctx context.Context, i claim.Issue, id int64) error {
	to := onComment(i.In(), id, "")
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
	got, err := list[reaction](ctx, c,
		onComment(r, comment, "/reactions?per_page=100"))
	var out []string
	for _, one := range got {
		if claim.SameLogin(one.User.name(), login) {
			out = append(out, one.Content)
		}
	}

	return out, failed(err, "list reactions to comment %d of %s", comment, r)
}

// Votes lists the reactions +1 and -1 to a comment of an issue, oldest first (ledger.Forge).
func (c *Client) Votes(ctx context.Context, i claim.Issue, comment int64) ([]ledger.Vote, error) {
	got, err := list[reaction](ctx, c,
		onComment(i.In(), comment, "/reactions?per_page=100"))
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
	return out, failed(err, "list reactions to comment %d of %s", comment, i)
}
