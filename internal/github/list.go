package github

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
)

// list reads every page of a REST list. It follows the addresses GitHub gives, because page
// numbers end where lists get long. first is the header of the first page.
func list[T any](ctx context.Context, c *Client, path string) (items []T, first http.Header, err error) {
	seen := map[string]bool{}
	for path != "" {
		seen[path] = true
		var page []T
		header, err := c.Do(ctx, http.MethodGet, path, nil, &page)
		if err != nil {
			return nil, nil, err
		}
		if page == nil {
			return nil, nil, &AnswerError{Status: http.StatusOK, Reason: "it is not a list"}
		}
		if first == nil {
			first = header
		}
		items = append(items, page...)
		if path, err = c.next(header); err != nil {
			return nil, nil, err
		}
		if seen[path] {
			return nil, nil, &AnswerError{Status: http.StatusOK, Reason: "its pages go round in circles"}
		}
	}
	return items, first, nil
}

var nextLink = regexp.MustCompile(`<([^<>]+)>\s*;[^,]*\brel="?next\b`)

// next returns the address of the following page, empty after the last.
func (c *Client) next(h http.Header) (string, error) {
	m := nextLink.FindStringSubmatch(h.Get("Link"))
	if m == nil {
		return "", nil
	}
	to, err := c.rest.BaseURL.Parse(m[1])
	if err != nil || origin(to) != origin(c.rest.BaseURL) {
		return "", &AnswerError{Status: http.StatusOK, Reason: "its next page is on another host"}
	}
	return to.String(), nil
}

// query builds path?key=value… with everything escaped.
func query(path string, pairs ...string) string {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return path + "?" + values.Encode()
}
