package github

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// TestDeletedBetweenPages: a comment that is deleted between two pages shifts no record out of
// sight, also when another one is posted, so that their number stays the same.
func TestDeletedBetweenPages(t *testing.T) {
	byCursor := func(o *Options) { o.HTTP = withoutSkip(t, o.HTTP) }
	for name, c := range map[string]struct {
		option func(*Options)
		next   string // what only the request of the second page holds
		posted bool
	}{
		"GraphQL": {byCursor, "before:", false}, "GraphQL, posted": {byCursor, "before:", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := world()
			long := &w.Repos[0].Issues[5]
			first := long.Comments[0]
			first.CreatedAt = long.Comments[1].CreatedAt
			long.Comments = slices.Insert(long.Comments[1:], 100, first)
			server, err := githubsim.New(w, githubsim.Options{})
			if err != nil {
				t.Fatal(err)
			}

			all, err := server.Comments("acme/app", 6)
			if err != nil {
				t.Fatal(err)
			}

			var deleted atomic.Bool // pages are asked for side by side
			client := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				if asks(t, r, c.next) && deleted.CompareAndSwap(false, true) {
					err := server.DeleteComment("acme/app", all[5].ID, "bot")
					if err == nil && c.posted {
						_, err = server.AddComment("acme/app", 6, "mal", "any news?")
					}

					if err != nil {
						t.Error(err)
					}
				}

				return server.Transport().RoundTrip(r)
			}), c.option)
			f, err := client.Facts(t.Context(), issue("app", 6))
			if _, claimed := f.Log.LastEnded(claim.Claim.Held); err != nil || !deleted.Load() || !claimed {
				t.Errorf("deleted %t: %+v, %v; want the claim and its end", deleted.Load(), f.Log.Claims, err)
			}
		})
	}
}

// asks reports whether a request's query or body holds a text.
func asks(t *testing.T, r *http.Request, text string) bool {
	t.Helper()
	if r.Body == nil {
		return strings.Contains(r.URL.RawQuery, text)
	}

	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}

	r.Body = io.NopCloser(bytes.NewReader(body))
	return strings.Contains(r.URL.RawQuery+string(body), text)
}

// withoutSkip is a server whose timelines cannot be asked for from any place on.
func withoutSkip(t *testing.T, next http.RoundTripper) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if !asks(t, r, "skip:") {
			return next.RoundTrip(r)
		}
		body := `{"errors":[{"message":"Field 'timelineItems' doesn't accept argument 'skip'","extensions":{"code":"argumentNotAccepted"}}]}`

		return &http.Response{
			StatusCode: 200,
			Header:     http.Header{"Content-Type": {"application/json"}},
			Body:       io.NopCloser(strings.NewReader(body)),
			Request:    r,
		}, nil
	})
}

// lengthy is a thread of so many comments of strangers, with the claim of a holder in the midst.
func lengthy(t *testing.T, comments, claimAt int) *githubsim.Server {
	t.Helper()
	w := world()
	long := &w.Repos[0].Issues[5]
	held := long.Comments[0]
	talk := slices.Repeat(long.Comments[1:2], comments)
	held.CreatedAt = talk[0].CreatedAt
	long.Comments = slices.Insert(talk, claimAt, held)
	server, err := githubsim.New(w, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return server
}

// TestDeletedBetweenParts: parts of a thread that are read side by side are believed only if they
// fit together. Comments that are deleted between two of them move the claim out of the one that is
// read late; that as many are posted hides it from the count.
func TestDeletedBetweenParts(t *testing.T) {
	const boundary = stretchesInQuery*(stretch-1) + 1 // the first comment that only the second query has
	for _, c := range []struct{ deleted, posted int }{{1, 0}, {2, 0}, {2, 2}, {3, 3}, {40, 40}} {
		server := lengthy(t, 900, boundary)
		all, err := server.Comments("acme/app", 6)
		if err != nil {
			t.Fatal(err)
		}

		first := make(chan struct{})
		var once, change sync.Once
		client := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
			if asks(t, r, "skip: 0,") {
				resp, err := server.Transport().RoundTrip(r)
				once.Do(func() { close(first) })
				return resp, err
			}

			if asks(t, r, "skip:") {
				<-first
				change.Do(func() {
					for n := range c.deleted {
						if err := server.DeleteComment("acme/app", all[n].ID, "bot"); err != nil {
							t.Error(err)
						}
					}

					for range c.posted {
						if _, err := server.AddComment("acme/app", 6, "mal", "any news?"); err != nil {
							t.Error(err)
						}
					}
				})
			}

			return server.Transport().RoundTrip(r)
		}))
		f, err := client.Facts(t.Context(), issue("app", 6))
		if _, held := f.Log.Holder(); err != nil || !held {
			t.Errorf("%+v: held %t, %v; want the claim", c, held, err)
		}
	}
}

