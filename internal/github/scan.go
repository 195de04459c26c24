package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

const scanPasses = 3 // over REST pages, which shift while people work

// A listed issue is a number found in a list, with its facts where the list carried them.
type listed struct {
	number   int
	updated  time.Time
	snapshot *snapshot
}

// scans reads all issues of a repository that the rules have something to say about.
type scans struct {
	api          *api
	repositories *repositories
	snapshots    *snapshots
	beginnings   *beginnings
	scheme       labels.Scheme
	pages        *dose // issues with their facts, on a page of a list
	numbers      *dose // issues without, likewise
}

// Scan reads every issue with a lifecycle label, and every one changed since then unless since is
// zero; least recently updated first (ledger.Repos). All numbers are collected before the first
// issue is yielded. Issues in flight come with the pages that list them, a hundred a request;
// the others are read afterwards, fifty a request; and fewer where that is too much for GitHub.
// A scan that cannot go on ends with an *UnreadError, which names every issue that it did not read.
func (sc *scans) Scan(ctx context.Context, r ledger.Repo, since time.Time) iter.Seq2[lifecycle.Facts, error] {
	return sc.scan(ctx, r, selection{sc.scheme.Lifecycle(), since})
}

// Current is Scan without the issues that are labelled done and have not changed since then: what is
// done piles up, and whoever watches what goes on need not read it again and again.
func (sc *scans) Current(ctx context.Context, r ledger.Repo, since time.Time) iter.Seq2[lifecycle.Facts, error] {
	return sc.scan(ctx, r, current(sc.scheme, since))
}

func current(scheme labels.Scheme, since time.Time) selection {
	live := slices.DeleteFunc(slices.Clone(scheme.Lifecycle()), func(name string) bool { return name == scheme.Done })
	return selection{live, since}
}

// A selection is what a scan looks at: issues with one of the labels, and those changed since then.
type selection struct {
	labels []string
	since  time.Time // zero for none
}

// An UnreadError says which issues of a repository were not read, when reading could not go on.
type UnreadError struct {
	Repo    ledger.Repo
	Numbers []int // in no order
	caused
}

