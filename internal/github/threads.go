package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/label-state/label-state/internal/claim"
)

// leastPage is the smallest page of comments, and of pull requests: with the longest texts it stays
// below what is read of an answer (maxAnswer).
const leastPage = 12

// completeIssue reads what is not on the first page of an issue: its older comments, and further
// pull requests that close it.
func (c *Client) completeIssue(ctx context.Context, r *snapshot) error {
	pages := page{cmp.Or(r.page, lastComments), leastPage}
	if err := c.completeComments(ctx, r, &pages); err != nil {
		return err
	}
	return c.completeClosers(ctx, r, &pages)
}

// completeClosers reads the pages of pull requests that follow the first.
func (c *Client) completeClosers(ctx context.Context, r *snapshot, pages *page) error {
	now := r.closers
	r.closers = nil
	if now == nil {
		return nil
	}

	way := trail{}
	have := len(now.Nodes)
	for now.PageInfo.HasNextPage {
		if err := way.follow(pages.size, now.TotalCount, now.PageInfo.EndCursor); err != nil {
			return err
		}

		err := pages.ask(ctx, func(ctx context.Context, n int) (err error) {
			now, err = c.closerPage(ctx, r.facts.Issue, way.cursor, n)
			return err
		})
		if err != nil {
			return err
		}
		r.addClosers(now)
		have += len(now.Nodes)
	}

	if have < now.TotalCount {
		return unusable(fmt.Sprintf("%d pull requests close it, and %d can be read", now.TotalCount, have))
	}

	return nil
}

// closerPage reads n of the pull requests that close an issue, after a cursor.
func (c *Client) closerPage(ctx context.Context, i claim.Issue, after string, n int) (*connection[queryPull], error) {
	d := newDocument()
	d.add("    issue(number: %d) { %s }\n", i.Number, closingFields(fmt.Sprintf("first: %d%s", n, d.after(after))))
	var page connection[queryPull]
	err := c.askWhole(ctx, i.In(), d, &page, "issue", "closing")
	return &page, missing(err, issueObject(i))
}

// completeComments reads an issue's comments from the newest page back to the first. What it read
// must be as many as GitHub counts; comments that come and go between two pages make it start
// again. Where GitHub still shows fewer in the end, though it says that there are no more pages,
// the difference is comments that it shows to nobody.
func (c *Client) completeComments(ctx context.Context, r *snapshot, pages *page) error {
	newest := r.more
	r.more = nil
	if newest == nil {
		return nil
	}

	var have, want int
	for try := range rereads {
		if try > 0 {
			var err error
			if newest, err = c.commentPage(ctx, r.facts.Issue, "", pages); err != nil {
				return err
			}
		}

		found, whole, err := c.commentsFrom(ctx, r.facts.Issue, newest, pages)
		if err != nil {
			return err
		}

		have, want = len(found), newest.TotalCount
		if have == want || whole && have < want && try == rereads-1 {
			r.comments, r.facts.Unshown = found, want-have
			return nil
		}
	}

	return unusable(fmt.Sprintf("%d comments counted and %d readable", want, have))
}

