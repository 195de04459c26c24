package simulation

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A gauge measures what accounts ask of GitHub, independently of the simulator's own limits.
type gauge struct {
	mu       sync.Mutex
	requests int
	refused  int // 403 and 429
	early    int // sent before the process had been told to come back
	row      int // most refusals of one thing, one after the other
	accounts map[string]*usage
}

// usage is one account's.
type usage struct {
	core, query, points, queryPoints, content []time.Time // one for each request, or point
	busy, atOnce                              int
}

func newGauge() *gauge { return &gauge{accounts: map[string]*usage{}} }

func (g *gauge) of(account string) *usage {
	u := g.accounts[account]
	if u == nil {
		u = &usage{}
		g.accounts[account] = u
	}
	return u
}

// most is how many of the moments lie within one span, at the worst.
func most(moments []time.Time, span time.Duration) (n int) {
	moments = slices.SortedFunc(slices.Values(moments), time.Time.Compare) // they were noted when the answers came
	first := 0
	for last, at := range moments {
		for !moments[first].Add(span).After(at) {
			first++
		}
		n = max(n, last-first+1)
	}

	return n
}

// hourly is how many of the moments lie within one hour of those that the budget is for, the first
// of which begins with the first request.
func hourly(moments []time.Time) (n int) {
	for len(moments) > 0 {
		k := 0
		for k < len(moments) && moments[k].Before(moments[0].Add(time.Hour)) {
			k++
		}
		n, moments = max(n, k), moments[k:]
	}

	return n
}

// within complains about accounts that GitHub served beyond its published limits.
func (g *gauge) within(t *testing.T) {
	t.Helper()
	for account, u := range g.accounts {
		for _, l := range []struct {
			what      string
			got, most int
		}{
			{"REST requests in an hour", hourly(u.core), 5000},
			{"GraphQL requests in an hour", hourly(u.query), 5000},
			{"REST points in a minute", most(u.points, time.Minute), 900},
			{"GraphQL points in a minute", most(u.queryPoints, time.Minute), 2000},
			{"comments in a minute", most(u.content, time.Minute), 80},
			{"comments in an hour", most(u.content, time.Hour), 500},
			{"requests at once", u.atOnce, 100},
		} {
			if l.got > l.most {
				t.Errorf("%s: %d %s, the limit is %d", account, l.got, l.what, l.most)
			}
		}
	}
}

// worst is the largest of some count over all accounts.
func (g *gauge) worst(of func(*usage) int) (n int) {
	for _, u := range g.accounts {
		n = max(n, of(u))
	}
	return n
}

// report is the day in one paragraph.
func (f *fleet) report() string {
	g := f.gauge
	return fmt.Sprintf("%d workers, %d accounts: %d issues done in %s with %d requests, %.1f for each; refused %d, early %d, most in a row %d. "+
		"The busiest account: %d REST and %d GraphQL requests an hour, %d and %d points a minute, %d comments a minute and %d an hour, %d at once.",
		f.workers, len(g.accounts), f.done, f.spent.Round(time.Minute), g.requests,
		float64(g.requests)/float64(max(1, f.done)), g.refused, g.early, g.row,
		g.worst(func(u *usage) int { return hourly(u.core) }), g.worst(func(u *usage) int { return hourly(u.query) }),
		g.worst(func(u *usage) int { return most(u.points, time.Minute) }),
		g.worst(func(u *usage) int { return most(u.queryPoints, time.Minute) }),
		g.worst(func(u *usage) int { return most(u.content, time.Minute) }),
		g.worst(func(u *usage) int { return most(u.content, time.Hour) }),
		g.worst(func(u *usage) int { return u.atOnce }))
}

// A line carries the requests of one process and remembers when it was told to come back.
type line struct {
	*fleet
	account string
	rng     *rand.Rand
	closed  map[string]time.Time // until when, by resource; "" is everything
	last    string
	row     int
}

// RoundTrip implements http.RoundTripper.
func (l *line) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := sent(r)
	if err != nil {
		return nil, err
	}
	if err := l.sleep(r.Context(), 1); err != nil { // an instant of its own
		return nil, err
	}

	resource := "core"
	if strings.HasSuffix(r.URL.Path, "/graphql") {
		resource = "graphql"
	}

	fault := l.weather(l.rng)
	fault.Delay, fault.DelayAnswer = way(l.rng), way(l.rng)
	at := l.leave(resource)
	resp, err := l.server.Transport().RoundTrip(r.WithContext(context.WithValue(r.Context(), faultKey{}, &fault)))
	l.back(r, resource, body, at, resp)

	return resp, err
}

// leave counts a request on its way, and whether it should have waited.
func (l *line) leave(resource string) time.Time {
	g := l.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests++
	now := time.Now()
	if now.Before(l.closed[resource]) || now.Before(l.closed[""]) {
		g.early++
	}

	g.of(l.account).busy++
	return now
}

// back counts what GitHub served, and remembers what it announced.
func (l *line) back(r *http.Request, resource, body string, at time.Time, resp *http.Response) {
	g := l.gauge
	g.mu.Lock()
	defer g.mu.Unlock()
	u := g.of(l.account)
	defer func() { u.busy-- }()
	if resp == nil {
		return
	}
	if resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusTooManyRequests || limitedQuery(resp) {
		l.turnedAway(r, resource, body, resp.Header)
		return
	}

	l.row = 0
	u.atOnce = max(u.atOnce, u.busy)
	u.count(r, resource, body, at)
}

// limitedQuery reports whether a GraphQL answer, which is 200, says that the hour's points are
// spent.
func limitedQuery(resp *http.Response) bool {
	text, err := io.ReadAll(resp.Body)
	resp.Body = io.NopCloser(bytes.NewReader(text))
	return err == nil && bytes.Contains(text, []byte(`"graphql_rate_limit"`))
}

func (u *usage) count(r *http.Request, resource, body string, at time.Time) {
	all, points, mutates := &u.core, &u.points, strings.Contains(body, "mutation")
	if resource == "graphql" {
		all, points = &u.query, &u.queryPoints
	} else {
		mutates = r.Method != http.MethodGet
	}

	*all, *points = append(*all, at), append(*points, at)
	if mutates {
		*points = append(*points, at, at, at, at)
	}

	if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/comments") || resource == "graphql" &&
		strings.Contains(body, "addComment(") {
		u.content = append(u.content, at)
	}
}

// turnedAway counts a refusal and notes until when the process is not to ask again.
func (l *line) turnedAway(r *http.Request, resource, body string, h http.Header) {
	g := l.gauge
	g.refused++
	if this := r.Method + r.URL.Path + body; this != l.last {
		l.last, l.row = this, 0
	}

	l.row++
	g.row = max(g.row, l.row)
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); err == nil {
		l.closed[""] = time.Now().Add(time.Duration(seconds) * time.Second)
		return
	}

	reset, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err == nil && h.Get("X-RateLimit-Remaining") == "0" {
		l.closed[resource] = time.Unix(reset, 0)
		return
	}

	l.closed[""] = time.Now().Add(time.Minute) // "wait for at least one minute"
}
