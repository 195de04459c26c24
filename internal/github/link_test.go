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

// TestNextPage: the number of the next page, and whether there is one at all.
func TestNextPage(t *testing.T) {
	const next = "https://api.github.com/repos/acme/app/issues?page=2"
	for header, want := range map[string]int{
		"":                           0,
		`<` + next + `>; rel="next"`: 2,
		`<` + next + `>; rel=next`:   2,
		`<` + next + `>; REL="NEXT"`: 2,
		`<https://api.github.com/?page=9>; rel="last", <` + next + `>; rel="next"`:                      2,
		`<https://api.github.com/a,b?page=1>; rel="prev",<` + next + `>; rel="next"`:                    2,
		`<https://api.github.com/repositories/1/issues?after=Y3Vyc29y&page=2&per_page=100>; rel="next"`: 2,
		`<https://docs.github.com/deprecated>; rel="deprecation", <` + next + `>; rel="next"`:           2,
		`<` + next + `>; rel="last"`: 0,
		`<https://docs.github.com/deprecated>; rel="deprecation"; type="text/html"`: 0,
	} {
		for _, values := range [][]string{{header}, {`<https://docs.github.com/x>; rel="deprecation"`, header}} {
			if got := pageNumber(http.Header{"Link": values}, "next"); got != want {
				t.Errorf("%s: %d, want %d", header, got, want)
			}
			if more, err := another(http.Header{"Link": values}, 1); err != nil || more != (want > 0) {
				t.Errorf("%s: %t, %v; want another page: %t", header, more, err, want > 0)
			}
		}
	}

	for _, open := range []string{
		`<` + next, next + `; rel="next"`, `<` + next + `>; title="x"; rel="next"`,
		`<https://api.github.com/issues?after=Y3Vyc29y>; rel="next"`,
		`<https://api.github.com/issues?page=1>; rel="next"`, `<https://api.github.com/issues?page=1001>; rel="next"`,
	} {
		var answer *AnswerError
		if more, err := another(http.Header{"Link": {open}}, 1); strings.Contains(open, "next") &&
			!errors.As(err, &answer) || more {
			t.Errorf("%s: %t, %v; want an unusable answer and not the end of the list", open, more, err)
		}
	}
}

// TestNextPageElsewhere: a list leads to no other server and to no other place of the same one.
func TestNextPageElsewhere(t *testing.T) {
	for _, next := range []string{
		"https://elsewhere.example/repos/acme/app/labels?page=2", "http://api.github.com/repos/acme/app/labels?page=2",
		"//elsewhere.example/labels?page=2", "https://api.github.com:8443/labels?page=2",
		"https://api.github.com/user?page=2",
	} {
		var sent []string
		c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			sent = append(sent, r.URL.String())
			if len(sent) > 1 {
				return reply(200, `[]`), nil
			}
			return reply(200, `[]`, `Link: <`+next+`>; rel="next"`), nil
		}))
		want := []string{testREST + "repos/acme/app/labels?per_page=100", testREST +
			"repos/acme/app/labels?per_page=100&page=2"}
		if _, err := c.Labels(t.Context(), repoOf("app")); err != nil || !slices.Equal(sent, want) {
			t.Errorf("%s: %v after %q, want %q", next, err, sent, want)
		}
	}
}

// TestTokenNeedsItsScheme: a token for https://HOST is not sent to http://HOST, where everybody on
// the way reads it.
func TestTokenNeedsItsScheme(t *testing.T) {
	for address, want := range map[string]bool{
		"https://api.github.com/user": true, "https://API.github.com:443/user": true,
		"http://api.github.com/user":     false,
		"http://api.github.com:443/user": false, "https://api.github.com:80/user": false,
		"https://elsewhere.example/user": false,
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

// TestSecondaryLimitClosesEverything: who was too fast with one kind of request stays away with all
// of them; a budget that is used up closes its own kind only.
func TestSecondaryLimitClosesEverything(t *testing.T) {
	for name, limit := range map[string]struct {
		headers []string
		wait    time.Duration // of the other kind
	}{
		"secondary": {[]string{"Retry-After: 90"}, 90 * time.Second},
		// ten minutes into the bubble's year 2000
		"budget": {[]string{"X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 946685400"}, 0},
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
						return post(ctx, c, "query { viewer { login } }")
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
					t.Errorf("%s limit on %s: %s waited %s (%v), want %s", name, first, other, time.Since(start), err,
						limit.wait)
				}
			})
		}
	}
}

