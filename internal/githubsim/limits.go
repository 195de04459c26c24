package githubsim

import (
	"bytes"
	"math"
	"net/http"
	"strings"
	"time"
)

// GitHub's published secondary limits (docs, "Rate limits for the REST API" and "… for the GraphQL
// API").
const (
	maxAtOnce        = 100  // requests under way, REST and GraphQL together
	maxRESTPoints    = 900  // a minute
	maxQueryPoints   = 2000 // a minute
	maxContentMinute = 80
	maxContentHour   = 500
)

// A throttle is how fast an account has been lately.
type throttle struct {
	underWay                             int
	rest, queries, posts, postsOfTheHour window
}

func newThrottle() *throttle {
	return &throttle{
		rest:           window{span: time.Minute, most: maxRESTPoints},
		queries:        window{span: time.Minute, most: maxQueryPoints},
		posts:          window{span: time.Minute, most: maxContentMinute},
		postsOfTheHour: window{span: time.Hour, most: maxContentHour},
	}
}

// A window is what was spent within the last span.
type window struct {
	span  time.Duration
	most  int
	sum   int
	spent []spending
}

type spending struct {
	at     time.Time
	points int
}

// wait is how long it takes until so many more points fit.
func (w *window) wait(now time.Time, points int) time.Duration {
	for len(w.spent) > 0 && !w.spent[0].at.Add(w.span).After(now) {
		w.sum -= w.spent[0].points
		w.spent = w.spent[1:]
	}

	over := w.sum + points - w.most
	for _, s := range w.spent {
		if over <= 0 {
			break
		}
		if over -= s.points; over <= 0 {
			return s.at.Add(w.span).Sub(now)
		}
	}

	return 0
}

func (w *window) spend(now time.Time, points int) {
	w.sum += points
	w.spent = append(w.spent, spending{now, points})
}

// enter lets a request in if the secondary limits allow it, and says what to answer if they do not.
// leave is to be called when the answer is out.
func (s *Server) enter(r *http.Request, body []byte) (leave func(), refused *Fault) {
	nothing := func() {}
	if _, _, git := gitPath(r.URL.Path); git || !s.options.SecondaryLimits {
		return nothing, nil
	}

	defer s.lock()()
	who, err := s.st.authenticate(r)
	if err != nil || who.account == nil {
		return nothing, nil
	}

	t := who.account.throttle
	if wait := t.take(s.now(), r, strings.HasPrefix(operation(r, body), "mutation"), content(r, body)); wait > 0 {
		limit := SecondaryLimit(int(math.Ceil(wait.Seconds())))
		return nothing, &limit
	}

	t.underWay++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		t.underWay--
	}, nil
}

// take spends what a request costs, or returns how long to wait before asking again. What is
// refused costs nothing.
func (t *throttle) take(now time.Time, r *http.Request, mutates, notifies bool) time.Duration {
	points, at := 1, &t.rest
	if apiPath(r.URL.Path) == "/graphql" {
		at = &t.queries
	} else {
		mutates = r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions
	}

	if mutates {
		points = 5
	}
	wait := at.wait(now, points)
	if t.underWay >= maxAtOnce {
		wait = max(wait, time.Second)
	}

	if notifies {
		wait = max(wait, t.posts.wait(now, 1), t.postsOfTheHour.wait(now, 1))
	}

	if wait > 0 {
		return wait
	}
	at.spend(now, points)
	if notifies {
		t.posts.spend(now, 1)
		t.postsOfTheHour.spend(now, 1)
	}

	return 0
}

// content reports whether a request makes something that people are notified of: the operations
// that GitHub's description says may be limited for it, and the mutation that posts a comment.
func content(r *http.Request, body []byte) bool {
	if strings.HasPrefix(operation(r, body), "mutation") {
		return bytes.Contains(body, []byte("addComment("))
	}
	if r.Method != http.MethodPost && !strings.HasSuffix(r.URL.Path, "/merge") {
		return false
	}

	for _, end := range []string{
		"/comments", "/issues", "/pulls", "/merge", "/dependencies/blocked_by",
		"/sub_issues",
	} {
		if strings.HasSuffix(apiPath(r.URL.Path), end) {
			return r.Method != http.MethodGet
		}
	}

	return false
}
