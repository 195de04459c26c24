package labelstate

import (
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubwork"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/work"
)

// List returns the issues of the queue that are free now, in the order in which [Client.Next] tries
// them: the highest priority, then the oldest. An issue that cannot be read is left out, with a
// warning. The zero value of the options lists all.
func (c *Client) List(ctx context.Context, o work.FetchOptions) (work.Page, error) {
	page, err := c.source(SourceOptions{}).Fetch(ctx, o)
	if err != nil {
		return work.Page{}, at("list", c.Repo(), c.answer(err))
	}
	return page, nil
}

// NextOptions say who claims, for how long, and which issues are wanted. Codename is required.
type NextOptions struct {
	Codename   string          // the kind of worker
	FiringID   string          // this run; empty generates one
	TTL        time.Duration   // length of the lease; 0 is the repository's default
	Labels     []string        // an issue must have all of them
	Priorities []work.Priority // and one of these; none is any
}

// Next claims the first free issue of the queue. When another worker is faster, it tries the one
// after it. [ErrNoWork] says that there is none; a *[work.NoWorkError] says what was passed over.
func (c *Client) Next(ctx context.Context, o NextOptions) (work.Item, Hold, error) {
	item, hold, err := c.next(ctx, o)
	if err = c.answer(err); err != nil {
		return work.Item{}, Hold{}, at("take the next issue of", c.Repo(), err)
	}
	return item, hold, nil
}

func (c *Client) next(ctx context.Context, o NextOptions) (work.Item, Hold, error) {
	if err := (ClaimOptions{Codename: o.Codename}).check(); err != nil {
		return work.Item{}, Hold{}, err
	}

	source := c.source(SourceOptions{Codename: o.Codename, FiringID: o.FiringID, TTL: o.TTL})
	got, err := work.Next(ctx, source, work.FetchOptions{
		Labels:     o.Labels,
		Priorities: o.Priorities,
		Spread:     work.SpreadOf(o.Codename + o.FiringID + setup.Clock().Now().String()),
	})
	if err != nil {
		return work.Item{}, Hold{}, err
	}

	h, _ := source.Hold(got.Item.ID)
	return got.Item, c.hold(h), nil
}

// SourceOptions say for whom a [work.Source] is. Codename is required.
type SourceOptions struct {
	Codename string        // the kind of worker
	FiringID string        // this run; empty generates one for each claim
	TTL      time.Duration // length of a lease; 0 is the repository's default
	Exclude  []string      // labels, besides the repository's, that keep an issue from this worker
	// KeepFailed gives an issue whose work failed to a person, instead of back to the queue.
	KeepFailed bool
}

// Source returns the queue of this repository as a work source for one worker, beside other sources
// of the program. Its ids are such as github-42. What it claims, [Client.Keep] keeps and
// [Client.Owns] knows; what the client has claimed or renewed for that codename, it completes and
// releases.
func (c *Client) Source(o SourceOptions) (work.Source, error) {
	if err := (ClaimOptions{Codename: o.Codename}).check(); err != nil {
		return nil, at("open the queue of", c.Repo(), err)
	}
	return c.source(o), nil
}

func (c *Client) source(o SourceOptions) *githubwork.Source {
	return githubwork.New(c.s.Client, c.s.Ledger, githubwork.Options{
		Repo:       c.s.Repo,
		Worker:     claim.Worker{Codename: o.Codename, FiringID: o.FiringID},
		TTL:        o.TTL,
		Exclude:    o.Exclude,
		KeepFailed: o.KeepFailed,
		Won:        c.won,
		Recall:     func(i claim.Issue) (ledger.Hold, bool) { return c.recallOf(i.Number, o.Codename) },
		Ended:      func(i claim.Issue, w claim.Worker) { c.forget(holdKey{i.Number, w}) },
		Warn:       func(err error) { c.warn(err.Error()) },
		Wait:       setup.Clock().Sleep,
	})
}
