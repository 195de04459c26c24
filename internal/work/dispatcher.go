package work

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// A Dispatcher hands agents their next item. It keeps one open source for each of them.
type Dispatcher struct {
	openers Openers
	mu      sync.Mutex
	sources map[Settings]Source
}

// NewDispatcher returns a dispatcher over these kinds of sources.
func NewDispatcher(o Openers) *Dispatcher {
	return &Dispatcher{openers: o, sources: map[Settings]Source{}}
}

// Source returns the agent's source, opened once.
func (d *Dispatcher) Source(ctx context.Context, s Settings) (Source, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if src, open := d.sources[s]; open {
		return src, nil
	}
	open, err := d.openers.Get(s.Type)
	if err != nil {
		return nil, err
	}
	src, err := open(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("open work source %s: %w", s.Type, err)
	}
	d.sources[s] = src
	return src, nil
}

// perLook is how many items are fetched at a time while looking for one that can be had.
const perLook = 25

// Next claims the first item that can be had and returns it: highest priority, then oldest. An item
// that is lost to somebody else, or gone, makes it try the following one. ErrNoWork says that there
// is none; then nothing was claimed and nothing is to be started. Only the filters of o count.
func (d *Dispatcher) Next(ctx context.Context, s Settings, o FetchOptions) (Claimed, error) {
	src, err := d.Source(ctx, s)
	if err != nil {
		return Claimed{}, err
	}
	return walk(ctx, src, o, func(i Item) (Claimed, error) { return src.Claim(ctx, i.ID) })
}

// Peek returns the item that Next would try first, and claims nothing.
func (d *Dispatcher) Peek(ctx context.Context, s Settings, o FetchOptions) (Item, error) {
	src, err := d.Source(ctx, s)
	if err != nil {
		return Item{}, err
	}
	c, err := walk(ctx, src, o, func(i Item) (Claimed, error) { return Claimed{Item: i}, nil })
	return c.Item, err
}

// walk tries one item after the other until one is taken.
func walk(ctx context.Context, src Source, o FetchOptions, take func(Item) (Claimed, error)) (Claimed, error) {
	o.Limit, o.Cursor, o.IncludeClaimed = perLook, "", false
	for {
		page, err := src.Fetch(ctx, o)
		if err != nil {
			return Claimed{}, err
		}
		for _, i := range page.Items {
			c, err := take(i)
			var refused *Error
			if err == nil || !errors.As(err, &refused) || !refused.Another() {
				return c, err
			}
		}
		if able, is := src.(Explainer); is && page.Next == "" {
			return Claimed{}, able.NoWork()
		}
		if page.Next == "" {
			return Claimed{}, ErrNoWork
		}
		o.Cursor = page.Next
	}
}
