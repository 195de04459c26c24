package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
)

// list reads every page of a REST list. Where the first page says which is the last, those between are read side by side. What comes
// after follows the addresses GitHub gives, because page numbers end where lists get long. first is the header of the first page.
func list[T any](ctx context.Context, a *api, to target) (items []T, first http.Header, err error) {
	read := func(ctx context.Context, path string) (page []T, header http.Header, err error) {
		if page, header, err = fetch[[]T](ctx, a, target{path: path}); err == nil && page == nil {
			err = &AnswerError{Status: http.StatusOK, Reason: "it is not a list"}
		}
		return page, header, err
	}
	err = a.follow(to, func(path string) (http.Header, error) {
		page, header, err := read(ctx, path)
		items = append(items, page...)
		if err != nil || first != nil {
			return header, err
		}
		first = header
		address, count := a.lastPage(header)
		if count < 2 {
			return header, nil
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
				pages[n], headers[n], err = read(ctx, one.String())
				return err
			})
		}
		err = group.Wait()
		items = append(items, slices.Concat(pages...)...)
		return headers[count-2], err
	})
	if err != nil {
		return nil, nil, err
	}
	return items, first, nil
}

// counted reads every page of a list that stands in an object together with its length. What was read must be as many as GitHub counts;
// without a count, a nil total, nothing is whole.
func counted[T any](ctx context.Context, a *api, to target, take func(T) (count int, total *int)) error {
	have, want := 0, -1
	err := a.follow(to, func(path string) (http.Header, error) {
		page, header, err := fetch[T](ctx, a, target{path: path})
		if err != nil {
			return nil, err
		}
		count, total := take(page)
		if have, want = have+count, -1; total != nil {
			want = *total
		}
		return header, nil
	})
	if err == nil && have != want {
		err = &AnswerError{Status: http.StatusOK, Reason: fmt.Sprintf("%d counted and %d readable", want, have)}
	}
	return err
}

// follow reads the pages of a list one after the other.
func (a *api) follow(to target, read func(path string) (http.Header, error)) error {
	seen := map[string]bool{}
	for path, err := to.path, to.err; path != "" || err != nil; {
		if err != nil {
			return err
		}
		seen[path] = true
		header, unread := read(path)
		if unread != nil {
			return unread
		}
		if path, err = a.next(header); err == nil && seen[path] {
			err = &AnswerError{Status: http.StatusOK, Reason: "its pages lead back to an earlier one"}
		}
	}
	return nil
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

// A link is one of a Link header (RFC 8288).
type link struct {
	target string
	rel    string // relation types with spaces between
}

// is reports whether the link has a relation type; those are compared without regard to case.
func (l link) is(rel string) bool {
	return slices.ContainsFunc(strings.Fields(l.rel), func(one string) bool { return strings.EqualFold(one, rel) })
}

// A link is <target> and parameters: name, name=token or name="text", or nothing at all between two semicolons.
var (
	linkText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?s)^<([^>]*)>((?:[ \t]*;` + parameter + `)*)[ \t]*(?:,|$)`)
	})
	linkParameter = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s);` + parameter) })
	escapedChar   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)\\(.)`) })
)

const parameter = `[ \t]*([^ \t=;,]*)[ \t]*(?:=[ \t]*("(?:[^"\\]|\\.)*"|[^" \t;,][^ \t;,]*|))?`

// parseLinks reads the values of Link headers. Links with an anchor are left out: they are not about the answer that they
// came with. Of several rel of a link the first counts. whole is false when some of it is no link header.
func parseLinks(values []string) (links []link, whole bool) {
	for _, text := range values {
		for rest := strings.TrimLeft(text, " \t,"); rest != ""; rest = strings.TrimLeft(rest, " \t,") {
			m := linkText().FindStringSubmatch(rest)
			if m == nil {
				return links, false
			}
			l, related, anchored := link{target: m[1]}, false, false
			for _, p := range linkParameter().FindAllStringSubmatch(m[2], -1) {
				name, value := p[1], p[2]
				if text, quoted := strings.CutPrefix(value, `"`); quoted {
					value = escapedChar().ReplaceAllString(strings.TrimSuffix(text, `"`), "$1")
				}
				switch {
				case strings.EqualFold(name, "anchor"):
					anchored = true
				case strings.EqualFold(name, "rel") && !related:
					l.rel, related = value, true
				}
			}
			if !anchored {
				links = append(links, l)
			}
			rest = rest[len(m[0]):]
		}
	}
	return links, true
}
