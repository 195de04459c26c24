package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/sample"
)

// loaded is a repository with so many issues in flight, each claimed and with so many comments
// besides. Every seventh names a blocker, every ninth a pull request, and the claim of every fifth
// is tia's, who has edited it.
func loaded(t *testing.T, issues int, talk func(number int) int) *githubsim.Server {
	t.Helper()
	repo := githubsim.SeedRepo{Name: "acme/app"}
	for n := 1; n <= issues; n++ {
		at := day("08:00:00").Add(time.Duration(n*7919%issues) * time.Second)
		one := githubsim.SeedIssue{
			Number:    n,
			Title:     fmt.Sprint("Issue ", n),
			Author:    "bot",
			Labels:    []string{"agent:in-flight"},
			CreatedAt: &at,
			UpdatedAt: &at,
		}

		one.Comments = []githubsim.SeedComment{{
			Author: "bot", CreatedAt: &at,
			Body: fmt.Sprintf("<!-- agent-claim:codename=c firing_id=f%d nonce=n ttl=1800 state=held -->", n),
		}}

		if n%5 == 0 {
			later := at.Add(time.Hour)
			one.Comments[0].Author, one.Comments[0].UpdatedAt = "tia", &later
		}

		for range talk(n) {
			one.Comments = append(one.Comments, githubsim.SeedComment{Author: "mal", CreatedAt: &at, Body: "any news?"})
		}

		if n%7 == 0 {
			one.Body = fmt.Sprintf("Blocked by #%d", n-1)
		}

		if n%9 == 0 {
			one.Comments = append(one.Comments, githubsim.SeedComment{
				Author: one.Comments[0].Author, CreatedAt: &at,
				Body: fmt.Sprintf("<!-- agent-release:codename=c firing_id=f%d outcome=success pr=https://github.com/acme/app/pull/%d -->", n, issues+1),
			})
		}

		repo.Issues = append(repo.Issues, one)
	}

	repo.Pulls = []githubsim.SeedPull{{SeedIssue: githubsim.SeedIssue{
		Number: issues + 1, Title: "Fix it",
		Author: "bot",
	}, Head: "fix"}}
	server, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{
			{
				Login: "bot", Token: "tok-bot",
				Permissions: map[string]string{"acme/app": "admin"},
			},
			{Login: "mal"},
			{Login: "tia", Permissions: map[string]string{"acme/app": "triage"}},
		},
		Repos: []githubsim.SeedRepo{repo},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return server
}

func always(n int) func(int) int { return func(int) int { return n } }

// limited makes every GraphQL query meet a fault.
func limited(server *githubsim.Server, f githubsim.Fault) {
	server.Fault = func(r *http.Request) *githubsim.Fault {
		if !strings.HasSuffix(r.URL.Path, "/graphql") {
			return nil
		}
		return &f
	}
}

// complete checks that the facts of an issue of a loaded repository are all there.
func complete(t *testing.T, f lifecycle.Facts) {
	t.Helper()
	n := f.Issue.Number
	ended := n%9 == 0
	if len(f.Log.Claims) != 1 || (len(f.Log.Live()) == 1) == ended ||
		f.Log.Claims[0].Author != map[bool]string{true: "tia", false: "bot"}[n%5 == 0] || (len(f.PRs) == 1) != ended ||
		(len(f.Blockers) == 1) != (n%7 == 0) {
		t.Errorf("%s: %+v, pull requests %v, blockers %v", f.Issue, f.Log.Claims, f.PRs, f.Blockers)
	}
}

// TestScanBends: whatever GitHub allows one query, a scan of a thousand heavy issues reads every
// one of them, and what it has learned about the size of a page it need not learn again. Limits and
// answers as in TestResourceLimits and TestQueryTimeout of githubsim.
func TestScanBends(t *testing.T) {
	for name, c := range map[string]struct {
		fault        githubsim.Fault
		issues, talk int
		first, again int // requests at most
	}{
		"no limit": {githubsim.Fault{}, 120, 12, 12, 8},
		"nodes": {
			githubsim.Fault{QueryNodes: 900},
			sample.Size(250, 1000), 12,
			sample.Size(24, 84), sample.Size(18, 62),
		},
		"connections":                   {githubsim.Fault{QueryConnections: 150}, 120, 12, 24, 17},
		"a 502 after so many nodes":     {githubsim.Fault{QueryTimeout: 300}, 120, 12, 24, 17},
		"a 504 after so many nodes":     {githubsim.Fault{QueryTimeout: 300, Status: 504}, 120, 12, 24, 17},
		"single reads":                  {githubsim.Fault{QueryNodes: 20}, 30, 12, 110, 110},
		"a 502 for all but single ones": {githubsim.Fault{QueryTimeout: 20}, 30, 12, 110, 110},
	} {
		if name != "nodes" && !sample.Plays(name, 4, 5) {
			continue
		}

		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := loaded(t, c.issues, always(c.talk))
				limited(server, c.fault)
				sent := watched(server.Transport())
				client := connect(t, sent)
				for _, most := range []int{c.first, c.again} {
					before := len(sent.sent)
					seen := map[int]bool{}
					for _, f := range scan(t, client, repoOf("app"), time.Time{}) {
						seen[f.Issue.Number] = true
						complete(t, f)
					}

					if n := len(sent.sent) - before; len(seen) != c.issues || n > most {
						t.Errorf("%d issues read in %d requests, want %d in at most %d", len(seen), n, c.issues, most)
					}
				}
			})
		})
	}
}

