package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/lease"
)

func get(ctx context.Context, c *Client, path string) error {
	_, err := c.Do(ctx, http.MethodGet, path, nil, nil)
	return err
}

// TestMovedWrites: through go-github on the plain net/http client a write to a moved repository
// reports success and changes nothing. Through ours it is an error, also with go-github's methods.
func TestMovedWrites(t *testing.T) {
	server := simulated(t)
	if err := server.RenameRepo("acme/app", "application"); err != nil {
		t.Fatal(err)
	}

	c := connect(t, server.Transport())
	var moved *MovedError
	_, _, err := c.rest.Issues.AddLabelsToIssue(t.Context(), "acme", "app", 1, []string{"bug"})
	if !errors.As(err, &moved) || moved.To == "" || !strings.HasSuffix(err.Error(), "it has moved to "+moved.To) {
		t.Errorf("add labels: error = %v, want one that says where to", err)
	}

	for name, err := range map[string]error{
		"add":     c.AddLabel(t.Context(), issue("app", 1), "bug"),
		"remove":  c.RemoveLabel(t.Context(), issue("app", 1), "agent:implement"),
		"comment": second(c.Comment(t.Context(), issue("app", 1), "hello")),
	} {
		if !errors.As(err, &moved) || !moved.Rejected() {
			t.Errorf("%s: error = %v, want moved", name, err)
		}
	}

	if f, err := c.Facts(t.Context(), issue("app", 1)); err != nil || f.Title != "Nobody's yet" {
		t.Errorf("read by the old name: %v, %v; want the issue", f.Title, err)
	}
}

