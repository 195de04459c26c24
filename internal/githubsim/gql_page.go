package githubsim

import (
	"encoding/base64"
	"fmt"
	"strings"
)

// pageArgs are the arguments of every connection.
type pageArgs struct {
	First, Last   *int32
	After, Before *string
}

// A gqlPageInfo says where a page lies in its list.
type gqlPageInfo struct {
	EndCursor       *string
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *string
}

// A gqlConnection is one page of a list.
type gqlConnection[T any] struct {
	nodes      []T
	cursors    []string
	PageInfo   gqlPageInfo
	TotalCount int32
}

// A gqlEdge is a node with its cursor.
type gqlEdge[T any] struct {
	Cursor string
	Node   T
}

// Nodes resolves the field of that name.
func (c *gqlConnection[T]) Nodes() *[]T { return &c.nodes }

// Edges resolves the field of that name.
func (c *gqlConnection[T]) Edges() *[]*gqlEdge[T] {
	edges := make([]*gqlEdge[T], 0, len(c.nodes))
	for i, n := range c.nodes {
		edges = append(edges, &gqlEdge[T]{c.cursors[i], n})
	}
	return &edges
}

const maxConnection = 100

// check refuses what GitHub refuses of the arguments of the connection of that name.
func (a pageArgs) check(name string) error {
	if a.First == nil && a.Last == nil {
		return &gqlFault{"MISSING_PAGINATION_BOUNDARIES", fmt.Sprintf(
			"You must provide a `first` or `last` value to properly paginate the `%s` connection.", name)}
	}

	for argument, n := range map[string]*int32{"first": a.First, "last": a.Last} {
		if n != nil && (*n > maxConnection || *n < 0) {
			return &gqlFault{"EXCESSIVE_PAGINATION", fmt.Sprintf(
				"Requesting %d records on the `%s` connection exceeds the `%s` limit of 100 records.", *n, name, argument)}
		}
	}

	return nil
}

func cursorOf(id int64) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "cursor:v2:%d", id))
}

func parseCursor(cursor string) (int64, error) {
	raw, err := base64.StdEncoding.DecodeString(cursor)
	text, found := strings.CutPrefix(string(raw), "cursor:v2:")
	var id int64
	if _, scan := fmt.Sscanf(text, "%d", &id); err != nil || !found || scan != nil {
		return 0, &gqlFault{
			"INVALID_CURSOR_ARGUMENTS",
			fmt.Sprintf("`%s` does not appear to be a valid cursor.", cursor),
		}
	}

	return id, nil
}

// connect cuts the page out of a list. A cursor stands for the id of an item; one that is gone
// stands where ids grow past it.
func connect[T, N any](c *call, a pageArgs, name string, items []T, id func(T) int64,
	node func(T) N,
) (*gqlConnection[N], error) {
	if err := a.check(name); err != nil {
		return nil, err
	}
	from, to := 0, len(items)
	if a.After != nil {
		at, err := parseCursor(*a.After)
		if err != nil {
			return nil, err
		}
		from = after(items, id, at)
	}

	if a.Before != nil {
		at, err := parseCursor(*a.Before)
		if err != nil {
			return nil, err
		}
		to = max(from, before(items, id, at))
	}

	if a.First != nil {
		to = min(to, from+int(*a.First))
	}

	if a.Last != nil {
		from = max(from, to-int(*a.Last))
	}
	page := &gqlConnection[N]{TotalCount: int32(len(items)), nodes: []N{}}
	for _, item := range items[from:to] {
		page.nodes = append(page.nodes, node(item))
		page.cursors = append(page.cursors, cursorOf(id(item)))
	}

	if err := c.meter.read(to - from); err != nil {
		return nil, err
	}
	page.PageInfo = gqlPageInfo{HasNextPage: to < len(items), HasPreviousPage: from > 0}
	if n := len(page.cursors); n > 0 {
		page.PageInfo.StartCursor, page.PageInfo.EndCursor = &page.cursors[0], &page.cursors[n-1]
	}

	return page, nil
}

func after[T any](items []T, id func(T) int64, at int64) int {
	for i, item := range items {
		if id(item) == at {
			return i + 1
		}
	}

	for i, item := range items {
		if id(item) > at {
			return i
		}
	}

	return len(items)
}

func before[T any](items []T, id func(T) int64, at int64) int {
	for i, item := range items {
		if id(item) >= at {
			return i
		}
	}
	return len(items)
}
