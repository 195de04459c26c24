package work_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/work"
)

// TestOpeners: a type that is not there is an error that lists what is.
func TestOpeners(t *testing.T) {
	open := func(context.Context, work.Settings) (work.Source, error) { return nil, nil }
	if _, err := work.Openers(nil).Get("github"); err == nil ||
		err.Error() != `unknown work source "github"; supported: none` {
		t.Errorf("without any: %v", err)
	}

	all := work.Openers{"github": open, "folder": open}
	_, err := all.Get("jira")
	var unknown *work.UnknownTypeError
	if !errors.As(err, &unknown) || !slices.Equal(unknown.Known, []string{"folder", "github"}) {
		t.Errorf("unknown type: %v", err)
	}

	if got, err := all.Get("folder"); got == nil || err != nil {
		t.Errorf("a type that is there: %v", err)
	}
}

// A memorySource is a source in memory. refuse says what happens to a claim.
type memorySource struct {
	items  []work.Item
	refuse map[string]error
	claims []string
	opened int
}

func (s *memorySource) Fetch(ctx context.Context, o work.FetchOptions) (work.Page, error) {
	return work.Select(ctx, s.items, o, func(_ context.Context, all []work.Item) ([]work.Item, error) {
		return slices.DeleteFunc(slices.Clone(all),
			func(i work.Item) bool { return strings.Contains(i.Title, "no") || i.Claimed && !o.IncludeClaimed }), nil
	})
}

func (s *memorySource) Claim(_ context.Context, id string) (work.Claimed, error) {
	s.claims = append(s.claims, id)
	return work.Claimed{Item: work.Item{ID: id}}, s.refuse[id]
}
func (s *memorySource) Complete(context.Context, string, work.Result) error        { return nil }
func (s *memorySource) Release(context.Context, string, work.ReleaseOptions) error { return nil }
func (s *memorySource) Get(context.Context, string) (work.Item, error)             { return work.Item{}, nil }

func (s *memorySource) dispatcher(t *testing.T) *work.Dispatcher {
	t.Helper()
	return work.NewDispatcher(work.Openers{"shelf": func(context.Context, work.Settings) (work.Source,
		error,
	) {
		s.opened++
		return s, nil
	}})
}

func item(n int, p work.Priority, age int) work.Item {
	return work.Item{
		ID:         work.ID("shelf", int64(n)),
		ExternalID: fmt.Sprint(n),
		Priority:   p,
		Created:    time.Unix(int64(1000-age), 0),
	}
}

func TestNext(t *testing.T) {
	gone := func(r work.Reason) error { return work.Refused("x", r, "no") }
	outage := errors.New("outage")
	items := []work.Item{
		item(1, work.Low, 90), item(2, work.High, 10), item(3, work.High, 20),
		item(10, work.Medium, 5), item(9, work.Medium, 5),
	}
	cases := map[string]struct {
		refuse map[string]error
		tried  string
		err    error
	}{
		"the first":      {nil, "shelf-3", nil},
		"a race is lost": {map[string]error{"shelf-3": gone(work.AlreadyClaimed)}, "shelf-3 shelf-2", nil},
		"gone, then not in a state": {map[string]error{
			"shelf-3": gone(work.NotFound),
			"shelf-2": gone(work.InvalidState),
		}, "shelf-3 shelf-2 shelf-9", nil},
		"an outage ends it": {map[string]error{"shelf-3": outage}, "shelf-3", outage},
		"a rate limit ends it": {
			map[string]error{"shelf-3": &work.Error{Reason: work.RateLimited, Err: outage}},
			"shelf-3", outage,
		},
		"none is left": {map[string]error{
			"shelf-1": gone(work.AlreadyClaimed), "shelf-2": gone(work.AlreadyClaimed),
			"shelf-3": gone(work.AlreadyClaimed),
			"shelf-9": gone(work.AlreadyClaimed), "shelf-10": gone(work.AlreadyClaimed),
		}, "shelf-3 shelf-2 shelf-9 shelf-10 shelf-1", work.ErrNoWork},
	}

	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := &memorySource{items: items, refuse: c.refuse}
			_, err := s.dispatcher(t).Next(t.Context(), work.Settings{Type: "shelf"}, work.FetchOptions{})
			if got := strings.Join(s.claims, " "); got != c.tried || !errors.Is(err, c.err) {
				t.Errorf("tried %q and %v, want %q and %v", got, err, c.tried, c.err)
			}
		})
	}
}

