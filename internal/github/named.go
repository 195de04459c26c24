package github

import (
	"cmp"
	"context"

	"github.com/label-state/label-state/internal/claim"
)

// A lookup is an issue or a pull request that a text or a log names, with what GitHub shows of it.
type lookup[T any] struct {
	id     claim.Issue
	found  *T    // nil if GitHub does not show it
	absent bool  // the repository is shown, and has none of that number
	err    error // why it is not known
}

// lookUp reads what is named, each once, fifty a request. field selects one in its repository, with
// a verb for its number. They are found by the one spelling of their names.
func lookUp[T any](ctx context.Context, c *Client, names []claim.Issue, field string) map[claim.Issue]*lookup[T] {
	out := map[claim.Issue]*lookup[T]{}
	var ask []*lookup[T]
	for _, id := range names {
		if out[id.Folded()] == nil {
			one := &lookup[T]{id: id}
			out[id.Folded()], ask = one, append(ask, one)
		}
	}

	h := halves[*lookup[T]]{ask: func(ctx context.Context, part []*lookup[T]) error {
		return askNamed(ctx, c, part, field)
	}}
	err := h.read(ctx, ask, perQuery)
	for _, one := range ask {
		one.err = cmp.Or(one.err, err)
	}

	return out
}

// askNamed reads what is named by one query.
func askNamed[T any](ctx context.Context, c *Client, part []*lookup[T], field string) error {
	d := newDocument()
	for k, one := range part {
		d.open(alias("n", k), one.id.In())
		d.add("    found: "+field+"\n  }\n", one.id.Number)
	}

	var data map[string]*struct{ Found *T }
	got, err := c.ask(ctx, d, &data)
	for k, one := range part {
		one.err = err
		if err != nil {
			continue
		}

		in := data[alias("n", k)]
		if in != nil && in.Found != nil {
			one.found = in.Found
			continue
		}

		one.err = got.absence(alias("n", k))
		if hidden(one.err) {
			one.absent, one.err = in != nil && is[*NotFoundError](one.err), nil
		}
	}

	return err
}

// hidden reports whether GitHub does not show something, rather than failing to.
func hidden(err error) bool {
	return is[*NotFoundError](err) || is[*PermissionError](err)
}