// TestOneMonster: one issue that is too much by itself is named, and does not make the snapshot of
// all others slow.
func TestOneMonster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := loaded(t, 200, always(1))
		sent := watched(unreadable(server,
			func(*http.Request) (*http.Response, error) { return reply(502, "html"), nil }, 137))
		client := connect(t, sent)
		found := 0
		for f, err := range client.Scan(t.Context(), repoOf("app"), time.Time{}) {
			if found++; (err != nil) != (f.Issue.Number == 137) {
				t.Errorf("%s: %v", f.Issue, err)
			}
			if err == nil {
				complete(t, f)
			}
		}

		if n := len(sent.sent); found != 200 || n > 40 {
			t.Errorf("%d issues told of after %d requests, want 200 in at most 40", found, n)
		}

		before := len(sent.sent)
		for _, r := range client.FactsOf(t.Context(), fifty()) {
			complete(t, r.Facts)
		}

		if n := len(sent.sent) - before; n != 3 { // one more each for the blockers and the pull requests that they name
			t.Errorf("fifty other issues took %d requests, want 3", n)
		}
	})
}

// fifty are the first issues of a loaded repository.
func fifty() (issues []claim.Issue) {
	for n := range 50 {
		issues = append(issues, issue("app", n+1))
	}
	return issues
}

// TestBatchesBend: many issues asked for by name, as the hook does, and what they name.
func TestBatchesBend(t *testing.T) {
	for name, fault := range map[string]githubsim.Fault{
		"nodes": {QueryNodes: 100}, "connections": {QueryConnections: 40}, "502": {QueryTimeout: 100},
		"one":                {QueryNodes: 14},
		"every second query": {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := loaded(t, 50, always(8))
				limited(server, fault)
				var asked atomic.Int64
				sent := watched(roundTrip(func(r *http.Request) (*http.Response, error) {
					if n := asked.Add(1); name == "every second query" && n%2 == 1 {
						return reply(502, "html"), nil
					}
					return server.Transport().RoundTrip(r)
				}))
				c := connect(t, sent)
				for _, r := range c.FactsOf(t.Context(), fifty()) {
					if r.Err != nil {
						t.Errorf("%s: %v", r.Facts.Issue, r.Err)
						continue
					}
					complete(t, r.Facts)
				}

				if n := c.bearable("", perQuery); n == perQuery && name != "every second query" {
					t.Error("that fifty are too much is not remembered")
				}
				time.Sleep(measureFor + time.Second)
				if n := c.bearable("", perQuery); n != perQuery {
					t.Errorf("long after it only %d are asked for", n)
				}
			})
		})
	}
}

// TestOutageEndsTheBatch: where GitHub answers nothing the issues of a batch are not all asked for
// one by one.
func TestOutageEndsTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := watched(roundTrip(func(*http.Request) (*http.Response, error) { return reply(502, "html"), nil }))
		for _, r := range connect(t, sent).FactsOf(t.Context(), fifty()) {
			if r.Err == nil {
				t.Errorf("%s: read", r.Facts.Issue)
			}
		}

		if n := len(sent.sent); n > 40 {
			t.Errorf("%d requests, want at most 40", n)
		}

		sent.sent = nil
		branches := strings.Fields(strings.Repeat("fix ", 50))
		if _, err := connect(t, sent).HoldersOfHeads(t.Context(), repoOf("app"), repoOf("app"), branches); err == nil || len(sent.sent) > 30 {
			t.Errorf("branches: %v after %d requests, want at most 30", err, len(sent.sent))
		}
	})
}

