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

// A Standing is how one part does.
type Standing struct {
	Pull   Pull // the zero value while it is not open yet
	Colour Colour
	Why    string
	Checks []Check
}

// A Report is how a chain does, one Standing for each part.
type Report struct {
	Plan  Plan
	Parts []Standing
}

// Colour is red if a part is, green only if all are.
func (r Report) Colour() Colour {
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

// Look reads how a chain does. An error means that nobody knows, not even of the parts that were read.
func Look(ctx context.Context, w Watcher, s State) (Report, error) {
	r := Report{Plan: s.Plan}
	for n := range s.Parts {
		one, err := look(ctx, w, s.ID(n))
		if err != nil {
			return Report{}, fmt.Errorf("look at part %d of %d: %w", n+1, len(s.Parts), err)
		}
		r.Parts = append(r.Parts, one)
	}
	return r, nil
}

// look judges one part. What is merged has nothing to wait for; what was closed by hand will not be green.
func look(ctx context.Context, w Watcher, i claim.Issue) (Standing, error) {
	if i.Number == 0 {
		return Standing{Why: "not open yet"}, nil
	}
	p, err := w.ReadPull(ctx, i)
	if err != nil {
		return Standing{}, err
	}
	switch p.State {
	case Merged:
		return Standing{Pull: p, Colour: Green, Why: "merged"}, nil
	case Closed:
		return Standing{Pull: p, Colour: Red, Why: "closed without a merge"}, nil
	}
	checks, err := w.Checks(ctx, i.Slug(), p.SHA)
	if err != nil {
		return Standing{}, err
	}
	colour, why := Judge(checks)
	return Standing{p, colour, why, checks}, nil
}

// Wait looks again and again, so far apart, until the chain is green or red. load is asked each time:
// another process may still be opening parts. When ctx ends, it returns what it saw last with ctx's error.
func Wait(ctx context.Context, w Watcher, load func() (State, error), every time.Duration) (Report, error) {
	var last Report
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
