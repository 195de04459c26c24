package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// Comments lists the comments of an issue or a pull request in GitHub's order, all of them, or
// those written or edited since then. Trusted is never set: nobody was asked.
func (c *Client) Comments(ctx context.Context, i claim.Issue, since time.Time) ([]claim.Comment, error) {
	path, err := onIssue(i, "/comments?per_page=100")
	var got []restComment
	if err == nil {
		if !since.IsZero() {
			path += "&since=" + since.UTC().Format(time.RFC3339)
		}
		got, _, err = list[restComment](ctx, c, path)
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

// DeleteComment takes a comment away; one that is gone is success.
func (c *Client) DeleteComment(ctx context.Context, i claim.Issue, id int64) error {
	path, err := at(i.Owner, i.Repo, "/issues/comments/%d", id)
	if err == nil {
		_, err = c.Do(ctx, http.MethodDelete, path, nil, nil)
	}
	var gone *NotFoundError
	if err == nil || errors.As(err, &gone) && path != "" {
		return nil
	}
	return fmt.Errorf("delete comment %d of %s: %w", id, i, err)
}

// Reactions lists what a login has put under a comment: +1, confused, ….
func (c *Client) Reactions(ctx context.Context, r ledger.Repo, comment int64, login string) ([]string, error) {
	path, err := at(r.Owner, r.Name, "/issues/comments/%d/reactions?per_page=100", comment)
	var got []struct {
		Content string
		User    *restUser
	}
	if err == nil {
		got, _, err = list[struct {
			Content string
			User    *restUser
		}](ctx, c, path)
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
func (c *Client) Votes(ctx context.Context, i claim.Issue, comment int64) ([]ledger.Vote, error) {
	type reaction struct {
		Content   string
		User      *restUser
		CreatedAt time.Time `json:"created_at"`
	}
	path, err := at(i.Owner, i.Repo, "/issues/comments/%d/reactions?per_page=100", comment)
	var got []reaction
	if err == nil {
		got, _, err = list[reaction](ctx, c, path)
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
