package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/label-state/label-state/internal/claim"
)

// completeAll reads the older comments of those issues that have more than one page of them. After an error those that it
// did not come to are unread.
func (c *Client) completeAll(ctx context.Context, readings []*reading) error {
	byREST := c.restSession()
	var lost losses
	var long []*reading
	for _, r := range readings {
		if r.err == nil && r.more != nil {
			long, r.read = append(long, r), false
		}
	}
	for _, r := range long {
		err := c.complete(ctx, r)
		r.err, r.read = err, err == nil
		switch {
		case tooMuch(err):
			err = byREST.alone(ctx, r)
		case !wholeRequest(err):
			err = nil
		}
		if lost.end(err) {
			return err
		}
	}
	return nil
}

// complete reads an issue's comments from the newest page back to the first. What it read must be
// as many as GitHub counts; comments that come and go between two pages make it start again. Where GitHub still shows
// fewer in the end, though it says that there are no more pages, the difference is comments that it shows to nobody.
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
		found, whole, err := c.commentsFrom(ctx, r.facts.Issue, newest)
		if err != nil {
			return err
		}
		have, want = len(found), newest.TotalCount
		if have == want || whole && have < want && try == rereads-1 {
			r.comments, r.facts.Unshown = found, want-have
			return nil
		}
	}
	return &AnswerError{Status: http.StatusOK, Reason: fmt.Sprintf("%d comments counted and %d readable", want, have)}
}

// commentsFrom returns the comments of a page and of every older one, each once. It is whole if nothing is known to be
// missing: the older ones were read without a gap back to the first.
func (c *Client) commentsFrom(ctx context.Context, i claim.Issue, newest *connection[queryComment]) (found []comment, whole bool, err error) {
	older, whole, err := c.stretches(ctx, i, newest)
	if err != nil {
		return nil, false, err
	}
	pages := []*connection[queryComment]{newest}
	if whole {
		pages = append(pages, older...)
	} else if pages, whole, err = c.pagesBefore(ctx, i, newest); err != nil {
		return nil, false, err
	}
	seen := map[bigInt]bool{}
	for _, page := range pages {
		for _, m := range page.Nodes {
			switch {
			case m == nil:
				whole = false
			case !seen[m.ID]:
				seen[m.ID] = true
				found = append(found, m.comment())
			}
		}
	}
	return found, whole, nil
}

// pagesBefore returns a page and every older one, which are asked for one after the other. They are whole if the last one says that
// none is older.
func (c *Client) pagesBefore(ctx context.Context, i claim.Issue, page *connection[queryComment]) (pages []*connection[queryComment], whole bool, err error) {
	for {
		pages = append(pages, page)
		before := page.PageInfo.StartCursor
		if !page.PageInfo.HasPreviousPage || before == "" {
			return pages, !page.PageInfo.HasPreviousPage, nil
		}
		if page, err = c.commentPage(ctx, i, before); err != nil {
			return nil, false, err
		}
		if page.PageInfo.StartCursor == before {
			return pages, false, nil
		}
	}
}

// commentPage reads the hundred comments before a cursor, or the newest hundred; fewer where a hundred are too much.
func (c *Client) commentPage(ctx context.Context, i claim.Issue, before string) (*connection[queryComment], error) {
	for {
		n := max(c.doses.comments.size(), leastComments)
		page, err := c.askComments(replaceable(ctx, n > leastComments), i, before, n)
		if !tooMuch(err) || n == leastComments {
			return page, err
		}
		c.doses.comments.refused(n)
	}
}

// leastComments is the smallest page of comments: where even that is too much the issue is read by REST.
const leastComments = 12

func (c *Client) askComments(ctx context.Context, i claim.Issue, before string, n int) (*connection[queryComment], error) {
	d := newDocument()
	older := ""
	if before != "" {
		older = ", before: " + d.bind("String", before)
	}
	d.add("  repository(owner: %s, name: %s) { subject: issueOrPullRequest(number: %d) {\n"+
		"    ... on Issue { comments(last: %d%s) { ...Page } } ... on PullRequest { comments(last: %d%s) { ...Page } } } }\n",
		d.bind("String!", i.Owner), d.bind("String!", i.Repo), i.Number, n, older, n, older)
	var data struct {
		Repository *struct {
			Subject *struct{ Comments *connection[queryComment] }
		}
	}
	got, err := c.ask(ctx, d.text(pageFields+commentFields), d.variables, &data)
	switch {
	case err != nil:
		return nil, settled(err)
	case len(got.errors) > 0:
		return nil, got.errors[0].typed("issue " + i.String())
	case data.Repository == nil || data.Repository.Subject == nil || data.Repository.Subject.Comments == nil:
		return nil, &AnswerError{Status: http.StatusOK, Reason: "comments are missing"}
	}
	return data.Repository.Subject.Comments, nil
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
