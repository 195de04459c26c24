package github

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A cursor goes through the pages of one list.
type cursor struct {
	alias string
	label string    // what it lists: the issues with a label
	since time.Time // or those changed since then
	facts bool      // whether the pages carry facts
	after string
	done  bool
}

// lists are what a scan goes through: one list for every label, one for what changed.
func (c *Client) lists(what selection) []*cursor {
	var out []*cursor
	for k, name := range what.labels {
		if name != "" {
			out = append(out, &cursor{alias: "s" + strconv.Itoa(k), label: name, facts: name == c.scheme.Claimed})
		}
	}
	if !what.since.IsZero() {
		out = append(out, &cursor{alias: "changed", since: what.since})
	}
	return out
}

// queryLists goes through all lists side by side, one request for the next page of each.
func (c *Client) queryLists(ctx context.Context, r ledger.Repo, what selection) ([]listed, error) {
	var found []listed
	lists := c.lists(what)
	for len(lists) > 0 {
		page, err := c.queryPage(ctx, r, lists)
		if err != nil {
			return nil, err
		}
		found = append(found, page...)
		lists = slices.DeleteFunc(lists, func(k *cursor) bool { return k.done })
	}
	return found, nil
}

func (c *Client) queryPage(ctx context.Context, r ledger.Repo, lists []*cursor) ([]listed, error) {
	d := newDocument()
	d.add("  viewer { login }\n")
	names := c.names(d)
	d.open("r0", r)
	d.body.WriteString(names)
	fragments := ""
	for _, k := range lists {
		d.list(k)
		if k.facts {
			fragments = c.issueFields(scanComments)
		}
	}
	d.add("  }\n")
	var data map[string]json.RawMessage
	got, err := c.ask(ctx, d.text(fragments), d.variables, &data)
	if err != nil {
		return nil, err
	}
	c.noteViewer(viewerIn(data))
	return c.takePage(got, r, data, lists)
}

// list asks for the next page, oldest issue first: an order in which changes move nothing.
func (d *document) list(k *cursor) {
	var filter string
	if k.since.IsZero() {
		filter = "labels: [" + d.bind("String!", k.label) + "]"
	} else {
		filter = "filterBy: {since: " + d.bind("DateTime", k.since.UTC().Format(time.RFC3339)) + "}"
	}
	after := ""
	if k.after != "" {
		after = ", after: " + d.bind("String", k.after)
	}
	nodes := "number updatedAt"
	if k.facts {
		nodes = "__typename ...I"
	}
	d.add("    %s: issues(%s, states: [OPEN, CLOSED], first: 100%s, orderBy: {field: CREATED_AT, direction: ASC}) {\n"+
		"      pageInfo { hasNextPage endCursor } nodes { %s }\n    }\n", k.alias, filter, after, nodes)
}

func (c *Client) takePage(got partial, r ledger.Repo, data map[string]json.RawMessage, lists []*cursor) ([]listed, error) {
	s := sheet{repo: r, alias: "r0", partial: got, lists: lists}
	s.read(data)
	if s.err != nil {
		return nil, s.err
	}
	c.noteLabels(s)
	var found []listed
	for _, k := range lists {
		var page *connection[queryIssue]
		if err := json.Unmarshal(s.fields[k.alias], &page); err != nil || page == nil {
			return nil, &AnswerError{Status: http.StatusOK, Reason: "a list of issues is missing"}
		}
		for n, q := range page.Nodes {
			one, err := c.takeListed(k, s, n, q)
			if err != nil {
				return nil, err
			}
			found = append(found, one)
		}
		k.advance(page.PageInfo.HasNextPage, page.PageInfo.EndCursor)
	}
	return found, nil
}

func (k *cursor) advance(more bool, to string) {
	k.done = !more || to == "" || to == k.after
	k.after = to
}

func (c *Client) takeListed(k *cursor, s sheet, n int, q *queryIssue) (listed, error) {
	if q == nil || q.Number == 0 {
		return listed{}, &AnswerError{Status: http.StatusOK, Reason: "an issue of a list is missing"}
	}
	one := listed{number: q.Number, updated: q.UpdatedAt}
	if !k.facts {
		return one, nil
	}
	one.reading = &reading{facts: lifecycle.Facts{Issue: claim.Issue{Owner: s.repo.Owner, Repo: s.repo.Name, Number: q.Number}}}
	if one.reading.err = s.failedNode(k.alias, n, one.reading.facts.Issue); one.reading.err == nil {
		c.takeIssue(one.reading, s, q)
	}
	return one, nil
}

// failedNode returns the first error about a part of the n-th issue of a list.
func (s *sheet) failedNode(alias string, n int, i claim.Issue) error {
	for _, e := range s.errors {
		if e.part(0) == s.alias && e.part(1) == alias && e.index(3) == n {
			return e.typed("issue " + i.String())
		}
	}
	return nil
}
