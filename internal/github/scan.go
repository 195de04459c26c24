package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A listed issue is a number found in a list, with its facts where the list carried them.
type listed struct {
	number   int
	updated  time.Time
	snapshot *snapshot
}

// Scan reads every issue with a lifecycle label or that of a person's hold, and every one changed
// since then unless since is zero; least recently updated first (ledger.Repos). All numbers are
// collected before the first issue is yielded. Issues in flight come with the pages that list them,
// a hundred a request, and so do the ready ones and those that a person holds after their first
// hundred; the others are read afterwards, fifty a request; and fewer where that is too much. An
// issue that cannot be read is an error with its Facts.Issue, and the others go on. A scan that
// cannot go on ends with an *UnreadError, which names every issue that it did not read. Where
// references decide, those of fifty issues that may be held are read by one query, for ShownRef.
func (c *Client) Scan(ctx context.Context, r claim.Repo, since time.Time) iter.Seq2[lifecycle.Facts, error] {
	return c.scanSelection(ctx, r, selection{labels: sweptLabels(c.o.Scheme), since: since, leases: true})
}

// sweptLabels are the labels of the issues that a sweep reads: of the lifecycle, and of a person's
// hold, which may end.
func sweptLabels(s labels.Scheme) []string { return append(s.Lifecycle(), s.Hold) }

// Current is Scan without the issues that are labelled done, or closed with the label of a person's
// hold, and have not changed since then: what is done piles up, and whoever watches what goes on
// need not read it again and again.
func (c *Client) Current(ctx context.Context, r claim.Repo, since time.Time) iter.Seq2[lifecycle.Facts, error] {
	return c.scanSelection(ctx, r, current(c.o.Scheme, since))
}

func current(scheme labels.Scheme, since time.Time) selection {
	live := slices.DeleteFunc(sweptLabels(scheme), func(name string) bool { return name == scheme.Done })
	return selection{labels: live, since: since, live: true}
}

// A selection is what a scan looks at: issues with one of the labels, and those changed since then.
type selection struct {
	labels []string
	since  time.Time // zero for none
	leases bool      // the references of the issues' leases are read along
	live   bool      // of those with the label of a person's hold, open issues alone
	open   bool      // open issues alone, and no pull requests
}

// An UnreadError says which issues of a repository were not read, when reading could not go on.
type UnreadError struct {
	Repo    claim.Repo
	Numbers []int // in no order
	caused
}

func (e *UnreadError) Error() string {
	text := fmt.Sprintf("read issues of %s: %v", e.Repo, e.Err)
	if len(e.Numbers) > 0 {
		text += "; not read: " + spans(e.Numbers)
	}
	return text
}

// spans writes numbers in order, those that follow each other as #3 to #9.
func spans(numbers []int) string {
	sorted := slices.Sorted(slices.Values(numbers))
	var out []string
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n] == sorted[0]+n {
			n++
		}

		first, last := fmt.Sprint("#", sorted[0]), fmt.Sprint("#", sorted[n-1])
		switch n {
		case 1:
			out = append(out, first)
		case 2:
			out = append(out, first, last)
		default:
			out = append(out, first+" to "+last)
		}

		sorted = sorted[n:]
	}

	return strings.Join(out, ", ")
}

func (c *Client) scanSelection(ctx context.Context, r claim.Repo, what selection) iter.Seq2[lifecycle.Facts, error] {
	return func(yield func(lifecycle.Facts, error) bool) {
		var found []listed
		err := at(r, "").err
		if err == nil {
			found, err = c.queryLists(ctx, r, what)
		}

		found = unique(found) // each issue once, least recently updated first
		if err != nil {
			yield(lifecycle.Facts{}, fmt.Errorf("list issues of %s: %w", r,
				missing(err, repository(r))))
			return
		}

		for start := 0; start < len(found); start += perQuery {
			part := found[start:min(start+perQuery, len(found))]
			err := c.fillListed(ctx, r, part)
			if err == nil && what.leases {
				c.showTips(ctx, r, part)
			}

			unread := &UnreadError{Repo: r, caused: caused{err}}
			for _, one := range part {
				got := one.snapshot
				if done := got != nil && !wholeRequest(got.err); err != nil && !done {
					unread.Numbers = append(unread.Numbers, one.number)
					continue
				}

				told := got.public()
				if !yield(told.Facts, told.Err) {
					return
				}
			}

			if err != nil {
				for _, one := range found[start+len(part):] {
					unread.Numbers = append(unread.Numbers, one.number)
				}
				yield(lifecycle.Facts{}, unread)
				return
			}
		}
	}
}

