package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/label-state/label-state/internal/claim"
)

const (
	stretch          = 100 // comments in one part of a long thread
	stretchesInQuery = 4
	pagesAtOnce      = 8 // requests for the pages of one list under way
)

// featureSkip is the argument by which a timeline is asked for from any place on.
const featureSkip = "timelineItems(skip)"

// stretches reads the comments older than the newest page side by side, each part by its place in the thread. Two neighbours share
// one comment, and the last part reaches the newest page, which is not the first: a comment that is deleted meanwhile moves the ones after it, and then they do not fit
// together. whole is false when they do not, when GitHub cannot be asked like this, and when it is too much for it; nothing of
// what was read counts then.
func (c *Client) stretches(ctx context.Context, i claim.Issue, newest *connection[queryComment]) (parts []*connection[queryComment], whole bool, err error) {
	older := newest.TotalCount - len(newest.Nodes)
	if older < 1 || !newest.PageInfo.HasPreviousPage || !c.has(featureSkip) {
		return nil, false, nil
	}
	parts = make([]*connection[queryComment], (older+stretch-2)/(stretch-1))
	for {
		most := c.doses.stretches.size()
		err := c.askStretches(ctx, i, parts, most)
		var off unavailable
		switch {
		case err == nil:
			return parts, joined(parts, newest), nil
		case wholeRequest(err):
			return nil, false, err
		case errors.Is(err, errAgain), errors.As(err, &off):
			c.lack(featureSkip)
			return nil, false, nil
		case !tooMuch(err) || most == 1:
			return nil, false, nil
		}
		c.doses.stretches.refused(most)
	}
}

// askStretches fills in the parts, so many in one query.
func (c *Client) askStretches(ctx context.Context, i claim.Issue, parts []*connection[queryComment], most int) error {
	group, ctx := errgroup.WithContext(replaceable(ctx, true))
	group.SetLimit(pagesAtOnce)
	for first := 0; first < len(parts); first += most {
		group.Go(func() error { return c.askParts(ctx, i, parts, first, min(first+most, len(parts))) })
	}
	return group.Wait()
}

func (c *Client) askParts(ctx context.Context, i claim.Issue, parts []*connection[queryComment], from, to int) error {
	d := newDocument()
	d.add("  repository(owner: %s, name: %s) { issue(number: %d) {\n", d.bind("String!", i.Owner), d.bind("String!", i.Repo), i.Number)
	for n := from; n < to; n++ {
		d.add("    s%d: timelineItems(itemTypes: [ISSUE_COMMENT], skip: %d, first: %d) { nodes { ...C } }\n", n, n*(stretch-1), stretch)
	}
	d.add("  } }\n")
	var data struct {
		Repository *struct{ Issue map[string]json.RawMessage }
	}
	got, err := c.ask(ctx, d.text(commentFields), d.variables, &data)
	switch {
	case err != nil:
		return err
	case len(got.errors) > 0:
		return got.errors[0].typed("issue " + i.String())
	case data.Repository == nil:
		return &AnswerError{Status: http.StatusOK, Reason: "comments are missing"}
	}
	for n := from; n < to; n++ {
		if err := json.Unmarshal(data.Repository.Issue[fmt.Sprintf("s%d", n)], &parts[n]); err != nil || parts[n] == nil {
			return &AnswerError{Status: http.StatusOK, Reason: "comments are missing"}
		}
	}
	return nil
}

// joined reports whether parts that were read side by side fit together, and the last one to the newest page. After one that is not
// full only empty ones may come: not every comment that GitHub counts is shown.
func joined(parts []*connection[queryComment], newest *connection[queryComment]) bool {
	var last *connection[queryComment] // the last that is not empty; when there is one, the first is not empty either
	for n, part := range parts {
		switch {
		case slices.Contains(part.Nodes, nil):
			return false
		case n == 0:
		case len(parts[n-1].Nodes) < stretch:
			if len(part.Nodes) > 0 {
				return false
			}
		case len(part.Nodes) == 0 || part.Nodes[0].ID != parts[n-1].Nodes[stretch-1].ID:
			return false
		}
		if len(part.Nodes) > 0 {
			last = part
		}
	}
	if last == nil || len(newest.Nodes) == 0 || newest.Nodes[0] == nil {
		return false
	}
	oldest, next := parts[0].Nodes[0].ID, newest.Nodes[0].ID
	return oldest != next && slices.ContainsFunc(last.Nodes, func(m *queryComment) bool { return m.ID == next })
}