// TestLongTalkBends: comments beyond the first page come in pages that GitHub bears.
func TestLongTalkBends(t *testing.T) {
	for _, nodes := range []int{90, 40, 20} {
		synctest.Test(t, func(t *testing.T) {
			server := loaded(t, 1, always(300))
			limited(server, githubsim.Fault{QueryTimeout: nodes})
			f, err := connect(t, server.Transport()).Facts(t.Context(), issue("app", 1))
			if err != nil {
				t.Fatal(err)
			}

			complete(t, f)
		})
	}
}

// TestMoreThanOfMany: an issue whose lists are longer than what is asked of many at once is read by
// itself.
func TestMoreThanOfMany(t *testing.T) {
	server := loaded(t, 3, always(1))
	var names []string
	for n := range 40 {
		names = append(names, fmt.Sprint("topic ", n))
	}

	if err := server.AddLabels("acme/app", 2, "bot", names...); err != nil {
		t.Fatal(err)
	}
	sent := watched(server.Transport())
	c := connect(t, sent)
	for _, f := range scan(t, c, repoOf("app"), time.Time{}) {
		if want := map[bool]int{true: 41, false: 1}[f.Issue.Number == 2]; len(f.Labels) != want {
			t.Errorf("%s has %d labels, want %d", f.Issue, len(f.Labels), want)
		}
	}

	if n := len(sent.sent); n != 2 {
		t.Errorf("%d requests, want the page and the one issue", n)
	}

	for _, r := range c.FactsOf(t.Context(), []claim.Issue{issue("app", 1), issue("app", 2)}) {
		if r.Err != nil || len(r.Facts.Labels) != map[int]int{1: 1, 2: 41}[r.Facts.Issue.Number] {
			t.Errorf("%s: %d labels, %v", r.Facts.Issue, len(r.Facts.Labels), r.Err)
		}
	}
}

// TestSlowQuery: a query that GitHub works on for longer than we wait for one try is asked for in
// smaller parts, not again.
func TestSlowQuery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := loaded(t, 40, always(1))
		tries := 0
		c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			if asks(t, r, "nodes { __typename ...I }") && !asks(t, r, "first: 50, orderBy") {
				tries++
				<-r.Context().Done()
				return nil, r.Context().Err()
			}
			return server.Transport().RoundTrip(r)
		}))
		start := time.Now()
		if found := scan(t, c, repoOf("app"), time.Time{}); len(found) != 40 || tries != 1 ||
			time.Since(start) > 11*time.Second {
			t.Errorf("%d issues after %d slow queries and %s, want 40 after 1 and the time of one try", len(found),
				tries, time.Since(start))
		}
	})
}

// TestWhatCannotBeRead is named: an issue that GitHub cannot answer with, whatever page of it is
// asked for, is that issue's error, and the others are read. Why it is too much makes no
// difference.
func TestWhatCannotBeRead(t *testing.T) {
	limits := `{"errors":[{"type":"RESOURCE_LIMITS_EXCEEDED","message":"Resource limits for this query exceeded."}],"data":null}`
	for name, c := range map[string]struct {
		answer func(*http.Request) (*http.Response, error)
		says   string
	}{
		"fails": {
			func(*http.Request) (*http.Response, error) { return reply(502, "html"), nil },
			"GitHub could not answer (HTTP 502",
		},
		"too heavy": {
			func(*http.Request) (*http.Response, error) { return reply(200, limits), nil },
			"RESOURCE_LIMITS_EXCEEDED",
		},
		"too large": {func(*http.Request) (*http.Response, error) {
			resp := reply(200, "json")
			resp.Body = io.NopCloser(&endless{maxAnswer + 1, nil})
			return resp, nil
		}, "an answer of more than"},
		"too slow": {func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, "nothing within 10s"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := loaded(t, 60, always(1))
				sent := watched(unreadable(server, c.answer, 17, 44))
				var bad []int
				good := 0
				for f, err := range connect(t, sent).Scan(t.Context(), repoOf("app"), time.Time{}) {
					if err == nil {
						good++
						continue
					}

					bad = append(bad, f.Issue.Number)
					if !strings.Contains(err.Error(), fmt.Sprintf("read acme/app#%d: ", f.Issue.Number)) ||
						!strings.Contains(err.Error(), c.says) {
						t.Errorf("error = %v, want it to name the issue and the cause", err)
					}
				}

				slices.Sort(bad)
				if good != 58 || !slices.Equal(bad, []int{17, 44}) {
					t.Errorf("%d read, not %v; want 58, not 17 and 44", good, bad)
				}

				if n := len(sent.sent); n > 50 {
					t.Errorf("%d requests, want at most 50", n)
				}
			})
		})
	}

	t.Run("long ones", func(t *testing.T) { // three, but not one after the other
		synctest.Test(t, func(t *testing.T) {
			fails := func(*http.Request) (*http.Response, error) { return reply(502, "html"), nil }
			c := connect(t, unreadable(loaded(t, 7, always(120)), fails, 1, 3, 5))
			for _, r := range c.FactsOf(t.Context(), fifty()[:7]) {
				if n := r.Facts.Issue.Number; (r.Err != nil) != (n == 1 || n == 3 || n == 5) {
					t.Errorf("#%d: %v", n, r.Err)
				}
			}
		})
	})
}

