package github

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/sample"
)

// TestLongComments: a stranger who writes 280 of the longest comments, on one issue or on several,
// keeps nobody from reading any of them. The ordinary run plays it with texts, and a limit for
// answers, of a 64th of the size.
func TestLongComments(t *testing.T) {
	size := sample.Size(64, 8)
	// a comment has that many characters at most, and one has at most four octets
	text := strings.Repeat("\U0001D11E", 65_000/size)
	for name, comments := range map[string][]int{
		"on one":  {280, 0, 0, 0, 0, 0},
		"on each": slices.Repeat([]int{47}, 6),
	} {
		t.Run(name, func(t *testing.T) {
			server := loaded(t, len(comments), always(0))
			for n, count := range comments {
				for range count {
					if _, err := server.AddComment("acme/app", n+1, "mal", text); err != nil {
						t.Fatal(err)
					}
				}
			}

			sent := watched(server.Transport())
			client := connect(t, sent, patient)
			client.transport.most = maxAnswer / size

			found := scan(t, client, repoOf("app"), time.Time{})
			for _, f := range found {
				complete(t, f)
			}

			var issues []claim.Issue
			for n := range comments {
				issues = append(issues, issue("app", n+1))
			}

			for _, r := range client.FactsOf(t.Context(), issues) {
				if r.Err != nil {
					t.Fatal(r.Err)
				}
				complete(t, r.Facts)
			}

			if n := len(sent.sent); n > 40 || len(found) != len(comments) {
				t.Errorf("%d issues found, after %d requests; want %d, after at most 40", len(found), n, len(comments))
			}
		})
	}
}

// endless is an answer of so many octets, of which none is kept. It notes how much memory is in use
// while it is read.
type endless struct {
	left int
	peak *peak
}

func (e *endless) Read(into []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := min(len(into), e.left)
	clear(into[:n])
	if e.left -= n; e.peak != nil {
		e.peak.note()
	}

	return n, nil
}

// A peak is the most memory that was in use beyond what was at the start.
type peak struct {
	mu         sync.Mutex
	start, top uint64
}

func newPeak() *peak {
	runtime.GC()
	p := &peak{}
	p.note()
	p.start = p.top
	return p
}

func (p *peak) note() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	p.top = max(p.top, now.HeapAlloc)
}

// TestLargeAnswers: an answer that is too large is never asked for again as it is. What was asked
// for is asked for in smaller pages, and an issue whose smallest page is too large is named; all
// that takes little memory.
func TestLargeAnswers(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	most := newPeak()
	sent := watched(roundTrip(func(r *http.Request) (*http.Response, error) {
		resp := reply(200, "json")
		resp.Body = io.NopCloser(&endless{64 << 20, most})
		return resp, nil
	}))
	c := connect(t, sent, patient)

	var lost *NetworkError
	if _, err := c.Facts(t.Context(), issue("app", 1)); !errors.As(err, &lost) ||
		!strings.Contains(err.Error(), "acme/app#1") || !strings.Contains(err.Error(), fmt.Sprint(maxAnswer)) {
		t.Errorf("error = %v, want one that names the issue and what is too much", err)
	}

	if n := len(sent.sent); n != 4 {
		t.Errorf("%d requests, want one for each size of a page", n)
	}

	if used := (most.top - most.start) >> 20; used > 80 {
		t.Errorf("%d MiB in use, want at most 80", used)
	}
}

// TestLargeAnswersTogether: pages that are read side by side do not fill the memory together.
func TestLargeAnswersTogether(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	server := lengthy(t, 5000, 2000)
	most := newPeak()
	c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		if !asks(t, r, "skip:") {
			return server.Transport().RoundTrip(r)
		}
		resp := reply(200, "json")
		resp.Body = io.NopCloser(&endless{64 << 20, most})
		return resp, nil
	}), patient)

	f, err := c.Facts(t.Context(), issue("app", 6))
	if _, held := f.Log.Holder(); err != nil || !held {
		t.Errorf("held %t, %v; want it read page by page", held, err)
	}

	if used := (most.top - most.start) >> 20; used > 150 {
		t.Errorf("%d MiB in use, want at most 150", used)
	}
}

// leading is a server whose pages always lead on: to the page after it, which is the first one
// again. Its cursors repeat or never do.
func leading(server http.RoundTripper, repeated bool) http.RoundTripper {
	info := regexp.MustCompile(`"pageInfo":\{[^}]*\}`)
	cursor := regexp.MustCompile(`"cursor-\d+"`)
	pages := 0
	next := altered(server, func(body []byte) []byte {
		return info.ReplaceAllFunc(body, func([]byte) []byte {
			if pages++; repeated {
				pages = 1
			}
			return fmt.Appendf(nil, `"pageInfo":{"hasNextPage":true,"hasPreviousPage":true,"startCursor":"cursor-%d","endCursor":"cursor-%d"}`, pages, pages)
		})
	})

	return roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}

		body = cursor.ReplaceAll(body, []byte("null"))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return next.RoundTrip(r)
	})
}