// TestTransferredIssue: following a transferred issue would read one and write another.
func TestTransferredIssue(t *testing.T) {
	server := simulated(t)
	if _, err := server.TransferIssue("acme/app", 1, "bot", "acme/lib"); err != nil {
		t.Fatal(err)
	}

	if f, err := connect(t, server.Transport()).Facts(t.Context(), issue("app", 1)); err == nil {
		t.Errorf("facts = %+v, want an error", f)
	}
	var moved *MovedError
	followed := connect(t, spoiled(server.Transport(), `"number":2,`, `"number":3,`))
	if _, err := followed.Facts(t.Context(), issue("app", 2)); !errors.As(err, &moved) || moved.To == "" {
		t.Errorf("facts: error = %v, want one that says where to", err)
	}
	if err := connect(t, server.Transport()).AddLabel(t.Context(), issue("app", 1), "bug"); !errors.As(err, &moved) {
		t.Errorf("add label: error = %v, want moved", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestDryRun writes nothing, by any way.
func TestDryRun(t *testing.T) {
	server := simulated(t)
	c := connect(t, server.Transport(), func(o *Options) { o.DryRun = true })
	ctx := t.Context()
	for name, err := range map[string]error{
		"comment": second(c.Comment(ctx, issue("app", 1), "hello")),
		"edit":    second(c.EditComment(ctx, issue("app", 1), 2200000001, "hello")),
		"add":     c.AddLabel(ctx, issue("app", 1), "bug"),
		"remove":  c.RemoveLabel(ctx, issue("app", 1), "bug"),
		"create":  c.CreateLabel(ctx, repoOf("app"), c.o.Scheme.Definitions()[0]),
		"pause":   c.SetPause(ctx, repoOf("app"), pauseNow()),
		"unpause": second(c.ClearPause(ctx, repoOf("tools"))),
		"react":   c.React(ctx, repoOf("app"), 2200000001, "eyes"),
		"mutation": c.Query(ctx, "mutation { closeIssue(input: {issueId: \"x\"}) { clientMutationId } }", nil,
			&struct{}{}),
		"named":  operation(ctx, c, "query A { viewer { login } } mutation B { x }", "B"),
		"hidden": c.Query(ctx, "fragment F on User { login } mutation { x }", nil, &struct{}{}),
		"put":    second(c.Do(ctx, http.MethodPut, "repos/acme/app/issues/1/lock", nil, nil)),
	} {
		if err == nil || !lease.Rejected(err) || !strings.Contains(err.Error(), "dry run: ") {
			t.Errorf("%s: error = %v, want what was held back", name, err)
		}
	}

	if _, err := c.Facts(ctx, issue("app", 2)); err != nil {
		t.Errorf("reading: %v", err)
	}

	for _, r := range server.Requests() {
		if r.Writes() {
			t.Errorf("%s %s reached the server", r.Method, r.Path)
		}
	}
}

func operation(ctx context.Context, c *Client, document, name string) error {
	_, err := c.Do(ctx, http.MethodPost, "graphql", map[string]string{"query": document, "operationName": name}, nil)
	return err
}

// TestServerRepeatsToken: whatever part of an answer repeats the token, in whatever writing, no
// error shows it, nor does any cause of one, nor a warning.
func TestServerRepeatsToken(t *testing.T) {
	const token = "ghp_very+secret/0123456789"
	long := strings.Repeat("x", 190) + " " + token // the limit on the length of a message cuts the token
	asJSON, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}

	escaped := url.QueryEscape(token)

	answers := map[string]*http.Response{
		"auth":       reply(401, `{"message":"Bad credentials: `+token+`"}`),
		"permission": reply(403, `{"message":"no: `+token+`"}`),
		"needs":      reply(403, `{"message":"Resource not accessible by integration `+token+`"}`),
		"not found":  reply(404, `{"message":`+string(asJSON)+`}`),
		"status":     reply(422, `{"message":"no","errors":[{"code":"`+token+`","message":"`+token+`"}]}`),
		"strings":    reply(422, `{"message":"no","errors":["`+token+`"]}`),
		"fault":      reply(500, `{"message":"panic: Authorization: Bearer `+token+`"}`),
		"limit":      reply(429, `{"message":"slow down, `+token+`"}`, "Retry-After: 7200"),
		"moved":      reply(301, "json", "Location: https://elsewhere.example/"+token),
		"escaped":    reply(301, "json", "Location: https://elsewhere.example/"+escaped),
		"page":       reply(200, "html", "Content-Type: text/"+token),
		"shape":      reply(200, `{"login":{"`+token+`":1}}`),
		"warning": reply(200, `{"login":"me"}`, "X-RateLimit-Limit: 9", "X-RateLimit-Remaining: 1",
			"X-RateLimit-Reset: 9", "X-RateLimit-Resource: "+token),
		"query": reply(200, `{"data":null,"errors":[{"type":"`+token+`","message":"`+token+`"}]}`),
		"part": reply(200, `{"data":{"viewer":null},"errors":[{"type":"NOT_FOUND","path":["viewer"],"message":"`+
			token+`"}]}`),
		"query limit": reply(200, `{"errors":[{"type":"RATE_LIMIT","message":"`+token+`"}]}`,
			"X-RateLimit-Reset: "+strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)),
		"network": nil,
	}

	for name, answer := range answers {
		var texts []string
		c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) {
			if answer == nil {
				return nil, errors.New(long)
			}
			return answer, nil
		}), as(token), func(o *Options) { o.Warn = func(text string) { texts = append(texts, text) } })

		var into struct{ Login string }
		_, err := c.Do(t.Context(), http.MethodPost, "user", map[string]string{}, &into)
		if strings.Contains(name, "query") || name == "part" {
			err = c.Query(t.Context(), "mutation { viewer { login } }", nil, &into)
		}

		if err == nil && name != "warning" {
			t.Errorf("%s: no error", name)
		}
		texts = append(texts, everyText(err)...)
		if len(texts) == 0 {
			t.Errorf("%s: nothing was said", name)
		}

		for _, text := range texts {
			if strings.Contains(text, token) || strings.Contains(text, escaped) || strings.Contains(text, "ghp_very") {
				t.Errorf("%s: shown: %s", name, text)
			}
		}
	}
}