// unreadable answers so to whatever shows the comments of one of the issues, however it was asked.
func unreadable(server *githubsim.Server,
	answer func(*http.Request) (*http.Response, error), numbers ...int,
) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := server.Transport().RoundTrip(r)
		if err != nil {
			return nil, err
		}

		body, err := io.ReadAll(resp.Body)
		for _, n := range numbers {
			if strings.Contains(string(body), fmt.Sprintf("firing_id=f%d ", n)) {
				return answer(r)
			}
		}

		resp.Body = io.NopCloser(strings.NewReader(string(body)))
		return resp, err
	})
}

// TestOutageNamesTheRest: where GitHub answers nothing any more the scan ends soon, and between
// what was read, what failed and what it names as not read there is every issue, once.
func TestOutageNamesTheRest(t *testing.T) {
	for name, out := range map[string]struct {
		answer func() *http.Response
		kind   any
	}{
		"502":   {func() *http.Response { return reply(502, "html") }, new(*StatusError)},
		"token": {func() *http.Response { return reply(401, "json") }, new(*AuthError)},
		"limit": {func() *http.Response { return reply(403, "json", "Retry-After: 4000") }, new(*RateLimitError)},
	} {
		for n, after := range []int{3, 4, 6} {
			if !sample.Plays(name, n, 3) {
				continue
			}

			t.Run(fmt.Sprint(name, " after ", after), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := loaded(t, 120, always(60))
					var requests atomic.Int64
					c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
						if requests.Add(1) > int64(after) {
							return out.answer(), nil
						}
						return server.Transport().RoundTrip(r)
					}))
					seen := map[int]int{}
					var end *UnreadError
					for f, err := range c.Scan(t.Context(), repoOf("app"), time.Time{}) {
						switch {
						case f.Issue.Number != 0:
							seen[f.Issue.Number]++
							if err == nil {
								complete(t, f)
							}
						case !errors.As(err, &end) || !errors.As(err, out.kind):
							t.Errorf("error = %v, want one that names the issues and the cause", err)
						}
					}

					if end == nil {
						t.Fatal("the scan did not say that it ended early")
					}

					for _, n := range end.Numbers {
						seen[n]++
					}

					for n := 1; n <= 120; n++ {
						if seen[n] != 1 {
							t.Errorf("#%d: told of %d times, want once", n, seen[n])
						}
					}

					if n := int(requests.Load()); n > after+60 {
						t.Errorf("%d requests into the outage, want it to stop", n-after)
					}
				})
			})
		}
	}
}

func TestSpans(t *testing.T) {
	for want, numbers := range map[string][]int{
		"": nil, "#7": {7}, "#7, #8": {8, 7},
		"#1 to #3, #5, #9 to #12": {5, 3, 2, 1, 9, 10, 12, 11},
	} {
		if got := spans(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}

// TestHalves: whatever weighs how much, every item is asked for, each once with success or alone,
// and the number of queries stays small beside that of the items.
func TestHalves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.IntRange(1, 30), 1, 300).Draw(t, "weights")
		bears := rapid.IntRange(1, 400).Draw(t, "bears")
		items := make([]int, len(weights))
		for n := range items {
			items[n] = n
		}

		done := make([]int, len(weights))
		queries := 0
		h := halves[int]{
			ask: func(_ context.Context, part []int) error {
				queries++
				sum := 0
				for _, n := range part {
					sum += weights[n]
				}

				if sum > bears {
					return &QueryError{Type: "RESOURCE_LIMITS_EXCEEDED"}
				}

				for _, n := range part {
					done[n]++
				}

				return nil
			},
			alone: func(_ context.Context, n int, _ error) error {
				if weights[n] <= bears {
					t.Fatalf("item %d of %d is read alone where %d are borne", n, weights[n], bears)
				}
				done[n]++
				return nil
			},
		}
		err := h.read(context.Background(), items, 50)

		for n, times := range done {
			if err != nil || times != 1 {
				t.Fatalf("item %d: read %d times, %v", n, times, err)
			}
		}

		if queries > 2*len(items) {
			t.Fatalf("%d queries for %d items", queries, len(items))
		}
	})
}
