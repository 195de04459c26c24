package github

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A program asks the same two things first: by which configuration the repository goes, and what
// stands on an issue, or what there is to do. One query answers both. What it read besides the
// configuration is kept for the next who asks for just that.

// fresh is how long what Begin has read stands for the first snapshot.
const fresh = 5 * time.Second

// A beginning is what the first query has read besides the configuration.
type beginning struct {
	at    time.Time
	facts *snapshot // of an issue, or else
	repo  claim.Repo
	what  selection // of a scan
	found []listed  // its first page
	lists []*cursor // and what is left
	label string    // or of the open issues with a label
	open  []Issue   // its first page
	way   trail     // and how far that was
	more  bool      // whether another one follows
}

// Begin reads an issue for whoever asks for its facts next, and with it what Options.Along names:
// one request. A read that fails is left to whoever asks next; only what concerns every request is
// an error.
func (c *Client) Begin(ctx context.Context, i claim.Issue) error {
	one := &snapshot{facts: lifecycle.Facts{Issue: i}}
	if nameable(i) != nil {
		return nil
	}

	return c.begin(i.String(), func() (*beginning, error) {
		// whether references decide is not known yet
		err := c.askIssues(replaceable(ctx), []*snapshot{one}, ofOne(), true)
		if err != nil || !one.read {
			return nil, err
		}
		return &beginning{facts: one}, nil
	})
}

// BeginScan does for Scan what Begin does for Facts, or with live for Current: it reads the first
// page.
func (c *Client) BeginScan(ctx context.Context, r claim.Repo, since time.Time, live bool) error {
	if at(r, "").err != nil {
		return nil // whoever asks next says so
	}
	what := selection{labels: sweptLabels(c.o.Scheme), since: since}
	if live {
		what = current(c.o.Scheme, since)
	}

	lists := listsOf(c.o.Scheme, what)
	return c.begin("issues of "+r.String(), func() (*beginning, error) {
		found, err := c.askPage(replaceable(ctx), r, lists, pageSize{facts: shared(perPage, lists), numbers: perPage})
		if err != nil {
			return nil, err
		}

		lists = slices.DeleteFunc(lists, func(k *cursor) bool { return k.done })
		return &beginning{
			repo:  r,
			what:  what,
			found: found,
			lists: lists,
		}, nil
	})
}

// BeginOpen does it for OpenIssues with the label of what is ready for work, or of the first stage.
func (c *Client) BeginOpen(ctx context.Context, r claim.Repo) error {
	if at(r, "").err != nil {
		return nil // whoever asks next says so
	}
	label := c.o.Scheme.Queues()[0]

	return c.begin("issues of "+r.String(), func() (*beginning, error) {
		way := trail{}
		found, more, err := c.askOpenPage(replaceable(ctx), r, label, &way, perPage)
		if err != nil {
			return nil, err
		}

		return &beginning{
			repo:  r,
			label: label,
			open:  found,
			way:   way,
			more:  more,
		}, nil
	})
}

func (c *Client) begin(what string, read func() (*beginning, error)) error {
	got, err := read()
	switch {
	case wholeRequest(err):
		return fmt.Errorf("read %s: %w", what, err)
	case err == nil && got != nil:
		got.at = c.o.Clock.Now()
		c.mu.Lock()
		c.begun = got
		c.mu.Unlock()
	}

	return nil
}

// takeBegun returns what Begin has read, once. It is nothing after a write, or after a while.
func (c *Client) takeBegun(of func(*beginning) bool) *beginning {
	c.mu.Lock()
	defer c.mu.Unlock()
	got := c.begun
	if got == nil || !of(got) {
		return nil
	}

	c.begun = nil
	if c.transport.writes.Load() > 0 || clock.Passed(got.at, c.o.Clock.Now()) > fresh {
		return nil
	}

	return got
}