func (e *UnreadError) Error() string {
	return fmt.Sprintf("read issues of %s: %v; not read: %s", e.Repo, e.Err, spans(e.Numbers))
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

func (sc *scans) scan(ctx context.Context, r ledger.Repo, what selection) iter.Seq2[lifecycle.Facts, error] {
	return func(yield func(lifecycle.Facts, error) bool) {
		var found []listed
		err := at(r.Owner, r.Name, "").err
		if err == nil {
			found, err = either(sc.api,
				func() ([]listed, error) { return sc.queryLists(ctx, r, what) },
				func() ([]listed, error) { return sc.restLists(ctx, r, what) })
		}
		found = unique(found) // each issue once, least recently updated first
		if err != nil {
			yield(lifecycle.Facts{}, fmt.Errorf("list issues of %s: %w", r, missing(err, Object{RepositoryObject, r.String()})))
			return
		}
		for start := 0; start < len(found); start += perQuery {
			part := found[start:min(start+perQuery, len(found))]
			err := sc.fill(ctx, r, part)
			unread := &UnreadError{Repo: r, caused: caused{err}}
			for _, one := range part {
				got := one.snapshot
				if done := got != nil && (got.read || got.err != nil) && !wholeRequest(got.err); err != nil && !done {
					unread.Numbers = append(unread.Numbers, one.number)
					continue
				}
				told := got.public()
				if told.Err != nil {
					told.Err = &claim.IssueError{Doing: "read", Issue: told.Facts.Issue, Err: told.Err}
				}
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

// fill completes a part of the scan: it reads the issues that came without facts and finishes those
// that came with them. After an error those that are done are as good as without it.
func (sc *scans) fill(ctx context.Context, r ledger.Repo, part []listed) error {
	var with []*snapshot
	var without []claim.Issue
	for _, one := range part {
		if one.snapshot != nil {
			with = append(with, one.snapshot)
		} else {
			without = append(without, claim.Issue{Owner: r.Owner, Repo: r.Name, Number: one.number})
		}
	}
	err := sc.snapshots.completeAll(ctx, with)
	sc.snapshots.finish(ctx, readable(with, err), everyRecord)
	if err != nil {
		return err
	}
	if len(without) > 0 {
		read, err := sc.snapshots.batch(ctx, without, everyRecord)
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
		// The next pages are smaller: first those with facts, down to one issue; what is too much even then is listed by its number, to be
		// read by itself; at last the pages of numbers.
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
	s := sheet{repo: r, alias: "r0", partial: got, lists: lists}
	sc.snapshots.note(&s, data)
	if s.err != nil {
		return nil, s.err
	}
	var found []listed
	for _, k := range lists {
		var page *connection[queryIssue]
		var denied *PermissionError
		if k.pulls != "" && errors.As(s.failed(k.alias, Object{RepositoryObject, r.String()}), &denied) {
			k.done = true
			continue
		}
		if err := json.Unmarshal(s.fields[k.alias], &page); err != nil || page == nil {
			return nil, &AnswerError{Status: http.StatusOK, Reason: "a list of issues is missing"}
		}
		over := false
		for n, q := range page.Nodes {
			if q == nil || q.Number == 0 {
				return nil, &AnswerError{Status: http.StatusOK, Reason: "an issue of a list is missing"}
			}
			if over = k.pulls != "" && q.UpdatedAt.Before(k.since); over {
				break
			}
			found = append(found, listed{number: q.Number, updated: q.UpdatedAt})
			if !k.carries() {
				continue
			}
			one := &snapshot{facts: lifecycle.Facts{Issue: claim.Issue{Owner: r.Owner, Repo: r.Name, Number: q.Number}}}
			for _, e := range s.errors { // the first error about a part of the n-th issue of the list
				if one.err == nil && e.part(0) == s.alias && e.part(1) == k.alias && len(e.Path) > 3 && e.Path[3] == float64(n) {
					one.err = e.typed(Object{IssueObject, one.facts.Issue.String()})
				}
			}
			if one.err == nil {
				sc.snapshots.takeIssue(one, s, q)
			}
			if one.read = one.err == nil; !short(one.err) { // else it is read by itself
				found[len(found)-1].snapshot = one
			}
		}
		next := page.PageInfo.EndCursor
		k.done = over || !page.PageInfo.HasNextPage || next == "" || next == k.after
		k.after = next
	}
	return found, nil
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

// restLists lists what to scan without GraphQL. Page numbers shift when an issue leaves a list
// while it is being read, which would hide another; so a list of several pages is read again
// until it shows nothing new.
func (sc *scans) restLists(ctx context.Context, r ledger.Repo, what selection) (found []listed, err error) {
	var filters [][2]string
	for _, name := range what.labels {
		if name != "" {
			filters = append(filters, [2]string{"labels", name})
		}
	}
	if !what.since.IsZero() {
		filters = append(filters, [2]string{"since", what.since.UTC().Format(time.RFC3339)})
	}
	for _, filter := range filters {
		to := at(r.Owner, r.Name, "/issues").where("state", "all", "sort", "created", "direction", "asc", "per_page", "100", filter[0], filter[1])
		var part []listed
		for range scanPasses {
			before := len(part)
			page, _, err := list[restIssue](ctx, sc.api, to)
			if err != nil {
				return nil, err
			}
			for _, one := range page {
				held := slices.ContainsFunc(one.Labels, func(l named) bool {
					return labels.Same(l.Name, sc.scheme.Claimed) || labels.Same(l.Name, sc.scheme.Hold)
				})
				if one.PullRequest == nil || held {
					part = append(part, listed{number: one.Number, updated: one.UpdatedAt})
				}
			}
			part = unique(part)
			if len(page) <= 100 || len(part) == before {
				break
			}
		}
		found = append(found, part...)
	}
	return found, nil
}