// unique keeps of each issue the entry that carries facts, and puts the oldest change first.
func unique(found []listed) []listed {
	have := func(one listed) int {
		if one.snapshot == nil {
			return 0
		}
		return 1
	}

	slices.SortStableFunc(found, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(have(b), have(a)), b.updated.Compare(a.updated))
	})
	found = slices.CompactFunc(found, func(a, b listed) bool { return a.number == b.number })
	slices.SortFunc(found, func(a, b listed) int {
		return cmp.Or(a.updated.Compare(b.updated), cmp.Compare(a.number, b.number))
	})

	return found
}

// fillListed completes a part of the scan: it reads the issues that came without facts and finishes
// those that came with them. After an error those that are done are as good as without it.
func (c *Client) fillListed(ctx context.Context, r claim.Repo, part []listed) error {
	var with []*snapshot
	var without []claim.Issue
	for _, one := range part {
		if one.snapshot != nil {
			with = append(with, one.snapshot)
		} else {
			without = append(without, r.Issue(one.number))
		}
	}

	if err := c.finish(ctx, with, nil, everyRecord); err != nil {
		return err
	}

	if len(without) > 0 {
		read, err := c.readBatch(ctx, without, everyRecord)
		for k := range part {
			if part[k].snapshot == nil {
				part[k].snapshot, read = read[0], read[1:]
			}
		}

		if err != nil {
			return err
		}
	}

	for _, one := range part {
		if wholeRequest(one.snapshot.err) {
			return one.snapshot.err
		}
	}

	return nil
}

// A cursor goes through the pages of one list.
type cursor struct {
	alias string
	label string    // what it lists: the issues with a label
	since time.Time // or those changed since then
	facts bool      // whether its issues are read with the pages
	long  bool      // or with those after the first, because it is long
	pulls string    // it lists pull requests with the label, in these states; empty for issues
	open  bool      // of issues, the open ones alone
	way   trail
	done  bool
}

// full reports whether the next page of the list is one with facts.
func (k *cursor) full() bool { return k.facts || k.long && k.way.cursor != "" }

// listsOf are what a scan goes through: one list for every label, and one for what changed. Of pull
// requests it goes through those that a label says are held; and of those that have ended and have
// the label of a person's hold, which is left there where people put it, through the ones that
// changed.
func listsOf(scheme labels.Scheme, what selection) []*cursor {
	var out []*cursor
	long := append(scheme.Queues(), scheme.Hold)
	for k, name := range what.labels {
		if name != "" {
			out = append(out, &cursor{
				alias: "s" + strconv.Itoa(k),
				label: name,
				facts: name == scheme.Claimed || what.open,
				long:  slices.Contains(long, name),
				open:  what.open || what.live && name == scheme.Hold,
			})
		}
	}

	if what.open {
		return out
	}

	out = append(out, &cursor{alias: pullsAlias + "0", label: scheme.Claimed, pulls: "OPEN, CLOSED, MERGED"})
	if scheme.Hold != "" {
		out = append(out, &cursor{alias: pullsAlias + "1", label: scheme.Hold, pulls: "OPEN"})
		if !what.since.IsZero() {
			out = append(out, &cursor{
				alias: pullsAlias + "2",
				label: scheme.Hold,
				pulls: "CLOSED, MERGED",
				since: what.since,
			})
		}
	}

	if !what.since.IsZero() {
		out = append(out, &cursor{alias: "changed", since: what.since})
	}

	return out
}

// pullsAlias begins the aliases of lists of pull requests. A token that may not read pull requests
// gets none of them.
const pullsAlias = "pulls"

// scanning is a scan of a repository, as far as its lists were read.
type scanning struct {
	repo  claim.Repo
	what  selection
	found []listed
	lists []*cursor // that are not read to their ends
}

// queryLists goes through all lists side by side, one request for the next page of each.
func (c *Client) queryLists(ctx context.Context, r claim.Repo, what selection) ([]listed, error) {
	s, begun := takeBegun(c, func(s *scanning) bool {
		further := what.since.Sub(s.what.since) // one that looks a moment further back has all that is asked for
		return s.repo == r && slices.Equal(s.what.labels, what.labels) && further >= 0 && further <= fresh
	})
	if !begun {
		s = &scanning{repo: r, what: what, lists: listsOf(c.o.Scheme, what)}
	}

	kind := key(r.String())
	most := c.bearable(kind, perPage) // 0 where even a small page was too much
	facts, numbers := page{most, leastPage}, page{perPage, 1}
	for len(s.lists) > 0 {
		if err := c.nextPage(ctx, s, &facts, &numbers); err != nil {
			return nil, err
		}
	}

	if facts.size < most {
		c.measures.note(kind, measure{facts.size, c.o.Clock.Now()})
	}

	return s.found, nil
}

