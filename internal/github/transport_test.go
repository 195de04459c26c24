package github

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// A roundTrip answers requests at the HTTP level.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// reply makes a response dated now. The body may be one of the table's words.
func reply(status int, body string, headers ...string) *http.Response {
	kind := "application/json; charset=utf-8"
	switch body {
	case "json":
		body = `{"message":"as GitHub says it"}`
	case "html":
		body, kind = "<html>unicorn</html>", "text/html"
	case "half":
		body = `{"number": 7, "tit`
	case "empty":
		body = ""
	}

	h := http.Header{"Content-Type": {kind}, "Date": {time.Now().UTC().Format(http.TimeFormat)}}
	for _, one := range headers {
		name, value, _ := strings.Cut(one, ": ")
		h.Set(name, value)
	}

	return &http.Response{
		StatusCode:    status,
		Header:        h,
		Body:          io.NopCloser(strings.NewReader(body)),
		ContentLength: int64(len(body)),
	}
}

// A row is one case of testdata/retry.txt.
type row struct {
	line             int
	request          string
	answers          []string
	headers          []string
	body, deadline   string
	sent             int
	waited           time.Duration
	result, rejected string
}

func TestRetryTable(t *testing.T) {
	rows := readRows(t, "testdata/retry.txt")
	if len(rows) < 80 {
		t.Fatalf("read %d rows, want the whole table", len(rows))
	}

	for _, r := range rows {
		t.Run(fmt.Sprintf("line %d %s %s", r.line, r.request, strings.Join(r.answers, ",")), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { r.check(t) })
		})
	}
}

func readRows(t *testing.T, name string) []row {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}

	defer file.Close()
	var rows []row
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}

		f := strings.Split(text, "|")
		if len(f) != 9 {
			t.Fatalf("%s:%d: %d columns, want 9", name, n, len(f))
		}

		for k := range f {
			f[k] = strings.TrimSpace(f[k])
		}

		r := row{
			line:     n,
			request:  f[0],
			answers:  strings.Split(f[1], ","),
			body:     f[3],
			deadline: f[4],
			result:   f[7],
			rejected: f[8],
		}
		r.headers = strings.FieldsFunc(f[2], func(c rune) bool { return c == ';' })
		var err1, err2 error
		r.sent, err1 = strconv.Atoi(f[5])
		r.waited, err2 = time.ParseDuration(f[6])
		if err := errors.Join(err1, err2, lines.Err()); err != nil {
			t.Fatalf("%s:%d: %v", name, n, err)
		}

		rows = append(rows, r)
	}

	return rows
}

func (r row) check(t *testing.T) {
	sent, asked := 0, ""
	c := connect(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		answer := r.answers[min(sent, len(r.answers)-1)]
		sent++
		asked = req.URL.String()
		return r.answer(req, answer)
	}), func(o *Options) { o.MaxWait = 2 * time.Hour })
	ctx := t.Context()
	if r.deadline != "-" {
		limit, err := time.ParseDuration(r.deadline)
		if err != nil {
			t.Fatal(err)
		}

		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}

	start := time.Now()
	err := r.do(ctx, c)
	if sent != r.sent || time.Since(start) != r.waited {
		t.Errorf("sent %d requests and waited %s, want %d and %s", sent, time.Since(start), r.sent, r.waited)
	}

	for _, one := range r.headers {
		if to, moved := strings.CutPrefix(one, "Location: "); moved && sent > 1 && !strings.HasSuffix(asked, to) {
			t.Errorf("asked %s in the end, want %s", asked, to)
		}
	}

	r.judge(t, err, start)
}

// answer is what the server says, with the row's headers while it is not well.
func (r row) answer(req *http.Request, kind string) (*http.Response, error) {
	body := r.body
	switch kind {
	case "network":
		here := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 50001}
		there := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 2), Port: 443}
		return nil, &net.OpError{
			Op:     "read",
			Net:    "tcp",
			Source: here,
			Addr:   there,
			Err:    syscall.ECONNRESET,
		}
	case "cut":
		resp := reply(200, "json")
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, broken{}))
		return resp, nil
	case "short":
		resp := reply(200, "json")
		resp.ContentLength++
		return resp, nil
	case "limited":
		kind = "200"
	case "204":
		body = "empty"
	case "200", "201":
		if len(r.answers) > 1 {
			return reply(200, "json"), nil
		}
	}

	status, err := strconv.Atoi(kind)
	if err != nil {
		return nil, err
	}

	resp := reply(status, body)
	for _, one := range r.headers {
		name, value, _ := strings.Cut(strings.TrimSpace(one), ": ")
		resp.Header.Set(name, moment(name, value))
	}

	return resp, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// moment turns +N and -N into what the header shows for it.
func moment(name, value string) string {
	if value[0] != '+' && value[0] != '-' {
		return value
	}
	seconds, err := strconv.Atoi(value)
	if err != nil {
		return value
	}

	at := time.Now().Add(time.Duration(seconds) * time.Second)
	if name == "X-RateLimit-Reset" {
		return strconv.FormatInt(at.Unix(), 10)
	}

	return at.UTC().Format(http.TimeFormat)
}

