package prchain

import (
	"context"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// A Watcher is what it takes to see how a chain does.
type Watcher interface {
	ReadPull(ctx context.Context, i claim.Issue) (Pull, error)
	// Checks lists every check run and every commit status of a commit, the newest of each name. An
	// answer that is not whole is an error.
	Checks(ctx context.Context, repo, sha string) ([]Check, error)
}

// Colour is red if a part is, green only if all are.
func (r Result) Colour() Colour {
	all := Green
	for _, p := range r.Parts {
		switch {
		case p.Colour == Red:
			return Red
		case p.Colour == Pending:
			all = Pending
		}
	}

	return all
}

// Look reads how a chain does. What is merged has nothing to wait for; what was closed by hand will
// not be green. An error means that nobody knows, not even of the parts that were read.
func Look(ctx context.Context, w Watcher, s State) (Result, error) {
	r := Result{Plan: s.Plan}
	for n := range s.Parts {
		one, i := Outcome{Why: "not open yet"}, s.id(n)
		var err error
		if i.Number != 0 {
			one.Pull, err = w.ReadPull(ctx, i)
		}

		switch {
		case err != nil || i.Number == 0:
		case one.Pull.State == Merged:
			one.Colour, one.Why = Green, "merged"
		case one.Pull.State == Closed:
			one.Colour, one.Why = Red, "closed without a merge"
		default:
			var checks []Check
			if checks, err = w.Checks(ctx, i.Slug(), one.Pull.SHA); err == nil {
				one.Colour, one.Why = Judge(checks)
			}
		}

		if err != nil {
			return Result{}, fmt.Errorf("look at part %d of %d: %w", n+1, len(s.Parts), err)
		}
		r.Parts = append(r.Parts, one)
	}

	return r, nil
}

// Wait looks again and again, so far apart, until the chain is green or red. load is asked each
// time: another process may still be opening parts. When ctx ends, it returns what it saw last with
// ctx's error.
func Wait(ctx context.Context, w Watcher, load func() (State, error), every time.Duration) (Result, error) {
	var last Result
	tick := time.NewTicker(every)
	defer tick.Stop()

	for {
		s, err := load()
		if err != nil {
			return last, err
		}

		r, err := Look(ctx, w, s)
		switch {
		case err != nil && ctx.Err() != nil && last.Parts != nil:
			return last, ctx.Err()
		case err != nil || r.Colour() != Pending:
			return r, err
		}

		last = r
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-tick.C:
		}
	}
}
