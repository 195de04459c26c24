package github

import (
	"context"
	"errors"
	"sync"
)

// A dose is how much one query asks for. It shrinks where GitHub answers that it was too much, and what worked is kept for
// the client's life. It may be used from any goroutine.
type dose struct {
	mu     sync.Mutex
	now    int
	worked int // the largest that was answered since one item was too much by itself
}

func (d *dose) size() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.now
}

// answered notes that so many items at once were answered whole.
func (d *dose) answered(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.worked = max(d.worked, n)
}

// refused halves what is asked for, after so many items at once were too much.
func (d *dose) refused(n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = min(d.now, max(1, n/2))
}

// alone notes that one item was too much by itself. That is the item's weight, not the others': the size that worked
// before is tried again, once.
func (d *dose) alone() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now, d.worked = max(1, d.worked), 0
}

// maxLost is how many items one after the other may be unreadable in every way before the rest is not asked for any more:
// then it is GitHub that does not answer, and not the items that are heavy.
const maxLost = 3

// bend asks for items in parts of the size that GitHub bears. A part that is too much is asked for again in halves; one
// item that is too much by itself is read by alone. An error of alone that says "too much" again is that item's; any other,
// and every error of ask, ends the snapshot: what was not asked for by then stays unread.
func bend[T any](ctx context.Context, d *dose, items []T, ask func(context.Context, []T) error, alone func(context.Context, T) error) error {
	var lost losses
	for len(items) > 0 {
		part := items[:min(d.size(), len(items))]
		err := ask(replaceable(ctx, len(part) > 1), part)
		switch {
		case err == nil:
			d.answered(len(part))
			items, lost = items[len(part):], 0
			continue
		case !tooMuch(err):
			return err
		case len(part) > 1:
			d.refused(len(part))
			continue
		}
		d.alone()
		if err := alone(ctx, part[0]); lost.end(err) {
			return err
		}
		items = items[1:]
	}
	return nil
}

// inParts is bend where there is GraphQL, and reads the items one by one where there is none. Its errors are bend's.
func inParts[T any](ctx context.Context, a *api, d *dose, items []T, ask func(context.Context, []T) error, alone func(context.Context, T) error) error {
	return a.eitherWay(
		func() error { return bend(ctx, d, items, ask, alone) },
		func() error { return oneByOne(ctx, items, alone) })
}

// oneByOne reads items where there is no GraphQL. Its errors are bend's.
func oneByOne[T any](ctx context.Context, items []T, alone func(context.Context, T) error) error {
	var lost losses
	for _, one := range items {
		if err := alone(ctx, one); lost.end(err) {
			return err
		}
	}
	return nil
}

// losses counts the items, one after the other, that could not be read in any way.
type losses int

// end reports whether an item's error ends the snapshot of all others.
func (l *losses) end(err error) bool {
	if err == nil {
		*l = 0
		return false
	}
	*l++
	return !tooMuch(err) || *l >= maxLost
}

// tooMuch reports whether asking for less may help: GitHub could not answer, took too long, or refused the query's weight.
func tooMuch(err error) bool {
	var status *StatusError
	var lost *NetworkError
	switch {
	case is[unavailable](err):
		return false
	case errors.As(err, &status):
		return !status.Rejected()
	case errors.As(err, &lost):
		return lost.slow
	}
	return is[*QueryError](err)
}

// replaceable marks a request for which there is something better to do than to repeat it after a 5xx or when it takes too
// long: ask for less, which is done at once, or in another way, which is done after one repetition.
func replaceable(ctx context.Context, byLess bool) context.Context {
	repetitions := 1
	if byLess {
		repetitions = 0
	}
	return context.WithValue(ctx, replaced, repetitions)
}
