package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/label-state/label-state/internal/claim"
)

// completeAll reads the older comments of those issues that have more than one page of them.
func (c *Client) completeAll(ctx context.Context, readings []*reading) error {
	for _, r := range readings {
		if r.err != nil || r.more == nil {
			continue
		}
		if r.err = c.complete(ctx, r); wholeRequest(r.err) {
			return r.err
		}
	}
	return nil
}

// complete reads an issue's comments from the newest page back to the first. What it read must be
// as many as GitHub counts; comments that come and go between two pages make it start again.
func (c *Client) complete(ctx context.Context, r *reading) error {
	newest := r.more
	r.more = nil
	var have, want int
	for try := range rereads {
		if try > 0 {
			var err error
			if newest, err = c.commentPage(ctx, r.facts.Issue, ""); err != nil {
				return err
			}
		}
		found, err := c.commentsFrom(ctx, r.facts.Issue, newest)
		if err != nil {
			return err
		}
		have, want = len(found), newest.TotalCount
		if have == want {
			r.comments = found
			return nil
		}
	}
	return &AnswerError{Status: http.StatusOK, Reason: fmt.Sprintf("%d comments counted and %d readable", want, have)}
}

// commentsFrom returns the comments of a page and of every older one, each once.
func (c *Client) commentsFrom(ctx context.Context, i claim.Issue, page *connection[queryComment]) ([]comment, error) {
	var found []comment
	seen := map[bigInt]bool{}
	for {
		for _, m := range page.Nodes {
			if m != nil && !seen[m.ID] {
				seen[m.ID] = true
				found = append(found, m.comment())
			}
		}
		before := page.PageInfo.StartCursor
		if !page.PageInfo.HasPreviousPage || before == "" {
			return found, nil
		}
		var err error
		if page, err = c.commentPage(ctx, i, before); err != nil {
			return nil, err
		}
		if page.PageInfo.StartCursor == before {
			return found, nil
		}
	}
}

// commentPage reads the hundred comments before a cursor, or the newest hundred.
func (c *Client) commentPage(ctx context.Context, i claim.Issue, before string) (*connection[queryComment], error) {
	d := newDocument()
	older := ""
	if before != "" {
		older = ", before: " + d.bind("String", before)
	}
	d.add("  repository(owner: %s, name: %s) { issue(number: %d) { comments(last: 100%s) { ...Page } } }\n",
		d.bind("String!", i.Owner), d.bind("String!", i.Repo), i.Number, older)
	var data struct {
		Repository *struct {
			Issue *struct{ Comments *connection[queryComment] }
		}
	}
	got, err := c.ask(ctx, d.text(pageFields+commentFields), d.variables, &data)
	switch {
	case err != nil:
		return nil, settled(err)
	case len(got.errors) > 0:
		return nil, got.errors[0].typed("issue " + i.String())
	case data.Repository == nil || data.Repository.Issue == nil || data.Repository.Issue.Comments == nil:
		return nil, &AnswerError{Status: http.StatusOK, Reason: "comments are missing"}
	}
	return data.Repository.Issue.Comments, nil
}

// settled takes the mark off an error of a query whose like has worked a moment before: it is no
// reason to give GraphQL up.
func settled(err error) error {
	var off unavailable
	if errors.As(err, &off) {
		return off.error
	}
	return err
}
