package work

import (
	"context"
	"errors"
	"hash/fnv"
	"slices"
)

const (
	// perLook is how many items are fetched at a time while looking for one that can be claimed.
	perLook = 25
	// spread is among how many of the oldest items those who come at the same moment are spread.
	spread = 12
)

// SpreadOf is the Spread of a search with this name, such as the worker's and the time: other names
// have others.
func SpreadOf(name string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // it never fails
	return h.Sum32()
}

// Next claims the first item of a source that can be claimed, and returns it: highest priority,
// then oldest. If an item is claimed by somebody else or gone, it tries the following one. Where
// more than 25 items wait, it begins with one of the twelve oldest of the highest priority, by
// FetchOptions.Spread, so that workers who come at the same moment seldom try the same one.
// ErrNoWork says that no item is left, and nothing was claimed. Of the other options only labels
// and priorities count.
func Next(ctx context.Context, src Source, o FetchOptions) (Claimed, error) {
	return walk(ctx, src, o, func(i Item) (Claimed, error) { return src.Claim(ctx, i.ID) })
}

// Peek returns the item that Next would try first, and claims nothing.
func Peek(ctx context.Context, src Source, o FetchOptions) (Item, error) {
	c, err := walk(ctx, src, o, func(i Item) (Claimed, error) { return Claimed{Item: i}, nil })
	return c.Item, err
}

// walk tries one item after the other until take succeeds, or fails for another reason than the
// item's.
func walk(ctx context.Context, src Source, o FetchOptions, take func(Item) (Claimed, error)) (Claimed, error) {
	o.Limit, o.Cursor, o.IncludeClaimed = perLook, "", false

	for {
		page, err := src.Fetch(ctx, o)
		if err != nil {
			return Claimed{}, err
		}

		if o.Cursor == "" && page.Next != "" {
			rotate(page.Items, o.Spread)
		}

		for _, i := range page.Items {
			c, err := take(i)
			var refused *Error
			if err == nil || !errors.As(err, &refused) || !refused.Another() {
				return c, err
			}
		}

		if page.Next == "" {
			return Claimed{}, noWork(src)
		}
		o.Cursor = page.Next
	}
}

// rotate puts another of the oldest items of the highest priority first, and those before it behind
// them.
func rotate(items []Item, by uint32) {
	n := 0
	for n < min(spread, len(items)) && items[n].Priority == items[0].Priority {
		n++
	}

	if n > 1 {
		k := int(by % uint32(n))
		copy(items, slices.Concat(items[k:n], items[:k]))
	}
}

// noWork returns ErrNoWork, as a *NoWorkError if the source can say what its last search passed
// over.
func noWork(src Source) error {
	if able, is := src.(Explainer); is {
		return able.NoWork()
	}
	return ErrNoWork
}