// nextPage reads the next page of each list: with the facts of the issues, or, where that is too
// much, with their numbers.
func (c *Client) nextPage(ctx context.Context, s *scanning, facts, numbers *page) error {
	if facts.size > 0 && slices.ContainsFunc(s.lists, (*cursor).full) {
		err := facts.ask(replaceable(ctx), func(ctx context.Context, n int) error {
			return c.askPage(ctx, s, pageSize{facts: shared(n, s.lists), numbers: numbers.size})
		})
		if !tooMuch(err) {
			return err
		}

		facts.size = 0
	}

	return numbers.ask(ctx, func(ctx context.Context, n int) error { return c.askPage(ctx, s, pageSize{numbers: n}) })
}

// A pageSize is how many issues a page lists: with their facts, 0 for no page that has them, and
// without.
type pageSize struct{ facts, numbers int }

// shared is how many issues each list with facts has on its page, when one query asks for n of
// them.
func shared(n int, lists []*cursor) int {
	carrying := 0
	for _, k := range lists {
		if k.full() {
			carrying++
		}
	}

	return max(n/max(carrying, 1), 1)
}

// carries reports whether the page of a list is one with facts.
func (s pageSize) carries(k *cursor) bool { return k.full() && s.facts > 0 }

// of is how many issues are on the page of a list.
func (s pageSize) of(k *cursor) int {
	if s.carries(k) {
		return s.facts
	}
	return s.numbers
}

// askPage asks for the next page of each list by one query. Only a page that was read moves the
// cursors.
func (c *Client) askPage(ctx context.Context, scan *scanning, size pageSize) error {
	d := newDocument()
	d.much = ofMany()
	d.add("  viewer { login }\n")
	c.openSheet(d, "r0", scan.repo)
	for _, k := range scan.lists {
		d.list(k, size)
	}

	s, err := c.askSheet(ctx, scan.repo, d, scan.lists...)
	if err != nil {
		return err
	}

	for _, k := range scan.lists {
		found, err := c.takePage(k, s, size)
		if err != nil {
			return err
		}
		scan.found = append(scan.found, found...)
	}

	scan.lists = slices.DeleteFunc(scan.lists, func(k *cursor) bool { return k.done })
	return nil
}

// takePage takes the page of one list from an answer and moves its cursor.
func (c *Client) takePage(k *cursor, s sheet, size pageSize) (found []listed, err error) {
	if k.pulls != "" && is[*PermissionError](s.failed(k.alias)) {
		k.done = true
		return nil, nil
	}

	var page *connection[queryIssue]
	if err := json.Unmarshal(s.fields[k.alias], &page); err != nil || page == nil {
		return nil, unusable("a list of issues is missing")
	}

	over := false
	for n, q := range page.Nodes {
		if q == nil || q.Number == 0 {
			return nil, unusable("an issue of a list is missing")
		}
		if over = k.pulls != "" && q.UpdatedAt.Before(k.since); over {
			break
		}

		one := listed{number: q.Number, updated: q.UpdatedAt}
		if size.carries(k) {
			one.snapshot = c.takeNode(s, k, n, q)
		}

		found = append(found, one)
	}

	if k.done = over || !page.PageInfo.HasNextPage; k.done {
		return found, nil
	}

	return found, k.way.follow(size.of(k), page.TotalCount, page.PageInfo.EndCursor)
}

// takeNode takes the n-th issue on the page of a list. One of which the page shows too little is
// nil: it is read by itself.
func (c *Client) takeNode(s sheet, k *cursor, n int, q *queryIssue) *snapshot {
	one := &snapshot{facts: lifecycle.Facts{Issue: s.repo.Issue(q.Number)}}
	one.err = missing(s.partial.failed(s.alias, k.alias, "nodes", float64(n)), issueObject(one.facts.Issue))
	if one.err == nil {
		c.takeIssue(one, s, q)
	}

	if short(one.err) {
		return nil
	}

	return one
}

// list asks for the next page, oldest issue first: an order in which changes move nothing.
func (d *document) list(k *cursor, size pageSize) {
	var filter string
	if k.pulls != "" || k.since.IsZero() {
		filter = "labels: [" + d.bind("String!", k.label) + "]"
	} else {
		filter = "filterBy: {since: " + d.bind("DateTime", k.since.UTC().Format(time.RFC3339)) + "}"
	}

	nodes := "number updatedAt"
	if size.carries(k) {
		nodes = "__typename ...I"
	}

	list, states, order := "issues", "OPEN, CLOSED", "{field: CREATED_AT, direction: ASC}"
	switch {
	case k.pulls != "":
		list, states = "pullRequests", k.pulls
	case k.open:
		states = "OPEN"
	}

	if k.pulls != "" && !k.since.IsZero() {
		order = "{field: UPDATED_AT, direction: DESC}"
	}
	d.add("    %s: %s(%s, states: [%s], first: %d%s, orderBy: %s) {\n"+
		"      totalCount pageInfo { hasNextPage endCursor } nodes { %s }\n    }\n", k.alias, list, filter, states, size.of(k), d.after(k.way.cursor), order, nodes)
}
