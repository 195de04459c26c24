package labelstate

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/work"
	"github.com/label-state/label-state/internal/work/githubwork"
)

// A Priority says how urgent an issue is. Words of its labels name it; an issue without any is medium.
type Priority string

// The priorities, the most urgent first.
const (
	PriorityCritical Priority = "critical"
	PriorityHigh     Priority = "high"
	PriorityMedium   Priority = "medium"
	PriorityLow      Priority = "low"
)

// An Item is an issue of the queue. Its texts are other people's.
type Item struct {
	Number      int
	Title, Body string
	URL         string
	Priority    Priority
	Labels      []string
	Author      string // login
	Assignees   []string
	Milestone   string
	Held        bool     // somebody works on it
	Blockers    []string // open issues that block it, as owner/name#7
	Created     time.Time
	Updated     time.Time
}

// ListOptions say which issues of the queue to list. The zero value lists all that are free now.
type ListOptions struct {
	Labels     []string   // an issue must have all of them
	Priorities []Priority // and one of these; none is any
	Limit      int        // at most so many; 0 is all
	Held       bool       // also those that somebody works on
}

// List returns the issues that are free now, in the order in which [Client.Next] tries them: the highest priority, then the oldest.
// An issue that cannot be read is left out, with a warning.
func (c *Client) List(ctx context.Context, o ListOptions) ([]Item, error) {
	filter, err := fetchOptions(o.Labels, o.Priorities)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", c.Repo(), err)
	}
	filter.Limit, filter.IncludeClaimed = o.Limit, o.Held
	page, err := c.source(NextOptions{}).Fetch(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", c.Repo(), c.answer(err))
	}
	out := []Item{}
	for _, i := range page.Items {
		out = append(out, c.item(i))
	}
	return out, nil
}

// NextOptions say who claims, for how long, and which issues are wanted. Codename is required.
type NextOptions struct {
	Codename   string        // the kind of worker
	FiringID   string        // this run; empty generates one
	TTL        time.Duration // length of the lease; 0 is the repository's default
	Labels     []string      // an issue must have all of them
	Priorities []Priority    // and one of these; none is any
}

// Next claims the first free issue of the queue. When another worker is faster, it tries the one after it. [ErrNoWork] says that
// there is none; a *[NoWorkError] says what was passed over.
func (c *Client) Next(ctx context.Context, o NextOptions) (Item, Hold, error) {
	item, hold, err := c.next(ctx, o)
	if err = c.answer(err); err != nil {
		return Item{}, Hold{}, fmt.Errorf("take the next issue of %s: %w", c.Repo(), err)
	}
	return item, hold, nil
}

func (c *Client) next(ctx context.Context, o NextOptions) (Item, Hold, error) {
	filter, err := fetchOptions(o.Labels, o.Priorities)
	if err == nil {
		err = ClaimOptions{Codename: o.Codename}.check()
	}
	if err != nil {
		return Item{}, Hold{}, err
	}
	source := c.source(o)
	open := func(context.Context, work.Settings) (work.Source, error) { return source, nil }
	got, err := work.NewDispatcher(work.Openers{githubwork.Type: open}).Next(ctx, work.Settings{Type: githubwork.Type, Agent: o.Codename, Place: c.Repo()}, filter)
	if err != nil {
		return Item{}, Hold{}, err
	}
	h, _ := source.Hold(got.Item.ID)
	c.won(h)
	return c.item(got.Item), c.hold(h), nil
}

func (c *Client) source(o NextOptions) *githubwork.Source {
	return githubwork.New(c.s.Client, c.s.Ledger, githubwork.Options{
		Repo: c.s.Repo, Worker: claim.Worker{Codename: o.Codename, FiringID: o.FiringID}, TTL: o.TTL,
		Warn: func(err error) { c.warn(err.Error()) }, Wait: setup.Clock().Sleep,
	})
}

func fetchOptions(labels []string, priorities []Priority) (work.FetchOptions, error) {
	o := work.FetchOptions{Labels: labels}
	for _, name := range priorities {
		p, err := work.ParsePriority(string(name))
		if err != nil {
			return o, fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		o.Priorities = append(o.Priorities, p)
	}
	return o, nil
}

func (c *Client) item(i work.Item) Item {
	number, _ := strconv.Atoi(i.ExternalID)
	out := Item{
		Number: number, Title: i.Title, Body: i.Description, URL: i.URL, Priority: Priority(i.Priority.String()), Labels: i.Labels,
		Author: i.Metadata.Author, Assignees: i.Metadata.Assignees, Milestone: i.Metadata.Milestone,
		Held: i.Claimed, Created: i.Created, Updated: i.Updated,
	}
	for _, id := range i.Blockers {
		if n, found := strings.CutPrefix(id, githubwork.Type+"-"); found { // of this repository
			id = c.Repo() + "#" + n
		}
		out.Blockers = append(out.Blockers, id)
	}
	return out
}