// TestNextIsFree: what somebody works on is never next, whatever else the options show.
func TestNextIsFree(t *testing.T) {
	taken := item(1, work.High, 90)
	taken.Claimed = true
	s := &memorySource{items: []work.Item{taken, item(2, work.Low, 10)}}
	if i, err := work.Peek(t.Context(), s, work.FetchOptions{IncludeClaimed: true}); err != nil || i.ID != "shelf-2" {
		t.Errorf("%v %v", i.ID, err)
	}
}

// TestSpread: of a queue longer than a page the twelve oldest of the highest priority are tried
// first, each by somebody; of a shorter one the oldest.
func TestSpread(t *testing.T) {
	for _, c := range []struct{ waiting, urgent, want int }{{25, 25, 1}, {26, 26, 12}, {40, 5, 5}} {
		first := map[string]bool{}
		for by := range uint32(100) {
			s := &memorySource{}
			for n := range c.waiting {
				i := work.Item{ID: work.ID("github", int64(n+1)), Priority: work.Low, Created: time.Unix(int64(n), 0)}
				if n < c.urgent {
					i.Priority = work.High
				}
				s.items = append(s.items, i)
			}

			got, err := work.Next(t.Context(), s, work.FetchOptions{Spread: by})
			if err != nil {
				t.Fatal(err)
			}
			first[got.Item.ID] = true
		}

		for n := range c.want {
			if !first[work.ID("github", int64(n+1))] || len(first) != c.want {
				t.Errorf("%+v: tried first: %v", c, first)
			}
		}
	}
}

// TestSpreadOf: who comes at the same moment under another name begins somewhere else, and who comes
// again under one name at the same place.
func TestSpreadOf(t *testing.T) {
	places := map[uint32]bool{}
	for _, name := range []string{"", "lucius", "lucius2", "rex", "Rex"} {
		places[work.SpreadOf(name)] = true
		places[work.SpreadOf(name)] = true
	}

	if len(places) != 5 {
		t.Errorf("five names have %d places", len(places))
	}
}

// TestSpreadLosesNone: who is refused everywhere has tried each item once.
func TestSpreadLosesNone(t *testing.T) {
	s := &memorySource{refuse: map[string]error{}}
	for n := range 40 {
		id := work.ID("github", int64(n+1))
		s.items = append(s.items, work.Item{ID: id, Priority: work.Low})
		s.refuse[id] = &work.Error{Reason: work.AlreadyClaimed}
	}

	_, err := work.Next(t.Context(), s, work.FetchOptions{Spread: 7})
	tried := slices.Compact(slices.Sorted(slices.Values(s.claims)))
	if !errors.Is(err, work.ErrNoWork) || len(tried) != 40 || len(s.claims) != 40 {
		t.Errorf("%v after %v", err, s.claims)
	}
}

type explaining struct{ work.Source }

func (explaining) NoWork() *work.NoWorkError { return &work.NoWorkError{Queue: 7} }

func TestDispatcher(t *testing.T) {
	s := &memorySource{items: []work.Item{item(1, work.High, 1)}}
	d := s.dispatcher(t)
	ann, bob := work.Settings{Type: "shelf", Agent: "ann"}, work.Settings{Type: "shelf", Agent: "bob"}
	for _, who := range []work.Settings{ann, ann, bob} {
		if i, err := d.Peek(t.Context(), who, work.FetchOptions{}); err != nil || i.ID != "shelf-1" ||
			len(s.claims) > 0 {
			t.Fatalf("peek: %v %v %v", i, err, s.claims)
		}
	}

	if s.opened != 2 {
		t.Errorf("%d sources opened for two agents", s.opened)
	}

	if _, err := d.Source(t.Context(), ann); err != nil || s.opened != 2 {
		t.Errorf("the source that is open: %v, %d opened", err, s.opened)
	}

	if _, err := d.Next(t.Context(), ann, work.FetchOptions{Labels: []string{"x"}}); !errors.Is(err, work.ErrNoWork) {
		t.Errorf("nothing has the label: %v", err)
	}

	if _, err := d.Next(t.Context(), work.Settings{Type: "jira"}, work.FetchOptions{}); err == nil {
		t.Error("an unknown type has work")
	}

	var option *work.OptionError
	if _, err := d.Next(t.Context(), ann, work.FetchOptions{Labels: []string{" "}}); !errors.As(err, &option) {
		t.Errorf("a label that is none: %v", err)
	}

	broken := work.NewDispatcher(work.Openers{"shelf": func(context.Context, work.Settings) (work.Source, error) {
		return nil, work.ErrNoWork
	}})
	for range 2 {
		if _, err := broken.Source(t.Context(), ann); err == nil || err.Error() != "open work source shelf: no work" {
			t.Errorf("a source that does not open: %v", err)
		}
	}

	_, err := work.Next(t.Context(), explaining{&memorySource{}}, work.FetchOptions{})
	if why, is := errors.AsType[*work.NoWorkError](err); !is || why.Queue != 7 {
		t.Errorf("a source that says why: %v", err)
	}
}