// TestTokenInAnswer: what was asked for is not changed, also where the token stands in it. A test's
// token may be a login.
func TestTokenInAnswer(t *testing.T) {
	const token = "ghp_verysecret0123456789"
	c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.Query().Get("page") == "2" {
			return reply(200, `[{"login":"last"}]`), nil
		}
		return reply(200, `[{"login":"`+token+`"}]`, `Link: <https://api.github.com/users?by=`+token+
			`&page=2>; rel="next"`), nil
	}), as(token))
	got, err := list[restUser](t.Context(), c, target{path: "users?by=" + token})
	if err != nil || len(got) != 2 || got[0].Login != token {
		t.Errorf("%+v, %v", got, err)
	}
}

// everyText is what an error and each of its causes say, and their fields.
func everyText(err error) (texts []string) {
	if err == nil {
		return nil
	}
	texts = append(texts, err.Error(), fmt.Sprintf("%+v", err))
	if v := reflect.Indirect(reflect.ValueOf(err)); v.Kind() == reflect.Struct {
		for n := range v.NumField() {
			texts = append(texts, fmt.Sprintf("%v", v.Field(n)))
		}
	}

	switch e := err.(type) {
	case interface{ Unwrap() error }:
		texts = append(texts, everyText(e.Unwrap())...)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			texts = append(texts, everyText(one)...)
		}
	}

	return texts
}

// TestTokenIsNeverShown prints everything there is to print.
func TestTokenIsNeverShown(t *testing.T) {
	const token = "ghp_verysecret0123456789"
	seen := map[string]string{}
	c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		seen[r.URL.Host+r.URL.Path] = r.Header.Get("Authorization")
		switch {
		case strings.HasSuffix(r.URL.Path, "/network"):
			return nil, fmt.Errorf("proxy did not like Bearer %s", token)
		case strings.HasSuffix(r.URL.Path, "/moved"):
			return reply(301, "json", "Location: https://elsewhere.example/x?token="+token), nil
		}

		return reply(401, "json"), nil
	}), as(token), func(o *Options) { o.Rand = func() float64 { return 0 } })
	var texts []string
	for _, path := range []string{"user?secret=q1", "network?secret=q1", "moved?secret=q1"} {
		err := second(c.Do(t.Context(), http.MethodPost, path, nil, nil))
		texts = append(texts, err.Error(), fmt.Sprintf("%v %+v", err, err))
		var moved *MovedError
		if errors.As(err, &moved) {
			texts = append(texts, moved.To)
		}
	}

	texts = append(texts, second(c.Do(t.Context(), http.MethodGet, "https://elsewhere.example/steal", nil,
		nil)).Error())
	encoded, err := json.Marshal(c.o.Token)
	texts = append(texts, string(encoded))
	for _, value := range []any{
		c, reflect.ValueOf(c.transport).Elem().Interface(), c.transport.o, c.o.Token, &c.o.Token,
		[]Secret{c.o.Token},
		c.transport, err,
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			texts = append(texts, fmt.Sprintf(verb, value))
		}
	}

	for _, text := range texts {
		if strings.Contains(text, token) || strings.Contains(text, fmt.Sprintf("%x", token)) ||
			strings.Contains(text, "q1") {
			t.Errorf("shown: %s", text)
		}
	}

	if seen["api.github.com/user"] != "Bearer "+token || seen["elsewhere.example/steal"] != "" {
		t.Errorf("sent %q, want the token to its own host and to no other", seen)
	}
}

// TestWritesOneAtATime: at most ten requests are under way, and one write.
func TestWritesOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		now, most := map[bool]int{}, map[bool]int{}
		c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			write := r.Method != http.MethodGet
			mu.Lock()
			now[write]++
			most[write] = max(most[write], now[write])
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now[write]--
			mu.Unlock()

			return reply(200, "json"), nil
		}))
		var all sync.WaitGroup
		for n := range 60 {
			method := http.MethodGet
			if n%3 == 0 {
				method = http.MethodDelete
			}

			all.Go(func() {
				if _, err := c.Do(t.Context(), method, "repos/acme/app", nil, nil); err != nil {
					t.Error(err)
				}
			})
		}

		all.Wait()
		if most[true] != 1 || most[false] > 10 || most[false] < 9 {
			t.Errorf("at most %d writes and %d reads at once, want 1 and up to 10", most[true], most[false])
		}
	})
}

