package work

import (
	"context"
	"fmt"
	"sync"
)

// A Dispatcher opens one source for each agent, once. Goroutines may share it.
type Dispatcher struct {
	openers Openers
	mu      sync.Mutex
	sources map[Settings]Source
}

// NewDispatcher returns a dispatcher for these kinds of sources.
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

// Next claims the next item of the agent's source, as the function Next does.
func (d *Dispatcher) Next(ctx context.Context, s Settings, o FetchOptions) (Claimed, error) {
	src, err := d.Source(ctx, s)
	if err != nil {
		return Claimed{}, err
	}
	return Next(ctx, src, o)
}

// Peek returns the item that Next would try first, as the function Peek does.
func (d *Dispatcher) Peek(ctx context.Context, s Settings, o FetchOptions) (Item, error) {
	src, err := d.Source(ctx, s)
	if err != nil {
		return Item{}, err
	}
	return Peek(ctx, src, o)
}
