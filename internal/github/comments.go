package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// comments reads and writes comments and the reactions to them.
type comments struct {
	api    *api
	viewer *viewer
}

// Comment posts a comment. Posts are paced under GitHub's limits for content. Unless the error's
// Rejected is true the comment may be there all the same.
func (cs *comments) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	if _, err := onIssue(i, ""); err != nil {
		return claim.Comment{}, fmt.Errorf("comment on %s: %w", i, err)
	}
	got, _, err := cs.api.rest.Issues.CreateComment(ctx, i.Owner, i.Repo, i.Number, &gogithub.IssueComment{Body: &body})
	if err == nil {
		err = isComment(got)
	}
	if err != nil {
		return claim.Comment{}, fmt.Errorf("comment on %s: %w", i, missing(Cause(err), "issue "+i.String()))
	}
	cs.viewer.note(got.GetUser().GetLogin()) // an App's token without GraphQL cannot tell before
	return written(got), nil
}

// EditComment replaces a comment's body. A comment that is gone is ledger.ErrGone.
func (cs *comments) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	if _, err := onIssue(i, ""); err != nil {
		return claim.Comment{}, fmt.Errorf("edit comment of %s: %w", i, err)
	}
	got, _, err := cs.api.rest.Issues.EditComment(ctx, i.Owner, i.Repo, id, &gogithub.IssueComment{Body: &body})
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
func (cs *comments) React(ctx context.Context, r ledger.Repo, comment int64, content string) error {
	if _, err := at(r.Owner, r.Name, ""); err != nil {
		return fmt.Errorf("react to comment %d of %s: %w", comment, r, err)
	}
	_, _, err := cs.api.rest.Reactions.CreateIssueCommentReaction(ctx, r.Owner, r.Name, comment, content)
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

// Comments lists the comments of an issue or a pull request in GitHub's order, all of them, or
// those written or edited since then. Trusted is never set: nobody was asked.
func (cs *comments) Comments(ctx context.Context, i claim.Issue, since time.Time) ([]claim.Comment, error) {
	path, err := onIssue(i, "/comments?per_page=100")
	var got []restComment
	if err == nil {
		if !since.IsZero() {
			path += "&since=" + since.UTC().Format(time.RFC3339)
		}
		got, _, err = list[restComment](ctx, cs.api, path)
	}
	if err != nil {
		return nil, fmt.Errorf("list comments of %s: %w", i, missing(err, "issue "+i.String()))
	}
	out := make([]claim.Comment, 0, len(got))
	for _, m := range got {
		out = append(out, m.comment().Comment)
	}
	return out, nil
}

// Said reports whether we have posted a comment that begins with that line.
func (cs *comments) Said(ctx context.Context, i claim.Issue, line string) (bool, error) {
	path, err := onIssue(i, "/comments")
	if err != nil {
		return false, fmt.Errorf("read comments of %s: %w", i, err)
	}
	self, err := cs.viewer.self(ctx)
	if err != nil {
		return false, err
	}
	all, _, err := list[restComment](ctx, cs.api, query(path, "per_page", "100"))
	if err != nil {
		return false, fmt.Errorf("read comments of %s: %w", i, missing(err, "issue "+i.String()))
	}
	return slices.ContainsFunc(all, func(m restComment) bool {
		return claim.SameLogin(m.User.name(), self) && strings.HasPrefix(m.Body, line+"\n")
	}), nil
}

// DeleteComment takes a comment away; one that is gone is success.
func (cs *comments) DeleteComment(ctx context.Context, i claim.Issue, id int64) error {
	path, err := at(i.Owner, i.Repo, "/issues/comments/%d", id)
	if err == nil {
		_, err = cs.api.Do(ctx, http.MethodDelete, path, nil, nil)
	}
	var gone *NotFoundError
	if err == nil || errors.As(err, &gone) && path != "" {
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
func (cs *comments) Reactions(ctx context.Context, r ledger.Repo, comment int64, login string) ([]string, error) {
	path, err := at(r.Owner, r.Name, "/issues/comments/%d/reactions?per_page=100", comment)
	var got []reaction
	if err == nil {
		got, _, err = list[reaction](ctx, cs.api, path)
	}
	if err != nil {
		return nil, fmt.Errorf("list reactions to comment %d of %s: %w", comment, r, missing(err, "comment"))
	}
	var out []string
	for _, one := range got {
		if claim.SameLogin(one.User.name(), login) {
			out = append(out, one.Content)
		}
	}
	return out, nil
}

// Votes lists the reactions +1 and -1 to a comment of an issue, oldest first (ledger.Electorate).
func (cs *comments) Votes(ctx context.Context, i claim.Issue, comment int64) ([]ledger.Vote, error) {
	path, err := at(i.Owner, i.Repo, "/issues/comments/%d/reactions?per_page=100", comment)
	var got []reaction
	if err == nil {
		got, _, err = list[reaction](ctx, cs.api, path)
	}
	if err != nil {
		return nil, fmt.Errorf("list reactions to comment %d of %s: %w", comment, i, missing(err, "comment"))
	}
	answers := map[string]claim.Kind{"+1": claim.KindApprove, "-1": claim.KindReject}
	var out []ledger.Vote
	for _, r := range got {
		if answer, votes := answers[r.Content]; votes && r.User != nil {
			out = append(out, ledger.Vote{Login: r.User.name(), Person: r.User.Type == "User", Answer: answer, At: r.CreatedAt.UTC()})
		}
	}
	slices.SortStableFunc(out, func(a, b ledger.Vote) int { return a.At.Compare(b.At) })
	return out, nil
}
