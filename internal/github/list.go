package github

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

// list reads every page of a REST list, of a hundred items or, where that is too much, fewer.
func list[T any](ctx context.Context, c *Client, to target) ([]T, error) {
	pages, err := pagesOf[[]T](ctx, c, to)
	if slices.ContainsFunc(pages, func(page []T) bool { return page == nil }) {
		err = unusable("it is not a list")
	}
	return slices.Concat(pages...), err
}

// pagesOf reads every page of a list, each of as many items as GitHub bears.
func pagesOf[T any](ctx context.Context, c *Client, to target) (pages []T, err error) {
	const size = "per_page=100"
	if !strings.Contains(to.path, size) {
		return readPages[T](ctx, c, to)
	}

	most := page{perPage, leastPage}
	err = most.ask(ctx, func(ctx context.Context, n int) error {
		sized := to
		sized.path = strings.Replace(to.path, size, "per_page="+strconv.Itoa(n), 1)
		pages, err = readPages[T](ctx, c, sized)
		return err
	})
	return pages, err
}

// readPages reads every page of a list. Where the first page says which is the last, those between
// are read side by side.
func readPages[T any](ctx context.Context, c *Client, to target) ([]T, error) {
	first, newest, err := fetch[T](ctx, c, to)
	if err != nil {
		return nil, err
	}

	pages := []T{first}
	if last := pageNumber(newest, "last"); last > 1 && last <= mostPages {
		headers := make([]http.Header, last)
		pages = append(pages, make([]T, last-1)...)
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(pagesAtOnce)
		for k := 1; k < last; k++ {
			group.Go(func() (err error) {
				pages[k], headers[k], err = fetch[T](ctx, c, to.page(k+1))
				return err
			})
		}

		if err := group.Wait(); err != nil {
			return nil, err
		}
		newest = headers[last-1]
	}

	for {
		more, err := another(newest, len(pages))
		if err != nil || !more {
			return pages, err
		}

		page, header, err := fetch[T](ctx, c, to.page(len(pages)+1))
		if err != nil {
			return nil, err
		}

		pages, newest = append(pages, page), header
	}
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
		return false, unusable(reason)
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

var pageLink = pattern(`(?i)[?&]page=(\d+)(?:&[^>]*)?>\s*;\s*rel\s*=\s*"?(next|last)\b`)
