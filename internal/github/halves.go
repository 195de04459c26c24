package github

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/clock"
)

// maxLost is how many items one after the other may be unreadable before the rest is not asked for:
// then it is GitHub that does not answer, and not the items that are too much.
const maxLost = 3

// halves asks for items in parts. A part that is too much, for whatever reason, is asked for again
// in halves, down to single items. The zero value with its two functions is ready; it is for one
// goroutine.
type halves[T any] struct {
	// ask reads a part as a whole.
	ask func(ctx context.Context, part []T) error
	// alone does what can be done about an item that is too much by itself for the reason err, and
	// returns why it could not be read all the same. Without it the item is asked for once more, by
	// the tries of every request.
	alone func(ctx context.Context, item T, err error) error

	answered int   // items in the largest part that was answered
	halved   bool  // a part was too much
	heavy    bool  // an item was too much by itself
	lost     int   // items one after the other that could not be read
	unread   error // the first that could not be read when asked for once more
}

// read reads items, up to size in a part. Its error is why it stopped: what was not asked for by
// then is unread. An item that is too much is no such error.
func (h *halves[T]) read(ctx context.Context, items []T, size int) error {
	for len(items) > 0 {
		part := items[:min(size, len(items))]
		if err := h.readPart(ctx, part); err != nil {
			return err
		}
		items = items[len(part):]
	}

	return nil
}

func (h *halves[T]) readPart(ctx context.Context, part []T) error {
	err := h.ask(replaceable(ctx), part)
	if err == nil {
		h.answered, h.lost = max(h.answered, len(part)), 0
		return nil
	}
	if !tooMuch(err) {
		return err
	}

	h.halved = true
	if half := len(part) / 2; half > 0 {
		if err := h.readPart(ctx, part[:half]); err != nil {
			return err
		}
		return h.readPart(ctx, part[half:])
	}

	h.heavy = true
	if h.alone != nil {
		err = h.alone(ctx, part[0], err)
	} else {
		err = h.ask(ctx, part)
		h.unread = cmp.Or(h.unread, err)
	}
	if err == nil {
		h.lost = 0
		return nil
	}
	if h.lost++; tooMuch(err) && h.lost < maxLost {
		return nil
	}

	return err
}

// tooMuch reports whether asking for less may help: GitHub could not answer, took too long, refused
// the query's weight, or answered more than is read.
func tooMuch(err error) bool {
	if status, is := errors.AsType[*StatusError](err); is {
		return !status.Rejected()
	}
	if lost, is := errors.AsType[*NetworkError](err); is {
		return lost.slow || lost.large
	}

	return is[*QueryError](err)
}

// replaceable marks a request that is asked for in parts if it is too much.
func replaceable(ctx context.Context) context.Context { return hinted(ctx, replaced) }

// A measure remembers how many items of a kind GitHub bears at once, for a while: it may have been
// an outage.
type measure struct {
	n    int
	seen time.Time
}

// measureFor is how long what was too much is not asked for again.
const measureFor = 10 * time.Minute

// bearable is how many items of a kind GitHub bears at once: what was measured, else most.
func (c *Client) bearable(kind string, most int) int {
	m, _ := c.measures.get(kind) // one that is not known is too old
	if clock.Passed(m.seen, c.o.Clock.Now()) > measureFor {
		return most
	}
	return m.n
}

// A page is how many items of a list are asked for at once: half as many after more were too much,
// but no fewer than least.
type page struct{ size, least int }

// ask asks for one page. The error is that of the smallest one.
func (p *page) ask(ctx context.Context, read func(ctx context.Context, n int) error) error {
	for {
		last := p.size/2 < p.least
		trying := ctx
		if !last {
			trying = replaceable(ctx)
		}

		err := read(trying, p.size)
		if last || !tooMuch(err) {
			return err
		}

		p.size /= 2
	}
}

// latecomers is how many items more than a list counts its pages may have had room for: items that
// were added while it was read, and items that GitHub shows to nobody.
const latecomers = 1000

// A trail is how far a list was read page by page. It ends one whose pages do not end.
type trail struct {
	cursor string // of the page that was read last
	asked  int    // items that there was room for on all pages so far
}

// follow notes a page of at most n items, of a list of total, and the cursor of the page that
// follows it. The error says that the pages lead nowhere.
func (t *trail) follow(n, total int, cursor string) error {
	if cursor == "" || cursor == t.cursor {
		return unusable("its pages lead back to an earlier one")
	}
	if t.asked += n; t.asked > total+latecomers {
		return unusable("its pages do not end")
	}

	t.cursor = cursor
	return nil
}
