package github

import (
	"context"
	"errors"
	"fmt"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// Comment posts a comment. Posts are paced under GitHub's limits for content. Unless the error's
// Rejected is true the comment may be there all the same.
func (c *Client) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	if _, err := onIssue(i, ""); err != nil {
		return claim.Comment{}, fmt.Errorf("comment on %s: %w", i, err)
	}
	got, _, err := c.rest.Issues.CreateComment(ctx, i.Owner, i.Repo, i.Number, &gogithub.IssueComment{Body: &body})
	if err == nil {
		err = isComment(got)
	}
	if err != nil {
		return claim.Comment{}, fmt.Errorf("comment on %s: %w", i, missing(Cause(err), "issue "+i.String()))
	}
	c.noteViewer(got.GetUser().GetLogin()) // an App's token without GraphQL cannot tell before
	return written(got), nil
}

// EditComment replaces a comment's body. A comment that is gone is ledger.ErrGone.
func (c *Client) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	if _, err := onIssue(i, ""); err != nil {
		return claim.Comment{}, fmt.Errorf("edit comment of %s: %w", i, err)
	}
	got, _, err := c.rest.Issues.EditComment(ctx, i.Owner, i.Repo, id, &gogithub.IssueComment{Body: &body})
	if err == nil {
		err = isComment(got)
	}
	err = missing(Cause(err), fmt.Sprintf("comment %d", id))
	var gone *NotFoundError
	switch {
	case errors.As(err, &gone):
		return claim.Comment{}, fmt.Errorf("edit comment of %s: %w: %w", i, ledger.ErrGone, err)
	case err != nil:
		return claim.Comment{}, fmt.Errorf("edit comment %d of %s: %w", id, i, err)
	}
	return written(got), nil
}

// React puts a reaction on a comment: +1, -1, laugh, confused, heart, hooray, rocket or eyes. One
// that is there already is success.
func (c *Client) React(ctx context.Context, r ledger.Repo, comment int64, content string) error {
	if _, err := at(r.Owner, r.Name, ""); err != nil {
		return fmt.Errorf("react to comment %d of %s: %w", comment, r, err)
	}
	_, _, err := c.rest.Reactions.CreateIssueCommentReaction(ctx, r.Owner, r.Name, comment, content)
	if err != nil {
		return fmt.Errorf("react to comment %d of %s: %w", comment, r, missing(Cause(err), "comment"))
	}
	return nil
}

// isComment refuses an answer to a write that lacks what makes it a comment.
func isComment(got *gogithub.IssueComment) error {
	if got.GetID() == 0 || got.GetCreatedAt().IsZero() || got.GetUser().GetLogin() == "" {
		return &AnswerError{Status: 200, Reason: "it is not a comment"}
	}
	return nil
}

// written is a comment of our own as GitHub stored it.
func written(got *gogithub.IssueComment) claim.Comment {
	return claim.Comment{
		ID: got.GetID(), Created: got.GetCreatedAt().UTC(), Updated: got.GetUpdatedAt().UTC(), Author: got.GetUser().GetLogin(),
		Trusted: true, URL: got.GetHTMLURL(), Body: got.GetBody(),
	}
}
