package github

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

const (
	scanComments = 50 // of an issue, on a page of a hundred
	scanPasses   = 3  // over REST pages, which shift while people work
)

// A listed issue is a number found in a list, with its facts where the list carried them.
type listed struct {
	number  int
	updated time.Time
	reading *reading
}

// Scan reads every issue with a lifecycle label, and every one changed since then unless since is
// zero; least recently updated first (ledger.Repos). All numbers are collected before the first
// issue is yielded. Issues in flight come with the pages that list them, a hundred a request;
// the others are read afterwards, fifty a request.
func (c *Client) Scan(ctx context.Context, r ledger.Repo, since time.Time) iter.Seq2[lifecycle.Facts, error] {
	return c.scan(ctx, r, selection{c.scheme.Lifecycle(), since})
}

// Current is Scan without the issues that are labelled done and have not changed since then: what is
// done piles up, and whoever watches what goes on need not read it again and again.
func (c *Client) Current(ctx context.Context, r ledger.Repo, since time.Time) iter.Seq2[lifecycle.Facts, error] {
	live := slices.DeleteFunc(slices.Clone(c.scheme.Lifecycle()), func(name string) bool { return name == c.scheme.Done })
	return c.scan(ctx, r, selection{live, since})
}

// A selection is what a scan looks at: issues with one of the labels, and those changed since then.
type selection struct {
	labels []string
	since  time.Time // zero for none
}

func (c *Client) scan(ctx context.Context, r ledger.Repo, what selection) iter.Seq2[lifecycle.Facts, error] {
	return func(yield func(lifecycle.Facts, error) bool) {
		found, err := c.collect(ctx, r, what)
		if err != nil {
			yield(lifecycle.Facts{}, fmt.Errorf("list issues of %s: %w", r, missing(err, "repository "+r.String())))
			return
		}
		for start := 0; start < len(found); start += perQuery {
			part := found[start:min(start+perQuery, len(found))]
			if err := c.fill(ctx, r, part); err != nil {
				yield(lifecycle.Facts{}, fmt.Errorf("read issues of %s: %w", r, err))
				return
			}
			for _, one := range part {
				if !yieldReading(yield, one.reading) {
					return
				}
			}
		}
	}
}

func yieldReading(yield func(lifecycle.Facts, error) bool, r *reading) bool {
	one := r.public()
	if one.Err != nil {
		one.Err = fmt.Errorf("read %s: %w", one.Facts.Issue, one.Err)
	}
	return yield(one.Facts, one.Err)
}

// collect lists what to scan, each issue once, least recently updated first.
func (c *Client) collect(ctx context.Context, r ledger.Repo, what selection) (found []listed, err error) {
	if _, err := at(r.Owner, r.Name, ""); err != nil {
		return nil, err
	}
	err = c.eitherWay(
		func() (err error) { found, err = c.queryLists(ctx, r, what); return err },
		func() (err error) { found, err = c.restLists(ctx, r, what); return err })
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
	if one.reading == nil {
		return 0
	}
	return 1
}

// fill completes a part of the scan: it reads the issues that came without facts and finishes those
// that came with them.
func (c *Client) fill(ctx context.Context, r ledger.Repo, part []listed) error {
	var with []*reading
	var without []claim.Issue
	for _, one := range part {
		if one.reading != nil {
			with = append(with, one.reading)
		} else {
			without = append(without, claim.Issue{Owner: r.Owner, Repo: r.Name, Number: one.number})
		}
	}
	if err := c.completeAll(ctx, with); err != nil {
		return err
	}
	c.finish(ctx, with)
	if len(without) > 0 {
		read, err := c.batch(ctx, without)
		if err != nil {
			return err
		}
		for k := range part {
			if part[k].reading == nil {
				part[k].reading, read = read[0], read[1:]
			}
		}
	}
	for _, one := range part {
		if wholeRequest(one.reading.err) {
			return one.reading.err
		}
	}
	return nil
}