func TestFetchOptions(t *testing.T) {
	s := &memorySource{items: []work.Item{item(1, work.High, 1), item(2, work.High, 2), item(3, work.Low, 2)}}
	first, err := s.Fetch(t.Context(), work.FetchOptions{Limit: 1})
	if err != nil || first.Next == "" {
		t.Fatalf("first page: %v %v", first, err)
	}

	bad := map[string]work.FetchOptions{
		"limit":                       {Limit: -3},
		"empty label":                 {Labels: []string{" "}},
		"label with a comma":          {Labels: []string{"a,b"}},
		"priority":                    {Priorities: []work.Priority{9}},
		"cursor":                      {Cursor: "abc"},
		"cursor of something else":    {Cursor: first.Next, Labels: []string{"x"}},
		"cursor with something added": {Cursor: first.Next + "A"},
		"page number":                 {Cursor: "2"},
	}

	for name, o := range bad {
		_, err := s.Fetch(t.Context(), o)
		var option *work.OptionError
		if !errors.As(err, &option) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// inTurn compares two items of a shelf: the more urgent one first, then the older, then the smaller
// number.
func inTurn(a, b work.Item) int {
	number := func(i work.Item) int { n, _ := strconv.Atoi(i.ExternalID); return n }
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), a.Created.Compare(b.Created), cmp.Compare(number(a), number(b)))
}

// TestFullJudgement: a page that the first fifty candidates just fill is not the last one.
func TestFullJudgement(t *testing.T) {
	s := &memorySource{}
	for n := range 51 {
		i := item(n+1, work.Medium, 0)
		i.Title = "yes"
		s.items = append(s.items, i)
	}

	page, err := s.Fetch(context.Background(), work.FetchOptions{Limit: 50})
	if err != nil || len(page.Items) != 50 || page.Next == "" {
		t.Errorf("%d items, next %q, %v", len(page.Items), page.Next, err)
	}
}

// TestPages: whatever is asked for, pages put together are the whole answer, each item once, in
// order, and every page but the last is full.
func TestPages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &memorySource{}
		for n := range rapid.IntRange(0, 180).Draw(t, "items") {
			i := item(n+1, work.Priority(rapid.IntRange(0, 3).Draw(t, "priority")), rapid.IntRange(0, 5).Draw(t, "age"))
			i.Title = rapid.SampledFrom([]string{"yes", "yes", "no"}).Draw(t, "title")
			s.items = append(s.items, i)
		}

		o := work.FetchOptions{Limit: rapid.IntRange(1, 120).Draw(t, "limit")}
		if rapid.Bool().Draw(t, "filtered") {
			o.Priorities = []work.Priority{work.High, work.Low}
		}

		whole, err := s.Fetch(context.Background(), work.FetchOptions{Priorities: o.Priorities})
		if err != nil || whole.Next != "" || !slices.IsSortedFunc(whole.Items, inTurn) {
			t.Fatalf("whole: %v %v", whole, err)
		}

		var got []work.Item
		for {
			page, err := s.Fetch(context.Background(), o)
			if err != nil || len(page.Items) > o.Limit || page.Next != "" && len(page.Items) < o.Limit {
				t.Fatalf("page of %d: %v", len(page.Items), err)
			}

			got = append(got, page.Items...)
			if o.Cursor = page.Next; o.Cursor == "" {
				break
			}
		}

		if !slices.EqualFunc(got, whole.Items, func(a, b work.Item) bool { return a.ID == b.ID }) {
			t.Fatalf("pages have %d items, the whole %d", len(got), len(whole.Items))
		}
	})
}
