package work

import (
	"context"
	"errors"
)

// perLook is how many items are fetched at a time while looking for one that can be claimed.
const perLook = 25

// Next claims the first item of a source that can be claimed, and returns it: highest priority,
// then oldest. If an item is claimed by somebody else or gone, it tries the following one.
// ErrNoWork says that no item is left, and nothing was claimed. Of the options only labels and
// priorities count.
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

// noWork returns ErrNoWork, as a *NoWorkError if the source can say what its last search passed
// over.
func noWork(src Source) error {
	if able, is := src.(Explainer); is {
		return able.NoWork()
	}
	return ErrNoWork
}