// TestPartsFit: what parts read side by side have to look like to be believed.
func TestPartsFit(t *testing.T) {
	part := func(from, to int) *connection[queryComment] {
		var p connection[queryComment]
		for n := from; n < to; n++ {
			p.Nodes = append(p.Nodes, &queryComment{ID: bigInt(n)})
		}
		return &p
	}

	hole := part(99, 199)
	hole.Nodes[7] = nil
	for _, c := range []struct {
		name   string
		parts  []*connection[queryComment]
		newest *connection[queryComment]
		want   bool
	}{
		{"one", []*connection[queryComment]{part(0, 51)}, part(50, 150), true},
		{"two", []*connection[queryComment]{part(0, 100), part(99, 199)}, part(180, 280), true},
		{"the last is short", []*connection[queryComment]{part(0, 100), part(99, 120)}, part(110, 120), true},
		{
			"nothing is left for the last",
			[]*connection[queryComment]{part(0, 100), part(99, 120), part(0, 0)},
			part(110, 120), true,
		},
		{"a gap", []*connection[queryComment]{part(0, 100), part(100, 200)}, part(180, 280), false},
		{"moved", []*connection[queryComment]{part(0, 100), part(98, 198)}, part(180, 280), false},
		{"a short one in the midst", []*connection[queryComment]{part(0, 90), part(99, 199)}, part(180, 280), false},
		{
			"an empty one in the midst",
			[]*connection[queryComment]{part(0, 100), part(0, 0), part(198, 298)},
			part(280, 380), false,
		},
		{"nothing behind a full one", []*connection[queryComment]{part(0, 100), part(0, 0)}, part(50, 150), false},
		{"not as far as the newest", []*connection[queryComment]{part(0, 100), part(99, 199)}, part(199, 299), false},
		{"one that cannot be read", []*connection[queryComment]{part(0, 100), hole}, part(180, 280), false},
		{"nothing older", []*connection[queryComment]{part(0, 3)}, part(0, 3), false},
		{"all empty", []*connection[queryComment]{part(0, 0)}, part(0, 0), false},
	} {
		if got := joined(c.parts, c.newest); got != c.want {
			t.Errorf("%s: %t, want %t", c.name, got, c.want)
		}
	}
}

// TestLongThread: however a thread has to be read, it is read whole, and not in more requests than
// needed.
func TestLongThread(t *testing.T) {
	for name, c := range map[string]struct {
		option   func(*Options)
		fault    githubsim.Fault
		comments int
		requests int // at most
	}{
		"a page and one":          {func(*Options) {}, githubsim.Fault{}, 100, 2},
		"two pages":               {func(*Options) {}, githubsim.Fault{}, 250, 2},
		"many":                    {func(*Options) {}, githubsim.Fault{}, 5000, 14},
		"by cursor":               {func(o *Options) { o.HTTP = withoutSkip(t, o.HTTP) }, githubsim.Fault{}, 800, 16},
		"one part at a time":      {func(*Options) {}, githubsim.Fault{QueryNodes: 160}, 900, 30},
		"one part is missing":     {func(o *Options) { o.HTTP = spoiled(o.HTTP, `"s1":{`, `"x1":{`) }, githubsim.Fault{}, 800, 16},
		"pages smaller than that": {func(*Options) {}, githubsim.Fault{QueryNodes: 60}, 300, 30},
	} {
		t.Run(name, func(t *testing.T) {
			server := lengthy(t, c.comments, c.comments/2)
			limited(server, c.fault)
			sent := watched(server.Transport())
			f, err := connect(t, sent, c.option).Facts(t.Context(), issue("app", 6))
			if h, held := f.Log.Holder(); err != nil || !held || h.Record.Worker.Codename != "first" || f.Unshown != 0 {
				t.Errorf("%+v, %v, %d not shown", f.Log.Claims, err, f.Unshown)
			}

			if n := len(sent.sent); n > c.requests {
				t.Errorf("%d requests, want at most %d", n, c.requests)
			}
		})
	}
}
