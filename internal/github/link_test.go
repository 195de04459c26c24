package github

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// TestNextPage: the link to the next page however it is written, and no other link.
func TestNextPage(t *testing.T) {
	const next = "https://api.github.com/repos/acme/app/issues?page=2"
	c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) { return nil, nil }))
	for header, want := range map[string]string{
		"":                                    "",
		`<` + next + `>; rel="next"`:          next,
		`<` + next + `>; rel=next`:            next,
		`<` + next + `>; REL="NEXT"`:          next,
		`<` + next + `> ; rel = "next" `:      next,
		`<` + next + `>; rel="prefetch Next"`: next,
		`<` + next + `>; title="pages, and more"; rel="next"`:                                 next,
		`<` + next + `>; title="say \"<next>\", rel=last"; rel="next"`:                        next,
		`<` + next + `>;;rel="next";`:                                                         next,
		`<` + next + `>; hreflang=en; title*=UTF-8''x; rel="next"; type="application/json"`:   next,
		`<https://api.github.com/?page=9>; rel="last", <` + next + `>; rel="next"`:            next,
		`<https://api.github.com/a,b?page=1>; rel="prev",<` + next + `>; rel="next"`:          next,
		`,, <https://evil.example/>; rel="describedby nextcloud", <` + next + `>; rel="next"`: next,
		`</repos/acme/app/issues?page=2>; rel="next"`:                                         next,
		`<https://API.github.com:443/repos/acme/app/issues?page=2>; rel="next"`:               "https://API.github.com:443/repos/acme/app/issues?page=2",
		`<` + next + `>; rel="last"`:                                                          "",
		`<` + next + `>; title="rel=next"; rel="last"`:                                        "",
		`<` + next + `>; rel="last"; rel="next"`:                                              "",
		`<` + next + `>; rel="next"; anchor="/elsewhere"`:                                     "",
		`<https://api.github.com/next>; rel="xnext"`:                                          "",
	} {
		for _, values := range [][]string{{header}, {`<https://api.github.com/?page=1>; rel="first"`, header}} {
			got, err := c.next(http.Header{"Link": values})
			if err != nil || got != want {
				t.Errorf("%s: %q, %v; want %q", header, got, err, want)
			}
		}
	}
	for _, damaged := range []string{
		`<` + next, next + `; rel="next"`, `<` + next + `>; rel="next`, `<` + next + `> rel="next"`, `<a>; rel="\`, `x, <` + next + `>; rel="next"`,
	} {
		var answer *AnswerError
		if got, err := c.next(http.Header{"Link": {damaged}}); !errors.As(err, &answer) || got != "" {
			t.Errorf("%s: %q, %v; want an unusable answer and not the end of the list", damaged, got, err)
		}
	}
}

// TestNextPageElsewhere: a list does not lead to another server, nor to the same one over a scheme without encryption.
func TestNextPageElsewhere(t *testing.T) {
	for _, next := range []string{
		"https://elsewhere.example/repos/acme/app/labels?page=2", "http://api.github.com/repos/acme/app/labels?page=2",
		"//elsewhere.example/labels", "https://api.github.com:8443/labels", "https://api.github.com.elsewhere.example/labels", "ftp://api.github.com/labels",
	} {
		var sent []string
		c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, r.URL.String())
			return reply(200, `[]`, `Link: <`+next+`>; rel="next"`), nil
		}))
		var answer *AnswerError
		if _, err := c.Labels(t.Context(), repoOf("app")); !errors.As(err, &answer) || len(sent) != 1 {
			t.Errorf("%s: %v after %q, want it refused after the first page", next, err, sent)
		}
	}
}

// TestTokenNeedsItsScheme: a token for https://HOST is not sent to http://HOST, where everybody on the way reads it.
func TestTokenNeedsItsScheme(t *testing.T) {
	for address, want := range map[string]bool{
		"https://api.github.com/user": true, "https://API.github.com:443/user": true, "http://api.github.com/user": false,
		"http://api.github.com:443/user": false, "https://api.github.com:80/user": false, "https://elsewhere.example/user": false,
	} {
		sent := false
		c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			sent = r.Header.Get("Authorization") != ""
			return reply(200, "json"), nil
		}))
		if _, err := c.Do(t.Context(), http.MethodGet, address, nil, nil); err != nil || sent != want {
			t.Errorf("%s: token sent %t, want %t (%v)", address, sent, want, err)
		}
	}
}

// TestSecondaryLimitClosesEverything: who was too fast with one kind of request stays away with all of them; a budget that is
// used up closes its own kind only.
func TestSecondaryLimitClosesEverything(t *testing.T) {
	for name, limit := range map[string]struct {
		headers []string
		wait    time.Duration // of the other kind
	}{
		"secondary": {[]string{"Retry-After: 90"}, 90 * time.Second},
		"budget":    {[]string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 946685400"}, 0}, // ten minutes into the bubble's year 2000
	} {
		for _, first := range []string{"REST", "GraphQL"} {
			synctest.Test(t, func(t *testing.T) {
				refused := false
				c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) {
					if !refused {
						refused = true
						return reply(403, "json", limit.headers...), nil
					}
					return reply(200, `{"data":{}}`), nil
				}))
				ask := map[string]func(ctx context.Context) error{
					"REST": func(ctx context.Context) error { return get(ctx, c, "meta") },
					"GraphQL": func(ctx context.Context) error {
						_, _, err := c.post(ctx, "query { viewer { login } }", nil)
						return err
					},
				}
				hurried, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				var told *RateLimitError
				if err := ask[first](hurried); !errors.As(err, &told) {
					t.Fatalf("%s: %v, want a rate limit", name, err)
				}
				other := map[string]string{"REST": "GraphQL", "GraphQL": "REST"}[first]
				start := time.Now()
				if err := ask[other](t.Context()); err != nil || time.Since(start) != limit.wait {
					t.Errorf("%s limit on %s: %s waited %s (%v), want %s", name, first, other, time.Since(start), err, limit.wait)
				}
			})
		}
	}
}

// TestWrongPath: where everything answers 404, as on a server at another path, nothing is known about an issue. Only a
// repository that answers has no such issue.
func TestWrongPath(t *testing.T) {
	server := simulated(t)
	lost := roundTrip(func(*http.Request) (*http.Response, error) { return reply(404, `{"message":"Not Found"}`), nil })
	noQueries := roundTrip(func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/graphql") {
			return reply(404, "html"), nil
		}
		return server.Transport().RoundTrip(r)
	})
	for name, c := range map[string]struct {
		next http.RoundTripper
		repo string
		want string
	}{
		"wrong path":               {lost, "app", "repository acme/app"},
		"no such repository":       {server.Transport(), "nowhere", "repository acme/nowhere"},
		"no such repository, REST": {noQueries, "nowhere", "repository acme/nowhere"},
		"no such issue":            {server.Transport(), "app", "issue acme/app#99"},
		"no such issue, by REST":   {noQueries, "app", "issue acme/app#99"},
	} {
		var gone *NotFoundError
		sent := watched(c.next)
		for _, r := range connect(t, sent).FactsOf(t.Context(), issuesOf(c.repo, 99, 98, 97)) {
			if !errors.As(r.Err, &gone) || strings.ReplaceAll(gone.What.String(), r.Facts.Issue.String(), "acme/app#99") != c.want {
				t.Errorf("%s: %v, want %s not found", name, r.Err, c.want)
			}
		}
		if n := sent.like("GET /repos/acme/" + c.repo + "/issues"); n > 3 || len(sent.sent)-n > 2 {
			t.Errorf("%s: sent %q, want the repository asked for once", name, sent.sent)
		}
	}
}

func issuesOf(repo string, numbers ...int) []claim.Issue {
	var out []claim.Issue
	for _, n := range numbers {
		out = append(out, issue(repo, n))
	}
	return out
}

// FuzzLinks: whatever a header holds, reading it ends; what is read as links is in the header; and what one link looks like does
// not change the one after it.
func FuzzLinks(f *testing.F) {
	for _, seed := range []string{"", `<a>; rel="next"`, `<a>; title="b, <c>; rel=next", <d>; REL=next`, `<`, `<a>; rel="\`, ",,;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		links, whole := parseLinks([]string{header})
		for _, l := range links {
			if !strings.Contains(header, "<"+l.target+">") {
				t.Fatalf("target %q is not in it", l.target)
			}
		}
		after, _ := parseLinks([]string{header + `, <https://h/2>; rel="next"`})
		if whole && !slices.Equal(after, append(slices.Clone(links), link{"https://h/2", "next"})) {
			t.Fatalf("%q then one more: %+v", links, after)
		}
	})
}
