package github

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestDeletedBetweenPages: a comment that is deleted between two pages shifts no record out of sight, also when another
// one is posted, so that their number stays the same. By REST the claim would come to stand on the page that was read already.
func TestDeletedBetweenPages(t *testing.T) {
	for name, c := range map[string]struct {
		option func(*Options)
		next   string // what only the request of the second page holds
		posted bool
	}{
		"GraphQL": {func(*Options) {}, "before:", false}, "GraphQL, posted": {func(*Options) {}, "before:", true},
		"REST": {byREST, "page=2", false}, "REST, posted": {byREST, "page=2", true},
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
			deleted := false
			client := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				if !deleted && asks(t, r, c.next) {
					deleted = true
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
			if _, claimed := f.Log.LastEnded(); err != nil || !deleted || !claimed {
				t.Errorf("deleted %t: %+v, %v; want the claim and its end", deleted, f.Log.Claims, err)
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