// post sends a query, whatever its answer says.
func post(ctx context.Context, c *Client, query string) error {
	return second(c.Do(ctx, http.MethodPost, c.o.GraphQL, map[string]string{"query": query}, nil))
}

func (r row) do(ctx context.Context, c *Client) error {
	const path = "repos/acme/app/issues/7"
	switch r.request {
	case "QUERY":
		return post(hinted(ctx, reading), c, "query { viewer { login } }")

	case "MUTATION":
		return post(ctx, c, "mutation { addStar(input: {}) { clientMutationId } }")

	case "LESS":
		return post(hinted(replaceable(ctx), reading), c, "query { viewer { login } }")

	case "STORED":
		_, err := c.Do(hinted(hinted(ctx, justCreated), repeatable), http.MethodPost, path,
			map[string]string{"tree": "t"}, nil)
		return err

	case "FRESH":
		_, err := c.Do(hinted(ctx, justCreated), http.MethodGet, path, nil, nil)
		return err

	case http.MethodGet, http.MethodDelete:
		_, err := c.Do(ctx, r.request, path, nil, nil)
		return err
	}

	_, err := c.Do(ctx, r.request, path, map[string]string{"body": "hello"}, nil)
	return err
}

func (r row) judge(t *testing.T, err error, start time.Time) {
	if r.result == "ok" {
		if err != nil {
			t.Errorf("error = %v, want none", err)
		}
		return
	}

	kind, at, timed := strings.Cut(r.result, " at +")
	if got := strings.TrimPrefix(fmt.Sprintf("%T", err), "*github."); got != kind {
		t.Fatalf("error = %T: %v, want %s", err, err, kind)
	}

	if strings.Contains(err.Error(), "50001") {
		t.Errorf("%v: names our own port", err)
	}

	var decided interface{ Rejected() bool }
	if !errors.As(err, &decided) || strconv.FormatBool(decided.Rejected()) != r.rejected {
		t.Errorf("%v: want rejected to be %s", err, r.rejected)
	}

	if timed {
		var limit *RateLimitError
		if !errors.As(err, &limit) || time.Until(limit.At) < 0 {
			t.Fatalf("error = %v, want one that says when to come back", err)
		}

		if back := int(time.Until(limit.At).Seconds()); strconv.Itoa(back) != at {
			t.Errorf("come back in %d s, want %s", back, at)
		}
	}
}

// TestGivingUpIsObeying: a request that has waited for a limit as often or as long as it may gives
// up, and what it was told last holds for the next one all the same (found by internal/simulation).
func TestGivingUpIsObeying(t *testing.T) {
	play := func(t *testing.T, most, want time.Duration) {
		start := time.Now()
		var until time.Time
		c := connect(t, roundTrip(func(*http.Request) (*http.Response, error) {
			if time.Now().Before(until) {
				t.Errorf("a request %s early", time.Until(until))
			}
			until = time.Now().Add(90 * time.Second)
			return reply(http.StatusForbidden, "json", "Retry-After: 90"), nil
		}), func(o *Options) { o.MaxWait = most })

		for range 3 {
			var limit *RateLimitError
			if _, err := c.Do(t.Context(), http.MethodGet, "meta", nil, nil); !errors.As(err, &limit) ||
				limit.RetryAfter != 90*time.Second {
				t.Errorf("%v", err)
			}
		}

		if d := time.Since(start); d != want {
			t.Errorf("at most %s: waited %s, want %s", most, d, want)
		}
	}
	synctest.Test(t, func(t *testing.T) { play(t, time.Hour, 990*time.Second) })
	synctest.Test(t, func(t *testing.T) { play(t, 2*time.Minute, 270*time.Second) })
}

// TestBackoff: twice as long each time, and up to a tenth more.
func TestBackoff(t *testing.T) {
	for n, want := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		if got := backoff(n, 0); got != want {
			t.Errorf("backoff(%d, 0) = %s, want %s", n, got, want)
		}
	}

	if got := backoff(1, 0.5); got != 2100*time.Millisecond {
		t.Errorf("backoff(1, 0.5) = %s, want 2.1s", got)
	}
}

// TestLimitsAreShared: what GitHub has told one client of a program keeps the others away as well,
// with the same token at the same GitHub and with no other.
func TestLimitsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits, sent := &Limits{}, 0
		far := roundTrip(func(*http.Request) (*http.Response, error) {
			sent++
			answer := reply(403, `{"message":"You have exceeded a secondary rate limit"}`)
			answer.Header.Set("Retry-After", "600")
			return answer, nil
		})
		shared := func(o *Options) { o.Limits = limits }
		elsewhere := func(o *Options) { o.REST = "https://ghe.example/api/v3/" }

		for n, c := range []*Client{
			connect(t, far, shared), connect(t, far, shared), connect(t, far, shared, as("tok-other")),
			connect(t, far, shared, elsewhere), connect(t, far), connect(t, far, shared, as("")),
			connect(t, far, shared),
		} {
			before := sent
			_, err := c.Repository(t.Context(), repoOf("app"))
			var limit *RateLimitError
			if !errors.As(err, &limit) || (sent > before) != (n != 1 && n != 6) {
				t.Errorf("client %d sent %d requests: %v", n, sent-before, err)
			}
		}
	})
}