// TestPaceOfPosts: never 80 in a minute nor 500 in an hour, whenever the posts come; the first
// ones do not wait.
func TestPaceOfPosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPacer()
		now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
		var posts []time.Time
		for range rapid.IntRange(1, 900).Draw(t, "posts") {
			if rapid.IntRange(0, 9).Draw(t, "idle") == 0 {
				now = now.Add(time.Duration(rapid.Int64Range(0, int64(20*time.Minute)).Draw(t, "gap")))
			}
			for d := p.take(now); d > 0; d = p.take(now) {
				now = now.Add(d)
			}

			posts = append(posts, now)
		}

		for k, at := range posts {
			if k >= 79 && at.Sub(posts[k-79]) < time.Minute {
				t.Fatalf("80 posts within %s", at.Sub(posts[k-79]))
			}

			if k >= 499 && at.Sub(posts[k-499]) < time.Hour {
				t.Fatalf("500 posts within %s", at.Sub(posts[k-499]))
			}

			if k < 10 && k > 0 && at != posts[k-1] && at.Sub(posts[0]) == 0 {
				t.Fatalf("post %d waited", k)
			}
		}
	})
}

// TestCommentsAreReallyPaced posts through the client: the pace is a wait, other writes have none.
func TestCommentsAreReallyPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := simulated(t)
		c := connect(t, server.Transport())
		start := time.Now()

		for n := range 100 {
			if _, err := c.Comment(t.Context(), issue("app", 1), "number "+strconv.Itoa(n)); err != nil {
				t.Fatal(err)
			}
		}

		if d := time.Since(start); d < 70*time.Second {
			t.Errorf("100 comments took %s", d)
		}
		short, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		var limit *RateLimitError
		if _, err := c.Comment(short, issue("app", 1), "too early"); !errors.As(err, &limit) || !limit.Rejected() {
			t.Errorf("error = %v, want a limit that says when", err)
		}

		before := time.Now()
		if err := c.AddLabel(t.Context(), issue("app", 1), "bug"); err != nil || time.Since(before) > 0 {
			t.Errorf("label: %v after %s, want no wait", err, time.Since(before))
		}
	})
}

// TestLimitStopsEverybody: once GitHub says "too fast" nobody asks before the time is over.
func TestLimitStopsEverybody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []time.Duration
		var once sync.Mutex
		start := time.Now()
		c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			once.Lock()
			defer once.Unlock()
			sent = append(sent, time.Since(start))
			if len(sent) == 1 {
				return reply(429, "json", "Retry-After: 50"), nil
			}

			return reply(200, "json"), nil
		}))
		var all sync.WaitGroup
		all.Go(func() { _ = get(t.Context(), c, "repos/acme/app") })
		synctest.Wait()
		all.Go(func() { _ = get(t.Context(), c, "repos/acme/lib") })
		all.Go(func() { _ = second(c.Do(t.Context(), http.MethodDelete, "repos/acme/x", nil, nil)) })
		short, cancel := context.WithTimeout(t.Context(), 49*time.Second)
		defer cancel()
		var limit *RateLimitError
		if err := get(short, c, "repos/acme/app"); !errors.As(err, &limit) || !limit.Exhausted() ||
			time.Since(start) != 0 {
			t.Errorf("error = %v after %s, want a limit at once", err, time.Since(start))
		}

		all.Wait()
		for k, at := range sent {
			if k > 0 && at < 50*time.Second {
				t.Errorf("request %d sent at %s", k, at)
			}
		}
	})
}

