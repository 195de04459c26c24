package work

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/printable"
)

// FetchOptions say which items, and how many.
type FetchOptions struct {
	Labels         []string   // an item must have all of them
	Priorities     []Priority // an item must have one of them; none means any
	Limit          int        // at most so many, and as many as there are; 0 is all
	Cursor         string     // Page.Next of the page before, with the same labels and priorities
	IncludeClaimed bool       // also items that somebody works on
	Spread         uint32     // which of many items Next tries first (SpreadOf); 0 is the oldest
}

// A Page is a part of the items. Next is empty after the last one.
type Page struct {
	Items []Item
	Next  string
}

// Wants reports whether the item has the labels and the priority asked for.
func (o FetchOptions) Wants(i Item) bool {
	for _, l := range o.Labels {
		if !slices.ContainsFunc(i.Labels, func(have string) bool { return strings.EqualFold(have, l) }) {
			return false
		}
	}
	return len(o.Priorities) == 0 || slices.Contains(o.Priorities, i.Priority)
}

// A key is an item's place in the queue.
type key struct {
	Priority Priority  `json:"p"`
	Created  time.Time `json:"t"`
	Order    int64     `json:"n"` // the number, where ids are numbers
	ID       string    `json:"i"`
}

// keyOf is the place of an item.
func keyOf(i Item) key {
	return key{
		Priority: i.Priority,
		Created:  i.Created.UTC(),
		Order:    int64(i.Number()),
		ID:       i.ID,
	}
}

// Compare orders items as a queue hands them out: the most urgent first, then the oldest, then the
// lowest number.
func Compare(a, b Item) int { return keyOf(a).compare(keyOf(b)) }

// compare orders places.
func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.Priority, o.Priority), k.Created.Compare(o.Created), cmp.Compare(k.Order, o.Order),
		strings.Compare(k.ID, o.ID))
}

// A cursor is the place behind which the next page starts. It does not count items, so that none is
// skipped or shown twice when others come and go between two pages.
type cursor struct {
	After key    `json:"after"`
	Sum   uint32 `json:"sum"` // of the options it belongs to
}

// sum tells the options of one search from those of another.
func (o FetchOptions) sum() uint32 {
	h := fnv.New32a()
	fmt.Fprintf(h, "%q %v %t", o.Labels, o.Priorities, o.IncludeClaimed)
	return h.Sum32()
}

// start reads the cursor; nil is the beginning. Anything that is not exactly what Select makes for
// these options is refused.
func (o FetchOptions) start() (*key, error) {
	if o.Cursor == "" {
		return nil, nil
	}
	bad := &OptionError{"cursor", "not from a list with these options"}
	text, err := base64.RawURLEncoding.Strict().DecodeString(o.Cursor)
	if err != nil {
		return nil, bad
	}

	var c cursor
	if json.Unmarshal(text, &c) != nil || c.Sum != o.sum() || c.After.Priority < Critical || c.After.Priority > Low {
		return nil, bad
	}

	again, err := json.Marshal(c)
	if err != nil || string(again) != string(text) {
		return nil, bad
	}

	return &c.After, nil
}

// perJudgement is how many candidates are judged at once: what GitHub answers in one request.
const perJudgement = 50

// A Judge looks closely at candidates and returns those that may be shown, completed, in the same
// order.
type Judge func(ctx context.Context, candidates []Item) ([]Item, error)

// Check refuses options that no search can have, with an *OptionError.
func (o FetchOptions) Check() error {
	if o.Limit < 0 {
		return &OptionError{"limit", fmt.Sprintf("%d: must not be negative", o.Limit)}
	}

	for _, l := range o.Labels {
		if strings.TrimSpace(l) == "" || strings.Contains(l, ",") {
			return &OptionError{"label", fmt.Sprintf("%q: must be one label, without a comma", printable.Clip(l, 80))}
		}
	}

	for _, p := range o.Priorities {
		if p < Critical || p > Low {
			return &OptionError{"priority", fmt.Sprintf("%d: no such priority", int(p))}
		}
	}

	_, err := o.start()
	return err
}

// Select makes a page: it orders the candidates, goes to the cursor, and has as many judged as it
// takes to fill the limit. Options that Check refuses are refused before anything is judged.
func Select(ctx context.Context, candidates []Item, o FetchOptions, judge Judge) (Page, error) {
	if err := o.Check(); err != nil {
		return Page{}, err
	}
	after, _ := o.start() // as Check has read it
	queue := slices.DeleteFunc(slices.Clone(candidates), func(i Item) bool {
		return !o.Wants(i) || after != nil && keyOf(i).compare(*after) <= 0
	})
	slices.SortFunc(queue, Compare)

	page := Page{Items: []Item{}}
	for part := range slices.Chunk(queue, perJudgement) {
		good, err := judge(ctx, part)
		if err != nil {
			return Page{}, err
		}

		page.Items = append(page.Items, good...)
		if o.Limit > 0 && len(page.Items) > o.Limit {
			break
		}
	}

	if o.Limit > 0 && len(page.Items) > o.Limit {
		page.Items = page.Items[:o.Limit]
		text, err := json.Marshal(cursor{keyOf(page.Items[o.Limit-1]), o.sum()})
		if err != nil {
			return page, fmt.Errorf("make cursor: %w", err)
		}
		page.Next = base64.RawURLEncoding.EncodeToString(text)
	}

	return page, nil
}
