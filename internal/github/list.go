package github

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// list reads every page of a REST list, of a hundred items or, where that is too much, fewer. Where
// the first page says which is the last, those between are read side by side. first is the header
// of the first page.
func list[T any](ctx context.Context, c *Client, to target) (items []T, first http.Header, err error) {
	err = to.inPages(ctx, func(ctx context.Context, to target) error {
		items, first, err = listOf[T](ctx, c, to)
		return err
	})
	return items, first, err
}

// inPages has a list read by pages of as many items as GitHub bears.
func (t target) inPages(ctx context.Context, read func(context.Context, target) error) error {
	const size = "per_page=100"
	if !strings.Contains(t.path, size) {
		return read(ctx, t)
	}

	pages := page{perPage, leastPage}
	return pages.ask(ctx, func(ctx context.Context, n int) error {
		to := t
		to.path = strings.Replace(t.path, size, "per_page="+strconv.Itoa(n), 1)
		return read(ctx, to)
	})
}

func listOf[T any](ctx context.Context, c *Client, to target) (items []T, first http.Header, err error) {
	read := func(ctx context.Context, n int) (page []T, header http.Header, err error) {
		if page, header, err = fetch[[]T](ctx, c, to.page(n)); err == nil && page == nil {
			err = &AnswerError{Reason: "it is not a list"}
		}
		return page, header, err
	}

	items, first, err = read(ctx, 1)
	if err != nil {
		return nil, nil, err
	}

	newest, n := first, 1

	if last := pageNumber(first, "last"); last > 1 && last <= mostPages {
		pages, headers := make([][]T, last-1), make([]http.Header, last-1)
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(pagesAtOnce)

		for k := range pages {
			group.Go(func() (err error) {
				pages[k], headers[k], err = read(ctx, k+2)
				return err
			})
		}

		if err := group.Wait(); err != nil {
			return nil, nil, err
		}
		items = append(items, slices.Concat(pages...)...)
		newest, n = headers[last-2], last
	}

	for {
		more, err := another(newest, n)
		if err != nil || !more {
			return items, first, err
		}

		n++
		page, header, err := read(ctx, n)
		if err != nil {
			return nil, nil, err
		}

		items, newest = append(items, page...), header
	}
}

// counted reads every page of a list that stands in an object together with its length. What was
// read must be as many as GitHub counts; without a count, a nil total, nothing is whole.
func counted[T any](ctx context.Context, c *Client, to target, take func(T) (count int, total *int)) error {
	var pages []T
	err := to.inPages(ctx, func(ctx context.Context, to target) error {
		pages = nil
		for n, more := 1, true; more; n++ {
			page, header, err := fetch[T](ctx, c, to.page(n))
			if err == nil {
				more, err = another(header, n)
			}

			if err != nil {
				return err
			}
			pages = append(pages, page)
		}

		return nil
	})
	if err != nil {
		return err
	}

	have, want := 0, -1
	for _, page := range pages {
		count, total := take(page)
		if have, want = have+count, -1; total != nil {
			want = *total
		}
	}

	if have != want {
		return &AnswerError{Reason: fmt.Sprintf("%d counted and %d readable", want, have)}
	}

	return nil
}

// mostPages is how many pages of a list are read.
const mostPages = 1000

// page is the n-th page of a list, counted from 1.
func (t target) page(n int) target {
	if n > 1 {
		sign := "?"
		if strings.Contains(t.path, "?") {
			sign = "&"
		}
		t.path += sign + "page=" + strconv.Itoa(n)
	}

	return t
}

// another reports whether the header of the n-th page says that there is another one. A header that
// leaves it open is an error, and not the end of the list.
func another(h http.Header, n int) (more bool, err error) {
	next := pageNumber(h, "next")
	reason := ""
	switch {
	case next == 0 && strings.Contains(strings.ToLower(strings.Join(h.Values("Link"), ",")), "next"):
		reason = "its Link header cannot be read, so there may be another page"
	case next > 0 && next <= n:
		reason = "its pages lead back to an earlier one"
	case next > mostPages:
		reason = "its pages do not end"
	}

	if reason != "" {
		return false, &AnswerError{Reason: reason}
	}

	return next > 0, nil
}

// pageNumber is the number of the page that a Link header (RFC 8288) names as the next or the last;
// 0 when it names none. Only the number counts, so that a list leads to no other place.
func pageNumber(h http.Header, rel string) int {
	for _, m := range pageLink().FindAllStringSubmatch(strings.Join(h.Values("Link"), ","), -1) {
		if n, err := strconv.Atoi(m[1]); err == nil && strings.EqualFold(m[2], rel) {
			return n
		}
	}
	return 0
}

var pageLink = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[?&]page=(\d+)(?:&[^>]*)?>\s*;\s*rel\s*=\s*"?(next|last)\b`)
})
