package github

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A cursor goes through the pages of one list.
type cursor struct {
	alias string
	label string    // what it lists: the issues with a label
	since time.Time // or those changed since then
	facts bool      // whether the pages carry facts
	pulls string    // it lists pull requests with the label, in these states; empty for issues
	after string
	done  bool

	numbersOnly bool // the facts of the issue that comes next are too much for a page, even of one
}

// carries reports whether the next page is one with facts.
func (k *cursor) carries() bool { return k.facts && !k.numbersOnly }

// listsOf are what a scan goes through: one list for every label, and one for what changed. Of pull requests it goes through those that a
// label says are held; and of those that have ended and have the label of a person's hold, which is left there where people put it, through
// the ones that changed.
func listsOf(scheme labels.Scheme, what selection) []*cursor {
	var out []*cursor
	for k, name := range what.labels {
		if name != "" {
			out = append(out, &cursor{alias: "s" + strconv.Itoa(k), label: name, facts: name == scheme.Claimed})
		}
	}
	out = append(out, &cursor{alias: pullsAlias + "0", label: scheme.Claimed, pulls: "OPEN, CLOSED, MERGED"})
	if scheme.Hold != "" {
		out = append(out, &cursor{alias: pullsAlias + "1", label: scheme.Hold, pulls: "OPEN"})
		if !what.since.IsZero() {
			out = append(out, &cursor{alias: pullsAlias + "2", label: scheme.Hold, pulls: "CLOSED, MERGED", since: what.since})
		}
	}
	if !what.since.IsZero() {
		out = append(out, &cursor{alias: "changed", since: what.since})
	}
	return out
}

// pullsAlias begins the aliases of lists of pull requests. A token that may not read pull requests gets none of them.
const pullsAlias = "pulls"

// queryLists goes through all lists side by side, one request for the next page of each.
func (sc *scans) queryLists(ctx context.Context, r ledger.Repo, what selection) ([]listed, error) {
	begun := sc.beginnings.takeBegun(func(b *beginning) bool {
		further := what.since.Sub(b.what.since) // one that looks a moment further back has all that is asked for
		return b.facts == nil && b.label == "" && b.repo == r && slices.Equal(b.what.labels, what.labels) && further >= 0 && further <= fresh
	})
	var found []listed
	lists := listsOf(sc.scheme, what)
	if begun != nil {
		found, lists = begun.found, begun.lists
	}
	for len(lists) > 0 {
		size := sc.pageSize(lists)
		page, err := sc.queryPage(replaceable(ctx, !size.least()), r, lists, size)
		switch {
		case err == nil:
			sc.answered(lists, size)
			found = append(found, page...)
			lists = slices.DeleteFunc(lists, func(k *cursor) bool { return k.done })
		case !tooMuch(err) || size.least():
			return nil, err
		default:
			sc.refused(lists, size)
		}
	}
	return found, nil
}

// A pageSize is how many issues a page lists: with their facts, which is 0 where no list carries them, and without.
type pageSize struct{ facts, numbers int }

func (sc *scans) pageSize(lists []*cursor) pageSize {
	size := pageSize{numbers: sc.numbers.size()}
	if slices.ContainsFunc(lists, (*cursor).carries) {
		size.facts = sc.pages.size()
	}
	return size
}

// least reports whether less cannot be asked for.
func (s pageSize) least() bool { return s.facts == 0 && s.numbers == 1 }

// answered notes that pages of that size were answered. An issue that was too much for a page of one is passed now.
func (sc *scans) answered(lists []*cursor, size pageSize) {
	sc.numbers.answered(size.numbers)
	if size.facts > 0 {
		sc.pages.answered(size.facts)
	}
	for _, k := range lists {
		k.numbersOnly = false
	}
}

// refused makes the next pages smaller: first those with facts, down to one issue; what is too much even then is listed by
// its number, to be read by itself; at last the pages of numbers.
func (sc *scans) refused(lists []*cursor, size pageSize) {
	switch {
	case size.facts > 1:
		sc.pages.refused(size.facts)
	case size.facts == 1:
		sc.pages.alone()
		for _, k := range lists {
			k.numbersOnly = k.facts
		}
	default:
		sc.numbers.refused(size.numbers)
	}
}

