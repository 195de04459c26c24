package labelstate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A StaleClaim is a hold whose lease and grace are over and whose end nobody has recorded yet.
type StaleClaim struct {
	Number             int
	Codename, FiringID string
	Since, Renewed     time.Time
	Until              time.Time // end of the lease
	URL                string    // of the claim comment
}

// StaleClaims lists what a sweep would give back. It writes nothing.
func (c *Client) StaleClaims(ctx context.Context) ([]StaleClaim, error) {
	terms := c.s.Ledger.Rules().Terms
	out := []StaleClaim{}
	for f, err := range c.s.Client.Scan(ctx, c.s.Repo, time.Time{}) {
		if err != nil {
			return nil, fmt.Errorf("list stale claims of %s: %w", c.Repo(), err)
		}
		stale, err := c.s.Ledger.Stale(ctx, f)
		if err != nil {
			return nil, fmt.Errorf("list stale claims of %s: %w", c.Repo(), err)
		}
		for _, held := range stale {
			out = append(out, staleOf(f.Issue.Number, held, terms))
		}
	}
	return out, nil
}

func staleOf(number int, held claim.Claim, t claim.Terms) StaleClaim {
	until, _ := held.Until(t)
	w := held.Record.Worker
	return StaleClaim{number, w.Codename, w.FiringID, held.Created, held.Updated, until, held.URL}
}

// SweepOptions may all be left out.
type SweepOptions struct {
	MaxAge time.Duration // shortens the lease of claims without a ttl of their own
	Since  time.Time     // besides everything labelled, look at what changed since then
}

// A Report is what a sweep did.
type Report struct {
	Examined int
	Changed  []Change
	Skipped  []string // what was not looked at, and why
}

// A Change is one issue that the sweep changed, or failed at.
type Change struct {
	Number int
	Was    []string // lifecycle labels
	Is     []string
	Ended  []string // workers whose holds were given back, as codename:firing_id
	Why    string
	Err    error
}

// Sweep gives back lapsed holds and repairs labels. It goes on past an issue that fails; the error is
// then not nil, and everything was looked at and every write succeeded only if it is nil.
func (c *Client) Sweep(ctx context.Context, o SweepOptions) (Report, error) {
	r := c.s.Ledger.Sweep(ctx, c.s.Client, ledger.Sweep{
		Repos: []ledger.Repo{c.s.Repo}, By: ledger.SweepID(time.Now(), c.s.Word()), MaxAge: o.MaxAge, Since: o.Since,
	})
	out := Report{Examined: r.Examined, Skipped: r.Skipped}
	var failed []error
	for _, f := range r.Findings {
		change := Change{Number: f.Issue.Number, Was: f.Was, Is: f.Is, Why: f.Why, Err: f.Err}
		for _, e := range f.Ended {
			change.Ended = append(change.Ended, e.Record.Worker.String())
		}
		out.Changed = append(out.Changed, change)
		if f.Err != nil {
			failed = append(failed, fmt.Errorf("sweep %s: %w", f.Issue, f.Err))
		}
	}
	for _, what := range r.Skipped {
		failed = append(failed, errors.New("skipped "+what))
	}
	return out, errors.Join(failed...)
}

// A Pause says that nothing in a repository is to be claimed.
type Pause struct {
	Repo       string
	Since      time.Time
	By, Reason string
}

// Pause keeps everybody from claiming in the repository, on every machine, until Resume.
func (c *Client) Pause(ctx context.Context, reason string) error {
	by, err := c.s.Viewer(ctx)
	if err == nil {
		err = c.s.Client.SetPause(ctx, c.s.Repo, lifecycle.Pause{Since: time.Now(), By: by, Reason: reason})
	}
	if err != nil {
		return fmt.Errorf("pause %s: %w", c.Repo(), err)
	}
	return nil
}

// Resume ends the pause; none is a success.
func (c *Client) Resume(ctx context.Context) error {
	if err := c.s.Client.ClearPause(ctx, c.s.Repo); err != nil {
		return fmt.Errorf("resume %s: %w", c.Repo(), err)
	}
	return nil
}

// PausedRepos returns those of the repositories, given as owner/name, that are paused. Without any it
// asks about the client's own. One that cannot be read is an error, never "not paused".
func (c *Client) PausedRepos(ctx context.Context, repos ...string) ([]Pause, error) {
	asked := []ledger.Repo{}
	for _, slug := range repos {
		owner, name, ok := strings.Cut(slug, "/")
		if !ok || owner == "" || name == "" {
			return nil, fmt.Errorf("list paused repositories: %q: want owner/name", slug)
		}
		asked = append(asked, ledger.Repo{Owner: owner, Name: name})
	}
	if len(asked) == 0 {
		asked = append(asked, c.s.Repo)
	}
	found, err := c.s.Client.Pauses(ctx, asked)
	if err != nil {
		return nil, fmt.Errorf("list paused repositories: %w", err)
	}
	out := []Pause{}
	for _, r := range asked {
		if p := found[r]; p != nil {
			out = append(out, Pause{r.String(), p.Since, p.By, p.Reason})
		}
	}
	return out, nil
}
