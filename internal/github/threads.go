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

// threads reads the comments of issues that have more than one page of them.
type threads struct {
	api     *api
	pages   *dose // comments of one issue, on a page
	stretch *dose // parts of one long thread
}

// complete reads an issue's comments from the newest page back to the first. What it read must be
// as many as GitHub counts; comments that come and go between two pages make it start again. Where GitHub still shows
// fewer in the end, though it says that there are no more pages, the difference is comments that it shows to nobody.
func (th *threads) complete(ctx context.Context, r *snapshot) error {
	newest := r.more
	r.more = nil
	var have, want int
	for try := range rereads {
		if try > 0 {
			var err error
			if newest, err = th.commentPage(ctx, r.facts.Issue, ""); err != nil {
				return err
			}
		}
		found, whole, err := th.commentsFrom(ctx, r.facts.Issue, newest)
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
func (th *threads) commentsFrom(ctx context.Context, i claim.Issue, newest *connection[queryComment]) (found []comment, whole bool, err error) {
	older, whole, err := th.stretches(ctx, i, newest)
	if err != nil {
		return nil, false, err
	}
	pages := append([]*connection[queryComment]{newest}, older...)
	if !whole { // one after the other, until one says that none is older
		pages = pages[:1]
		for page := newest; ; pages = append(pages, page) {
			before := page.PageInfo.StartCursor
			if whole = !page.PageInfo.HasPreviousPage; whole || before == "" {
				break
			}
			if page, err = th.commentPage(ctx, i, before); err != nil {
				return nil, false, err
			}
			if page.PageInfo.StartCursor == before {
				break
			}
		}
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

// leastComments is the smallest page of comments: where even that is too much the issue is read by REST.
const leastComments = 12

// commentPage reads the hundred comments before a cursor, or the newest hundred; fewer where a hundred are too much.
func (th *threads) commentPage(ctx context.Context, i claim.Issue, before string) (*connection[queryComment], error) {
	for {
		n := max(th.pages.size(), leastComments)
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
		got, err := th.api.ask(replaceable(ctx, n > leastComments), d.text(pageFields+commentFields), d.variables, &data)
		err = settled(err)
		switch {
		case tooMuch(err) && n > leastComments:
			th.pages.refused(n)
		case err != nil:
			return nil, err
		case len(got.errors) > 0:
			return nil, got.errors[0].typed(Object{IssueObject, i.String()})
		case data.Repository == nil || data.Repository.Subject == nil || data.Repository.Subject.Comments == nil:
			return nil, &AnswerError{Status: http.StatusOK, Reason: "comments are missing"}
		default:
			return data.Repository.Subject.Comments, nil
		}
	}
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
func (th *threads) stretches(ctx context.Context, i claim.Issue, newest *connection[queryComment]) (parts []*connection[queryComment], whole bool, err error) {
	older := newest.TotalCount - len(newest.Nodes)
	if older < 1 || !newest.PageInfo.HasPreviousPage || !th.api.has(featureSkip) {
		return nil, false, nil
	}
	parts = make([]*connection[queryComment], (older+stretch-2)/(stretch-1))
	for {
		most := th.stretch.size()
		group, asking := errgroup.WithContext(replaceable(ctx, true))
		group.SetLimit(pagesAtOnce)
		for first := 0; first < len(parts); first += most {
			group.Go(func() error { return th.askParts(asking, i, parts, first, min(first+most, len(parts))) })
		}
		err := group.Wait()
		switch {
		case err == nil:
			return parts, joined(parts, newest), nil
		case wholeRequest(err):
			return nil, false, err
		case errors.Is(err, errAgain), is[unavailable](err):
			th.api.lack(featureSkip)
			return nil, false, nil
		case !tooMuch(err) || most == 1:
			return nil, false, nil
		}
		th.stretch.refused(most)
	}
}

func (th *threads) askParts(ctx context.Context, i claim.Issue, parts []*connection[queryComment], from, to int) error {
	d := newDocument()
	d.add("  repository(owner: %s, name: %s) { issue(number: %d) {\n", d.bind("String!", i.Owner), d.bind("String!", i.Repo), i.Number)
	for n := from; n < to; n++ {
		d.add("    s%d: timelineItems(itemTypes: [ISSUE_COMMENT], skip: %d, first: %d) { nodes { ...C } }\n", n, n*(stretch-1), stretch)
	}
	d.add("  } }\n")
	var data struct {
		Repository *struct{ Issue map[string]json.RawMessage }
	}
	got, err := th.api.ask(ctx, d.text(commentFields), d.variables, &data)
	switch {
	case err != nil:
		return err
	case len(got.errors) > 0:
		return got.errors[0].typed(Object{IssueObject, i.String()})
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