// commentsFrom returns the comments of a page and of every older one, each once. It is whole if
// nothing is known to be missing: the older ones were read without a gap back to the first.
func (c *Client) commentsFrom(ctx context.Context, i claim.Issue, newest *connection[queryComment],
	pages *page,
) (found []comment, whole bool, err error) {
	older, whole, err := c.readStretches(ctx, i, newest)
	if err == nil && !whole {
		older, whole, err = c.readOlder(ctx, i, newest, pages)
	}

	if err != nil {
		return nil, false, err
	}

	seen := map[bigInt]bool{}
	for _, one := range append([]*connection[queryComment]{newest}, older...) {
		for _, m := range one.Nodes {
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

// readOlder reads the pages of comments that are older than the newest one, one after the other,
// until one says that none is older.
func (c *Client) readOlder(ctx context.Context, i claim.Issue, newest *connection[queryComment],
	pages *page,
) (older []*connection[queryComment], whole bool, err error) {
	way := trail{}
	for now := newest; now.PageInfo.HasPreviousPage; older = append(older, now) {
		if err := way.follow(pages.size, newest.TotalCount, now.PageInfo.StartCursor); err != nil {
			return older, false, nil
		}
		if now, err = c.commentPage(ctx, i, way.cursor, pages); err != nil {
			return nil, false, err
		}
	}

	return older, true, nil
}

// commentPage reads the comments before a cursor, or the newest ones.
func (c *Client) commentPage(ctx context.Context, i claim.Issue, before string,
	pages *page,
) (found *connection[queryComment], err error) {
	err = pages.ask(ctx, func(ctx context.Context, n int) error {
		found, err = c.askComments(ctx, i, before, n)
		return err
	})
	return found, err
}

// askComments reads n comments before a cursor, or the newest n.
func (c *Client) askComments(ctx context.Context, i claim.Issue, before string,
	n int,
) (*connection[queryComment], error) {
	d := newDocument()
	older := ""
	if before != "" {
		older = ", before: " + d.bind("String", before)
	}

	d.add("    subject: issueOrPullRequest(number: %d) {\n"+
		"    ... on Issue { comments(last: %d%s) { ...Page } } ... on PullRequest { comments(last: %d%s) { ...Page } } }\n",
		i.Number, n, older, n, older)
	var page connection[queryComment]
	err := c.askWhole(ctx, i.In(), d, &page, "subject", "comments")
	return &page, missing(err, issueObject(i))
}

const (
	stretch          = 100 // comments in one part of a long thread
	stretchesInQuery = 4
	pagesAtOnce      = 8 // requests for the pages of one list under way
)

// featureSkip is the argument by which a timeline is asked for from any place on.
const featureSkip = "timelineItems(skip)"

// readStretches reads the comments older than the newest page side by side, each part by its place
// in the thread. Two neighbours share one comment, and the last part reaches the newest page, which
// is not the first: a comment that is deleted meanwhile moves the ones after it, and then they do
// not fit together. whole is false when they do not, when GitHub cannot be asked like this, and
// when it is too much for it; nothing of what was read counts then.
func (c *Client) readStretches(ctx context.Context, i claim.Issue,
	newest *connection[queryComment],
) (parts []*connection[queryComment], whole bool, err error) {
	older := newest.TotalCount - len(newest.Nodes)
	if older < 1 || !newest.PageInfo.HasPreviousPage || !c.has(featureSkip) {
		return nil, false, nil
	}

	parts = make([]*connection[queryComment], (older+stretch-2)/(stretch-1))
	inQuery := page{stretchesInQuery, 1}
	err = inQuery.ask(ctx, func(ctx context.Context, most int) error {
		group, asking := errgroup.WithContext(replaceable(ctx))
		group.SetLimit(pagesAtOnce)
		for first := 0; first < len(parts); first += most {
			group.Go(func() error { return c.askParts(asking, i, parts, first, min(first+most, len(parts))) })
		}
		return group.Wait()
	})

	switch {
	case err == nil:
		return parts, joined(parts, newest), nil
	case tooOld(err):
		c.lack(featureSkip)
		return nil, false, nil
	case wholeRequest(err):
		return nil, false, err
	}

	return nil, false, nil
}

func (c *Client) askParts(ctx context.Context, i claim.Issue, parts []*connection[queryComment], from, to int) error {
	d := newDocument()
	d.add("    issue(number: %d) {\n", i.Number)
	for n := from; n < to; n++ {
		d.add("    %s: timelineItems(itemTypes: [ISSUE_COMMENT], skip: %d, first: %d) { nodes { ...C } }\n",
			alias("s", n), n*(stretch-1), stretch)
	}

	d.add("    }\n")
	var found map[string]*connection[queryComment]
	if err := c.askWhole(ctx, i.In(), d, &found, "issue"); err != nil {
		return missing(err, issueObject(i))
	}

	for n := from; n < to; n++ {
		if parts[n] = found[alias("s", n)]; parts[n] == nil {
			return unusable("comments are missing")
		}
	}

	return nil
}

// joined reports whether parts that were read side by side fit together, and the last one to the
// newest page. After one that is not full only empty ones may come: not every comment that GitHub
// counts is shown.
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
