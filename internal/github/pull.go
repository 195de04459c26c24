package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Pull is a pull request with what it says about issues.
type Pull struct {
	lifecycle.PR
	Body     string
	Comments int           // how many there are, those of reviews left out
	Closes   []claim.Issue // as GitHub reads the description and the links; nil by REST, which does not tell

	association string // of the author to the repository
}

// Pull reads one pull request. One that is not there, or that the token may not see, is a *NotFoundError.
func (c *Client) Pull(ctx context.Context, r ledger.Repo, number int) (Pull, error) {
	id := pullID{Owner: r.Owner, Repo: r.Name, Number: number}
	var out Pull
	err := nameable(id)
	if err == nil {
		err = c.eitherWay(
			func() (err error) { out, err = c.queryPull(ctx, id); return err },
			func() (err error) { out, err = c.restWholePull(ctx, id); return err })
	}
	if err != nil {
		return out, fmt.Errorf("read pull request %s: %w", id, missing(err, "pull request "+id.String()))
	}
	return out, nil
}

// A queryWholePull is a pull request with the issues it closes.
type queryWholePull struct {
	queryPull
	Comments struct{ TotalCount int }
	Closes   *connection[struct {
		Number     int
		Repository slugged
	}] `json:"closingIssuesReferences"`
}

func (c *Client) queryPull(ctx context.Context, id pullID) (Pull, error) {
	d := newDocument()
	d.open("p", ledger.Repo{Owner: id.Owner, Name: id.Repo})
	d.add("    pullRequest(number: %d) { ...P comments(first: 1) { totalCount } closingIssuesReferences(first: 100) { totalCount nodes { number repository { nameWithOwner } } } }\n  }\n", id.Number)
	var data map[string]*struct{ PullRequest *queryWholePull }
	got, err := c.ask(ctx, d.text(pullFields), d.variables, &data)
	if err != nil {
		return Pull{}, err
	}
	if err := got.under("p"); err != nil {
		return Pull{}, err
	}
	found := data["p"]
	if found == nil || found.PullRequest == nil {
		return Pull{}, got.absence("p")
	}
	out := Pull{PR: found.PullRequest.pr(), Body: found.PullRequest.Body, Comments: found.PullRequest.Comments.TotalCount, association: found.PullRequest.Association}
	if found.PullRequest.Closes == nil {
		return out, &AnswerError{Status: http.StatusOK, Reason: "closing references are missing"}
	}
	for _, n := range found.PullRequest.Closes.Nodes {
		if n == nil {
			continue // in a repository that the token may not see
		}
		owner, name, _ := strings.Cut(n.Repository.NameWithOwner, "/")
		out.Closes = append(out.Closes, claim.Issue{Owner: owner, Repo: name, Number: n.Number})
	}
	return out, nil
}

func (c *Client) restWholePull(ctx context.Context, id pullID) (Pull, error) {
	got, err := c.restPullRequest(ctx, id)
	if err != nil {
		return Pull{}, err
	}
	return Pull{PR: got.pr(), Body: got.Body, Comments: got.Comments, association: got.Association}, nil
}