// TestNotFound: what GitHub does not show is named, and only a repository that answers has no such
// issue. Where everything answers 404, as on a server at another path, nothing is known about an
// issue.
func TestNotFound(t *testing.T) {
	server := simulated(t)
	for repo, want := range map[string]string{"nowhere": "repository acme/nowhere", "app": "issue acme/app#99"} {
		var gone *NotFoundError
		sent := watched(server.Transport())
		for _, r := range connect(t, sent).FactsOf(t.Context(), issuesOf(repo, 99, 98, 97)) {
			if !errors.As(r.Err, &gone) ||
				strings.ReplaceAll(gone.What.String(), r.Facts.Issue.String(), "acme/app#99") != want {
				t.Errorf("%v, want %s not found", r.Err, want)
			}
		}

		if len(sent.sent) != 1 {
			t.Errorf("sent %q, want one query", sent.sent)
		}
	}

	var alone *NotFoundError
	if _, err := connect(t, server.Transport()).Issue(t.Context(), issue("app", 99)); !errors.As(err, &alone) ||
		alone.What.String() != "issue acme/app#99" {
		t.Errorf("alone: %v, want issue acme/app#99 not found", err)
	}

	lost := watched(roundTrip(func(*http.Request) (*http.Response,
		error,
	) {
		return reply(404, `{"message":"Not Found"}`), nil
	}))

	for _, r := range connect(t, lost).FactsOf(t.Context(), issuesOf("app", 99, 98, 97)) {
		var gone *NotFoundError
		var none *NoGraphQLError
		if errors.As(r.Err, &gone) || !errors.As(r.Err, &none) {
			t.Errorf("wrong path: %v, want that nothing is known", r.Err)
		}
	}

	if len(lost.sent) != 1 {
		t.Errorf("wrong path: sent %q, want one query", lost.sent)
	}
}

func issuesOf(repo string, numbers ...int) []claim.Issue {
	var out []claim.Issue
	for _, n := range numbers {
		out = append(out, issue(repo, n))
	}
	return out
}

// TestWaitingIsTold: who waits longer than three seconds hears once what for and until when; a
// quick answer is not worth a word.
func TestWaitingIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		answer func() *http.Response
		slow   time.Duration
		want   string
	}{
		"secondary": {
			func() *http.Response {
				return reply(403, `{"message":"You have exceeded a secondary rate limit. Please wait."}`, "Retry-After: 40")
			}, 0,
			"GitHub's rate limit: You have exceeded a secondary rate limit. Please wait until 40s",
		},
		"slow": {
			func() *http.Response { return reply(200, "{}") }, 5 * time.Second,
			"an answer of api.example.com until 10s",
		},
		"quick": {func() *http.Response { return reply(200, "{}") }, 2 * time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, sent := time.Now(), 0
				way := roundTrip(func(*http.Request) (*http.Response, error) {
					time.Sleep(c.slow)
					if sent++; sent == 1 {
						return c.answer(), nil
					}
					return reply(200, "{}"), nil
				})
				var told []string
				client := connect(t, way, func(o *Options) {
					o.REST = "https://api.example.com/"
					o.Waiting = func(what string, until time.Time) {
						told = append(told, what+" until "+
							until.Sub(start).String())
					}
				})
				_, _, _ = fetch[struct{}](t.Context(), client, at(repoOf("app"), "/topics"))
				if got := strings.Join(told, "; "); got != c.want {
					t.Errorf("told %q, want %q", got, c.want)
				}
			})
		})
	}
}

// TestAddressOfAPull: what a browser adds to the address of a pull request is not part of it.
func TestAddressOfAPull(t *testing.T) {
	linked := connect(t, spoiled(simulated(t).Transport(), `"body":"Closes #3"`, `"body":"linked by hand"`))
	for number, bare := range map[int]bool{3: false, 1: true} {
		if p, err := linked.PullAt(t.Context(), "#7", issue("app", number)); err != nil || p.Number != 7 || p.Bare != bare {
			t.Errorf("for #%d: %+v, %v; want that it closes it: %t", number, p, err, !bare)
		}
	}

	want := pullID{Owner: "acme", Repo: "app", Number: 12}
	for _, more := range []string{"", "/", "/files", "?diff=split", "#discussion_r1", "/commits?x=1#y"} {
		if got, ok := parsePull("https://github.com/acme/app/pull/12"+more, "https://github.com"); !ok || got != want {
			t.Errorf("%q: %v %t", more, got, ok)
		}
	}

	for _, bad := range []string{"/pull/12x", "/pull/", "/pull/?12", "/pull/#12", "/issues/12", "?pull/12"} {
		if got, ok := parsePull("https://github.com/acme/app"+bad, "https://github.com"); ok {
			t.Errorf("%q is %v", bad, got)
		}
	}
}
