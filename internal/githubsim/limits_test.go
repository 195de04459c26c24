package githubsim_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestSecondaryLimits: for each limit, as many requests as it allows, then a refusal that says when
// to come back; a second before then it is still one, and then it is none. Another account is not
// touched.
func TestSecondaryLimits(t *testing.T) {
	read := "GET /repos/acme/app/issues/1"
	post := "POST /repos/acme/app/issues/1/comments"
	for name, c := range map[string]struct {
		line, body string
		every      time.Duration
		most       int
	}{
		"reads": {read, "", 50 * time.Millisecond, 900},
		"writes": {
			"POST /repos/acme/app/issues/1/labels", `{"labels":["bug"]}`,
			50 * time.Millisecond, 180,
		},
		"queries": {"POST /graphql", `{"query":"{viewer{login}}"}`, 10 * time.Millisecond, 2000},
		"mutations": {
			"POST /graphql",
			`{"query":"mutation M{addLabelsToLabelable(input:{labelableId:\"x\",labelIds:[]}){clientMutationId}}"}`,
			50 * time.Millisecond, 400,
		},
		"comments in a minute": {post, `{"body":"x"}`, 500 * time.Millisecond, 80},
		"comments in an hour":  {post, `{"body":"x"}`, time.Second, 500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serverWith(t, githubsim.Options{SecondaryLimits: true, RateLimit: 1 << 20})
				for n := range c.most {
					time.Sleep(c.every)
					if got := send(t, s, "tok-wes", c.line, c.body); got.status == http.StatusForbidden {
						t.Fatalf("refused after %d: %s", n, got.text)
					}
				}

				time.Sleep(time.Second)
				got := send(t, s, "tok-wes", c.line, c.body)
				seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
				if got.status != http.StatusForbidden || err != nil ||
					!strings.Contains(got.text, "secondary rate limit") {
					t.Fatalf("one too many: %d %s", got.status, got.text)
				}

				if other := send(t, s, "tok-ann", c.line, c.body); other.status == http.StatusForbidden {
					t.Errorf("another account: %d", other.status)
				}
				time.Sleep(time.Duration(seconds-1) * time.Second)
				if seconds > 1 && send(t, s, "tok-wes", c.line, c.body).status != http.StatusForbidden {
					t.Error("a second early, and served")
				}

				time.Sleep(time.Second)
				if got := send(t, s, "tok-wes", c.line, c.body); got.status == http.StatusForbidden {
					t.Errorf("when it was told to: %d, come back in %s", got.status, got.header.Get("Retry-After"))
				}
			})
		})
	}
}

// TestAtOnce: a hundred requests may be under way.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serverWith(t, githubsim.Options{SecondaryLimits: true})
		s.Fault = func(*http.Request) *githubsim.Fault { return &githubsim.Fault{Delay: time.Second} }
		var all sync.WaitGroup
		statuses := make([]int, 101)
		for n := range statuses {
			all.Go(func() {
				time.Sleep(time.Duration(n) * time.Millisecond)
				statuses[n] = send(t, s, "tok-wes", "GET /repos/acme/app/issues/1", "").status
			})
		}

		all.Wait()
		want := strings.Repeat("200 ", 100) + "403"
		if got := strings.Trim(fmt.Sprint(statuses), "[]"); got != want {
			t.Errorf("statuses %s", got)
		}

		if got := send(t, s, "tok-wes", "GET /repos/acme/app/issues/1", ""); got.status != 200 {
			t.Errorf("when they are over: %d", got.status)
		}
	})
}
