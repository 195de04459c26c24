package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"
)

// list reads every page of a REST list. Where the first page says which is the last, those between are read side by side. What comes
// after follows the addresses GitHub gives, because page numbers end where lists get long. first is the header of the first page.
func list[T any](ctx context.Context, a *api, path string) (items []T, first http.Header, err error) {
	seen := map[string]bool{}
	for path != "" {
		seen[path] = true
		page, header, err := listPage[T](ctx, a, path)
		if err != nil {
			return nil, nil, err
		}
		items = append(items, page...)
		if first == nil {
			first = header
			rest, last, err := pagesToLast[T](ctx, a, header)
			if err != nil {
				return nil, nil, err
			}
			if last != nil {
				items, header = append(items, rest...), last
			}
		}
		if path, err = a.next(header); err != nil {
			return nil, nil, err
		}
		if seen[path] {
			return nil, nil, &AnswerError{Status: http.StatusOK, Reason: "its pages lead back to an earlier one"}
		}
	}
	return items, first, nil
}

// listPage reads one page of a list.
func listPage[T any](ctx context.Context, a *api, path string) (page []T, header http.Header, err error) {
	if header, err = a.Do(ctx, http.MethodGet, path, nil, &page); err != nil {
		return nil, nil, err
	}
	if page == nil {
		return nil, nil, &AnswerError{Status: http.StatusOK, Reason: "it is not a list"}
	}
	return page, header, nil
}

// pagesToLast reads the pages from the second to the one that the first page's header calls the last, side by side. last is the header of that
// one; it is nil when the first page names none.
func pagesToLast[T any](ctx context.Context, a *api, first http.Header) (items []T, last http.Header, err error) {
	address, count := a.lastPage(first)
	if count < 2 {
		return nil, nil, nil
	}
	pages, headers := make([][]T, count-1), make([]http.Header, count-1)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(pagesAtOnce)
	for n := range pages {
		one := *address
		values := one.Query()
		values.Set("page", strconv.Itoa(n+2))
		one.RawQuery = values.Encode()
		group.Go(func() (err error) {
			pages[n], headers[n], err = listPage[T](ctx, a, one.String())
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	return slices.Concat(pages...), headers[count-2], nil
}

// lastPage is the address of a list's last page and its number, which is how many pages there are; 0 when the header does not say.
func (a *api) lastPage(h http.Header) (address *url.URL, count int) {
	links, _ := parseLinks(h.Values("Link"))
	for _, l := range links {
		to, err := a.rest.BaseURL.Parse(l.target)
		if !l.is("last") || err != nil || origin(to) != origin(a.rest.BaseURL) {
			continue
		}
		if n, err := strconv.Atoi(to.Query().Get("page")); err == nil && n <= mostPages {
			return to, n
		}
	}
	return nil, 0
}

// mostPages is how far page numbers are believed.
const mostPages = 1000

// next returns the address of the following page, empty after the last. It is one of this server, over the same scheme.
func (a *api) next(h http.Header) (string, error) {
	links, whole := parseLinks(h.Values("Link"))
	if !whole {
		return "", &AnswerError{Status: http.StatusOK, Reason: "its Link header cannot be read, so that there may be another page"}
	}
	for _, l := range links {
		if !l.is("next") {
			continue
		}
		to, err := a.rest.BaseURL.Parse(l.target)
		if err != nil || origin(to) != origin(a.rest.BaseURL) {
			return "", &AnswerError{Status: http.StatusOK, Reason: "its next page is on another host"}
		}
		return to.String(), nil
	}
	return "", nil
}

// query builds path?key=value… with everything escaped.
func query(path string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return path + "?" + values.Encode()
}

// each reads every page of a list that stands in an object together with its length. What was read
// must be as many as GitHub counts.
func each[T any](ctx context.Context, a *api, path string, take func(T) (count, total int)) error {
	have, seen := 0, map[string]bool{}
	for path != "" {
		seen[path] = true
		var page T
		header, err := a.Do(ctx, http.MethodGet, path, nil, &page)
		if err != nil {
			return err
		}
		count, total := take(page)
		have += count
		if path, err = a.next(header); err != nil {
			return err
		}
		switch {
		case seen[path]:
			return &AnswerError{Status: http.StatusOK, Reason: "its pages lead back to an earlier one"}
		case path == "" && have != total:
			return &AnswerError{Status: http.StatusOK, Reason: fmt.Sprintf("%d counted and %d readable", total, have)}
		}
	}
	return nil
}

// counted is a count that has to be there: without it nothing is whole.
func counted(total *int) int {
	if total == nil {
		return -1
	}
	return *total
}