// TestLongerLimitStands: of two limits that are told at the same time the longer one holds, in
// either order.
func TestLongerLimitStands(t *testing.T) {
	for _, order := range [][]string{{"200", "5"}, {"5", "200"}} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			var mu sync.Mutex
			asked := 0
			var sent []time.Duration
			c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) {
				mu.Lock()
				n := asked
				asked++
				mu.Unlock()
				time.Sleep(time.Duration(1+n) * time.Second) // both are under way before either is answered
				if n < len(order) {
					return reply(http.StatusTooManyRequests, "json", "Retry-After: "+order[n]), nil
				}

				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, time.Since(start))
				return reply(http.StatusOK, "json"), nil
			}))

			var all sync.WaitGroup
			for _, path := range []string{"repos/acme/app", "repos/acme/lib"} {
				all.Go(func() {
					if err := get(t.Context(), c, path); err != nil {
						t.Error(err)
					}
				})
			}

			all.Wait()
			for _, at := range sent {
				if at < 201*time.Second {
					t.Errorf("told %s: a request was answered %s after the start, want none before 201 s", order, at)
				}
			}
		})
	}
}

// TestUsedUpBudgetIsPerResource: REST goes on while GraphQL waits, and go-github keeps no memory of
// its own.
func TestUsedUpBudgetIsPerResource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reset := strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)
		sent := watched(roundTrip(func(r *http.Request) (*http.Response, error) {
			status := 200
			if strings.HasSuffix(r.URL.Path, "/graphql") {
				status = 403
			}
			return reply(status, "json", "X-RateLimit-Limit: 5000", "X-RateLimit-Remaining: 0", "X-RateLimit-Reset: "+
				reset), nil
		}))
		c := connect(t, sent)
		var limit *RateLimitError
		if _, err := c.Viewer(t.Context()); !errors.As(err, &limit) || limit.Secondary {
			t.Errorf("query: error = %v, want the hourly limit", err)
		}

		for range 3 {
			if err := get(t.Context(), c, "repos/acme/app"); err != nil {
				t.Errorf("REST: %v", err)
			}
		}

		if len(sent.sent) != 4 {
			t.Errorf("sent %q, want 4 requests", sent.sent)
		}
	})
}

// TestEveryTryHasADeadline: a server that never answers costs so long and no longer.
func TestEveryTryHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		start := time.Now()
		var lost *NetworkError
		err := get(t.Context(), c, "repos/acme/app")
		if !errors.As(err, &lost) || lost.Rejected() || errors.Is(err, context.DeadlineExceeded) ||
			time.Since(start) != 47*time.Second {
			t.Errorf("read: %v after %s, want four tries of 10 s and 7 s between", err, time.Since(start))
		}

		start = time.Now()
		err = second(c.Do(t.Context(), http.MethodPost, "repos/acme/app/issues", nil, nil))
		if !errors.As(err, &lost) || lost.Rejected() || time.Since(start) != 20*time.Second {
			t.Errorf("write: %v after %s, want one try of 20 s", err, time.Since(start))
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := get(ctx, c, "repos/acme/app"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("caller's deadline: %v, want it wrapped", err)
		}
	})
}

// TestOneWarning: the budget is watched, and mentioned once.
func TestOneWarning(t *testing.T) {
	var warnings []string
	remaining := 103
	c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) {
		remaining--
		return reply(200, "json", "X-RateLimit-Limit: 5000", "X-RateLimit-Remaining: "+strconv.Itoa(remaining),
			"X-RateLimit-Reset: 1777640400", "X-RateLimit-Resource: core"), nil
	}), func(o *Options) { o.Warn = func(text string) { warnings = append(warnings, text) } })

	for range 10 {
		if err := get(t.Context(), c, "repos/acme/app"); err != nil {
			t.Fatal(err)
		}
	}

	if len(warnings) != 1 || !strings.Contains(warnings[0], "99 of 5000 core requests left until 13:00 UTC") {
		t.Errorf("warnings = %q, want one at 99", warnings)
	}
}