func (sc *scans) queryPage(ctx context.Context, r ledger.Repo, lists []*cursor, size pageSize) ([]listed, error) {
	d := newDocument()
	d.add("  viewer { login }\n")
	names := names(sc.scheme, d)
	d.open("r0", r)
	d.body.WriteString(names)
	sc.repositories.askAlong(d, r)
	fragments := ""
	for _, k := range lists {
		d.list(k, size)
		if k.carries() {
			fragments = issueFields(sc.api, ofMany())
		}
	}
	d.add("  }\n")
	var data map[string]json.RawMessage
	got, err := sc.api.ask(ctx, d.text(fragments), d.variables, &data)
	if err != nil {
		return nil, err
	}
	sc.viewer.note(viewerIn(data))
	return sc.takePage(got, r, data, lists)
}

// list asks for the next page, oldest issue first: an order in which changes move nothing.
func (d *document) list(k *cursor, size pageSize) {
	var filter string
	if k.pulls != "" || k.since.IsZero() {
		filter = "labels: [" + d.bind("String!", k.label) + "]"
	} else {
		filter = "filterBy: {since: " + d.bind("DateTime", k.since.UTC().Format(time.RFC3339)) + "}"
	}
	after := ""
	if k.after != "" {
		after = ", after: " + d.bind("String", k.after)
	}
	nodes, first := "number updatedAt", size.numbers
	switch {
	case k.carries():
		nodes, first = "__typename ...I", size.facts
	case k.numbersOnly:
		first = 1
	}
	list, states, order := "issues", "OPEN, CLOSED", "{field: CREATED_AT, direction: ASC}"
	if k.pulls != "" {
		list, states = "pullRequests", k.pulls
	}
	if k.pulls != "" && !k.since.IsZero() {
		order = "{field: UPDATED_AT, direction: DESC}"
	}
	d.add("    %s: %s(%s, states: [%s], first: %d%s, orderBy: %s) {\n"+
		"      pageInfo { hasNextPage endCursor } nodes { %s }\n    }\n", k.alias, list, filter, states, first, after, order, nodes)
}

func (sc *scans) takePage(got partial, r ledger.Repo, data map[string]json.RawMessage, lists []*cursor) ([]listed, error) {
	s := sheet{repo: r, alias: "r0", partial: got, lists: lists}
	s.read(data)
	if s.err != nil {
		return nil, s.err
	}
	sc.definitions.noteLabels(s)
	sc.repositories.noteAlong(s)
	sc.roles.noteOwnRole(s, viewerIn(data))
	var found []listed
	for _, k := range lists {
		var page *connection[queryIssue]
		var denied *PermissionError
		if k.pulls != "" && errors.As(s.failed(k.alias, "pull requests of "+r.String()), &denied) {
			k.done = true
			continue
		}
		if err := json.Unmarshal(s.fields[k.alias], &page); err != nil || page == nil {
			return nil, &AnswerError{Status: http.StatusOK, Reason: "a list of issues is missing"}
		}
		over := false
		for n, q := range page.Nodes {
			one, err := sc.takeListed(k, s, n, q)
			if err != nil {
				return nil, err
			}
			if over = k.pulls != "" && one.updated.Before(k.since); over {
				break
			}
			found = append(found, one)
		}
		next := page.PageInfo.EndCursor
		k.done = over || !page.PageInfo.HasNextPage || next == "" || next == k.after
		k.after = next
	}
	return found, nil
}

func (sc *scans) takeListed(k *cursor, s sheet, n int, q *queryIssue) (listed, error) {
	if q == nil || q.Number == 0 {
		return listed{}, &AnswerError{Status: http.StatusOK, Reason: "an issue of a list is missing"}
	}
	one := listed{number: q.Number, updated: q.UpdatedAt}
	if !k.carries() {
		return one, nil
	}
	one.snapshot = &snapshot{facts: lifecycle.Facts{Issue: claim.Issue{Owner: s.repo.Owner, Repo: s.repo.Name, Number: q.Number}}}
	if one.snapshot.err = s.failedNode(k.alias, n, one.snapshot.facts.Issue); one.snapshot.err == nil {
		sc.snapshots.takeIssue(one.snapshot, s, q)
	}
	if short(one.snapshot.err) {
		one.snapshot = nil // it is read by itself
		return one, nil
	}
	one.snapshot.read = one.snapshot.err == nil
	return one, nil
}

// failedNode returns the first error about a part of the n-th issue of a list.
func (s *sheet) failedNode(alias string, n int, i claim.Issue) error {
	for _, e := range s.errors {
		if e.part(0) == s.alias && e.part(1) == alias && len(e.Path) > 3 && e.Path[3] == float64(n) {
			return e.typed("issue " + i.String())
		}
	}
	return nil
}
