package github

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
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
	viewer       *viewer
	repositories *repositories
	roles        *roles
	definitions  *definitions
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
	Err     error // why
}

func (e *UnreadError) Error() string {
	return fmt.Sprintf("read issues of %s: %v; not read: %s", e.Repo, e.Err, spans(e.Numbers))
}

// Unwrap returns the reason.
func (e *UnreadError) Unwrap() error { return e.Err }

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
		found, err := sc.collect(ctx, r, what)
		if err != nil {
			yield(lifecycle.Facts{}, fmt.Errorf("list issues of %s: %w", r, missing(err, "repository "+r.String())))
			return
		}
		for start := 0; start < len(found); start += perQuery {
			part := found[start:min(start+perQuery, len(found))]
			err := sc.fill(ctx, r, part)
			unread := &UnreadError{Repo: r, Err: err}
			for _, one := range part {
				if err != nil && (one.snapshot == nil || !one.snapshot.done()) {
					unread.Numbers = append(unread.Numbers, one.number)
					continue
				}
				got := one.snapshot.public()
				if got.Err != nil {
					got.Err = &claim.IssueError{Doing: "read", Issue: got.Facts.Issue, Err: got.Err}
				}
				if !yield(got.Facts, got.Err) {
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

// collect lists what to scan, each issue once, least recently updated first.
func (sc *scans) collect(ctx context.Context, r ledger.Repo, what selection) (found []listed, err error) {
	if _, err := at(r.Owner, r.Name, ""); err != nil {
		return nil, err
	}
	err = sc.api.eitherWay(
		func() (err error) { found, err = sc.queryLists(ctx, r, what); return err },
		func() (err error) { found, err = sc.restLists(ctx, r, what); return err })
	return unique(found), err
}

// unique keeps of each issue the entry that carries facts, and puts the oldest change first.
func unique(found []listed) []listed {
	slices.SortStableFunc(found, func(a, b listed) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(have(b), have(a)), b.updated.Compare(a.updated))
	})
	found = slices.CompactFunc(found, func(a, b listed) bool { return a.number == b.number })
	slices.SortFunc(found, func(a, b listed) int {
		return cmp.Or(a.updated.Compare(b.updated), cmp.Compare(a.number, b.number))
	})
	return found
}

func have(one listed) int {
	if one.snapshot == nil {
		return 0
	}
	return 1
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
