package github

import (
	"context"
	"fmt"
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
	at  time.Time
	got any // a *snapshot, a *scanning or an *openIssues
}

// Begin reads an issue for whoever asks for its facts next, and with it what Options.Along names:
// one request. A read that fails is left to whoever asks next; only what concerns every request is
// an error.
func (c *Client) Begin(ctx context.Context, i claim.Issue) error {
	one := &snapshot{facts: lifecycle.Facts{Issue: i}}
	if nameable(i) != nil {
		return nil
	}

	// whether references decide is not known yet
	err := c.askIssues(replaceable(ctx), []*snapshot{one}, ofOne(), true)
	return c.begin(i.String(), one, err)
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

	s := &scanning{repo: r, what: what, lists: listsOf(c.o.Scheme, what)}
	err := c.askPage(replaceable(ctx), s, pageSize{facts: shared(perPage, s.lists), numbers: perPage})
	return c.begin("issues of "+r.String(), s, err)
}

// BeginOpen does it for OpenIssues with the label of what is ready for work, or of the first stage.
func (c *Client) BeginOpen(ctx context.Context, r claim.Repo) error {
	if at(r, "").err != nil {
		return nil // whoever asks next says so
	}
	q := &openIssues{repo: r, label: c.o.Scheme.Queues()[0]}
	err := c.askOpenPage(replaceable(ctx), q, perPage)
	return c.begin("issues of "+r.String(), q, err)
}

// begin keeps what was read, unless that failed.
func (c *Client) begin(what string, got any, err error) error {
	if wholeRequest(err) {
		return fmt.Errorf("read %s: %w", what, err)
	}
	if err == nil {
		c.begun.Store(&beginning{c.o.Clock.Now(), got})
	}

	return nil
}

// takeBegun returns what Begin has read, once, if that is what is asked for. It is nothing after a
// write, or after a while.
func takeBegun[T any](c *Client, asked func(T) bool) (got T, begun bool) {
	first := c.begun.Load()
	if first == nil {
		return got, false
	}

	got, begun = first.got.(T)
	if !begun || !asked(got) || !c.begun.CompareAndSwap(first, nil) {
		return got, false
	}

	return got, c.transport.writes.Load() == 0 && clock.Passed(first.at, c.o.Clock.Now()) <= fresh
}
