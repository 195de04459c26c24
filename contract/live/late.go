package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

const (
	lateComments = 15               // that are posted to see how late they are shown
	lateMost     = 30 * time.Second // that one is waited for
	settle       = 2 * time.Second  // the settle delay of a claim
)

// A lateness is how late comments are shown, in the order in which they were posted: how long after
// the answer to its post the first read that shows it was begun. One that is not shown in time has
// lateMost.
type lateness struct{ byREST, byGraphQL []time.Duration }

// lateness measures how late comments are shown, once.
func (f *forge) lateness(ctx context.Context) (lateness, error) {
	for len(f.late.byREST) < lateComments {
		rest, query, err := f.lateOne(ctx)
		if err != nil {
			return f.late, err
		}
		f.late.byREST, f.late.byGraphQL = append(f.late.byREST, rest), append(f.late.byGraphQL, query)
	}
	return f.late, nil
}

// lateOne posts a comment and reads it in both ways, side by side, until both show it.
func (f *forge) lateOne(ctx context.Context) (rest, query time.Duration, err error) {
	c, err := f.comment(ctx, "How late am I?")
	if err != nil {
		return 0, 0, err
	}

	answered := time.Now()
	rest, query = lateMost, lateMost
	for time.Since(answered) < lateMost && max(rest, query) == lateMost {
		if began := time.Since(answered); rest == lateMost {
			ids, err := f.listed(ctx)
			if err != nil {
				return 0, 0, err
			}
			if slices.Contains(ids, c.ID) {
				rest = began
			}
		}
		if began := time.Since(answered); query == lateMost {
			ids, err := f.inQuery(ctx)
			if err != nil {
				return 0, 0, err
			}
			if slices.Contains(ids, c.NodeID) {
				query = began
			}
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return 0, 0, err
		}
	}
	return rest, query, nil
}

// longest is the longest of them, beside the settle delay.
func longest(all []time.Duration) string {
	if len(all) == 0 {
		return ""
	}
	worst := slices.Max(all)
	switch {
	case worst >= lateMost:
		return fmt.Sprintf("not within %s", lateMost)
	case worst > settle:
		return worst.Round(100 * time.Millisecond).String()
	}
	return fmt.Sprintf("within 2 s (the longest of %d: %s)", len(all), worst.Round(10*time.Millisecond))
}

// table prints how many comments were shown by when, as a table for docs/speed.md.
func (l lateness) table(out io.Writer) {
	if len(l.byREST) == 0 {
		return
	}
	fmt.Fprintf(out, "\n| of %d new comments, shown to a read begun after | a list by REST | GraphQL |\n|---|---|---|\n", len(l.byREST))
	for _, most := range []time.Duration{0, 250 * time.Millisecond, 500 * time.Millisecond, time.Second, settle, 5 * time.Second, lateMost} {
		within := func(all []time.Duration) (n int) {
			for _, d := range all {
				if d <= max(most, 50*time.Millisecond) && d < lateMost {
					n++
				}
			}
			return n
		}
		fmt.Fprintf(out, "| %s | %d | %d |\n", most, within(l.byREST), within(l.byGraphQL))
	}
}