// TestEndlessPages: a list whose pages do not end, or lead back, is an error after few requests,
// and never a whole list.
func TestEndlessPages(t *testing.T) {
	for name, repeated := range map[string]bool{"a page after the last": false, "a repeated cursor": true} {
		for what, read := range map[string]func(*Client) error{
			"scan": func(c *Client) error {
				for _, err := range c.Scan(t.Context(), repoOf("app"), time.Time{}) {
					return err
				}
				return nil
			},
			"work list": func(c *Client) error {
				return second(c.OpenIssues(t.Context(), repoOf("app"),
					"agent:implement"))
			},
			"closers and comments": func(c *Client) error { return second(c.Facts(t.Context(), issue("app", 3))) },
		} {
			sent := watched(leading(simulated(t).Transport(), repeated))
			var answer *AnswerError
			if err := read(connect(t, sent)); !errors.As(err, &answer) {
				t.Errorf("%s, %s: %v, want an unusable answer", name, what, err)
			}

			if n := len(sent.sent); n > 40 || repeated && n > 8 {
				t.Errorf("%s, %s: %d requests, want few", name, what, n)
			}
		}
	}
}

// TestManyClosers: an issue that more pull requests close than one page holds is read whole, also
// when their texts are long.
func TestManyClosers(t *testing.T) {
	for name, c := range map[string]struct{ most, text, requests int }{
		"short": {maxAnswer, 10, 12},
		"long":  {maxAnswer / 64, 4000, 40},
	} {
		seed := world()
		app := &seed.Repos[0]
		for n := range 230 {
			app.Pulls = append(app.Pulls, githubsim.SeedPull{
				SeedIssue: githubsim.SeedIssue{
					Number: 100 + n,
					Title:  "Fix",
					Author: "bot",
					Body:   "Closes #3\n" + strings.Repeat("x", c.text),
				},
				Head: fmt.Sprint("fix-", n),
				Base: "main",
			})
		}

		server, err := githubsim.New(seed, githubsim.Options{})
		if err != nil {
			t.Fatal(err)
		}

		sent := watched(server.Transport())
		client := connect(t, sent)
		client.transport.most = c.most

		for _, r := range client.FactsOf(t.Context(), []claim.Issue{issue("app", 2), issue("app", 3)}) {
			want := map[int]int{2: 0, 3: 232}[r.Facts.Issue.Number]
			if r.Err != nil || len(r.Facts.PRs)+len(r.Facts.Excessive) != want {
				t.Errorf("%s: %s: %d pull requests, %v; want %d", name, r.Facts.Issue, len(r.Facts.PRs), r.Err, want)
			}
		}

		if n := len(sent.sent); n > c.requests {
			t.Errorf("%s: %d requests, want at most %d", name, n, c.requests)
		}
	}
}

// TestClosersCounted: fewer pull requests that close an issue than GitHub counts are not a whole
// snapshot.
func TestClosersCounted(t *testing.T) {
	c := connect(t, spoiled(simulated(t).Transport(), `"closing":{"totalCount":2`, `"closing":{"totalCount":3`))
	var answer *AnswerError
	if f, err := c.Facts(t.Context(), issue("app", 3)); !errors.As(err, &answer) {
		t.Errorf("%v, %v; want that one cannot be read", f.PRs, err)
	}
}

// TestListsAreWhole: all pages of a REST list are read, in order, also where a hundred items are
// too much for one page.
func TestListsAreWhole(t *testing.T) {
	for name, most := range map[string]int{"a hundred a page": maxAnswer, "fewer": 30_000} {
		server := simulated(t)
		for n := range 250 {
			if _, err := server.AddComment("acme/app", 1, "mal", fmt.Sprint("number ", n)); err != nil {
				t.Fatal(err)
			}
		}

		sent := watched(server.Transport())
		c := connect(t, sent)
		c.transport.most = most

		all, err := c.Comments(t.Context(), issue("app", 1), time.Time{})
		if err != nil || len(all) != 250 {
			t.Fatalf("%s: %d comments, %v; want 250", name, len(all), err)
		}

		for n, m := range all {
			if m.Body != fmt.Sprint("number ", n) {
				t.Fatalf("%s: comment %d says %q", name, n, m.Body)
			}
		}

		if n := len(sent.sent); n > 30 {
			t.Errorf("%s: %d requests, want at most 30", name, n)
		}
	}
}

// TestTalkIsNotKept: of a comment that can be no record only its length in a snapshot counts, and
// its text is not kept.
func TestTalkIsNotKept(t *testing.T) {
	for text, want := range map[string]bool{
		"<!-- agent-claim:codename=x -->": true, "\ufeff \n<!-- agent-release:": true, "<!-- label-state:": true,
		"any news?": false, "see <!-- agent-claim:codename=x -->": false, "": false, "<": false,
	} {
		var kept recordText
		if err := json.Unmarshal(fmt.Appendf(nil, "%q", text), &kept); err != nil ||
			(string(kept) == text) != (want || text == "") || !want && kept != "" {
			t.Errorf("%q is kept as %q, %v; want it kept: %t", text, kept, err, want)
		}
	}
}
