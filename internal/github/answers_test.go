package github

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// altered passes requests on and changes the bodies of answers.
func altered(next http.RoundTripper, change func([]byte) []byte) http.RoundTripper {
	var mu sync.Mutex // requests are made side by side
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}

		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}

		mu.Lock()
		defer mu.Unlock()
		body = change(body)
		resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))

		return resp, nil
	})
}

// spoiled replaces a text in every answer, once.
func spoiled(next http.RoundTripper, old, new string) http.RoundTripper {
	return altered(next, func(body []byte) []byte { return bytes.Replace(body, []byte(old), []byte(new), 1) })
}

// TestPartsThatAreMissing: whatever is missing from an answer is an error of that issue, and never
// an issue without claims.
func TestPartsThatAreMissing(t *testing.T) {
	server := simulated(t)
	for _, change := range [][2]string{
		{`"comments":{`, `"comments":null,"x":{`},
		{`"labels":{`, `"labels":null,"x":{`},
		{`"closing":{`, `"closing":null,"x":{`},
		{`"i0":{`, `"i0":null,"x":{`},
		{`"i0":{`, `"y":{`},
		{`"r0":{`, `"r0":null,"x":{`},
		{`"r0":{`, `"y":{`},
		{`"data":{`, `"errors":[{"type":"FORBIDDEN","message":"x","path":["r0"]}],"data":{`},
		{`"data":{`, `"errors":[{"type":"NOT_FOUND","message":"x","path":["r0","pause"]}],"data":{`},
		{`"data":{`, `"errors":[{"type":"FORBIDDEN","message":"x","path":["r0","i0","comments","nodes",0]}],"data":{`},
		{`"fullDatabaseId":"22`, `"fullDatabaseId":"x22`},
		{`"number":2,`, `"number":3,`},
	} {
		c := connect(t, spoiled(server.Transport(), change[0], change[1]))
		if f, err := c.Facts(t.Context(), issue("app", 2)); err == nil {
			t.Errorf("%s: facts = %+v, want an error", change[1], f)
		} else if !strings.Contains(err.Error(), "acme/app#2") {
			t.Errorf("%s: error = %v, want it to name the issue", change[1], err)
		}
	}
}

// TestListsWithGaps: an issue that is missing from a list is an error, and never the list's end.
func TestListsWithGaps(t *testing.T) {
	server := simulated(t)
	for _, change := range [][2]string{{`"nodes":[{"__typename":"Issue"`, `"nodes":[null,{"__typename":"Issue"`}, {`"number":`, `"number":0,"x":`}} {
		c := connect(t, spoiled(server.Transport(), change[0], change[1]))
		var failed error
		for _, err := range c.Current(t.Context(), repoOf("app"), time.Time{}) {
			failed = errors.Join(failed, err)
		}

		if bad, is := errors.AsType[*AnswerError](failed); !is {
			t.Errorf("%s: %v, %v", change[1], bad, failed)
		}
	}
}

// TestGraphQLOutOfOrder: where GraphQL says that it failed nothing in its answer is believed.
func TestGraphQLOutOfOrder(t *testing.T) {
	for _, failure := range []string{
		`{"message":"timeout"}`, `{"type":"SERVICE_UNAVAILABLE","message":"x","path":["r0"]}`,
		`{"message":"x","path":["r0","pause"]}`,
		`{"message":"x","path":["viewer","login"]}`,
		`{"type":"RESOURCE_LIMITS_EXCEEDED","message":"x","path":["r0","i0","blockedBy"]}`,
		`{"type":"RESOURCE_LIMITS_EXCEEDED","message":"Resource limits for this query exceeded.","path":["r0","i0","comments","nodes",0,"author"]}`,
	} {
		c := connect(t, altered(simulated(t).Transport(), func(body []byte) []byte {
			body = bytes.Replace(body, []byte(`"author":{"__typename":"User","login":"tia"}`),
				[]byte(`"author":null`), 1)
			return bytes.Replace(body, []byte(`"data":{`), []byte(`"errors":[`+failure+`],"data":{`), 1)
		}))
		var failed *QueryError
		if f, err := c.Facts(t.Context(), issue("app", 2)); !errors.As(err, &failed) {
			t.Errorf("%s: %v, %+v; want that it could not be found out", failure, err, f.Log.Claims)
		}
	}
}

// TestPartialErrors: an error of one issue leaves the others readable.
func TestPartialErrors(t *testing.T) {
	c := connect(t, spoiled(simulated(t).Transport(), `"data":{`,
		`"errors":[{"type":"FORBIDDEN","message":"no","path":["r0","i1","labels"]}],"data":{`))
	got := c.FactsOf(t.Context(), []claim.Issue{issue("app", 1), issue("app", 5), issue("lib", 1)})
	var denied *PermissionError
	if got[0].Err != nil || got[2].Err != nil || !errors.As(got[1].Err, &denied) {
		t.Errorf("errors = %v, %v, %v; want only the second, not permitted", got[0].Err, got[1].Err, got[2].Err)
	}
}

// TestLabelsAreRepeated: putting a label on and taking one off do no more when they are sent twice,
// so one 502 for either is repeated, whether it was applied or not. A comment is posted once.
func TestLabelsAreRepeated(t *testing.T) {
	for _, applied := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			server := simulated(t)
			failed := map[string]bool{}
			c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
				if r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/graphql") ||
					failed[r.Method+r.URL.Path] {
					return server.Transport().RoundTrip(r)
				}

				failed[r.Method+r.URL.Path] = true
				if applied {
					if resp, err := server.Transport().RoundTrip(r); err == nil {
						_ = resp.Body.Close()
					}
				}

				return &http.Response{
					StatusCode: http.StatusBadGateway,
					Header:     http.Header{},
					Body:       http.NoBody,
					Request:    r,
				}, nil
			}))

			if err := c.AddLabel(t.Context(), issue("app", 1), "bug"); err != nil {
				t.Errorf("add, applied %t: %v", applied, err)
			}

			if err := c.RemoveLabel(t.Context(), issue("app", 1), "bug"); err != nil {
				t.Errorf("remove, applied %t: %v", applied, err)
			}

			if _, err := c.Comment(t.Context(), issue("app", 1), "hello"); err == nil {
				t.Errorf("comment, applied %t: it was posted twice", applied)
			}
		})
	}
}

// TestUnshownComments: comments that are counted and not shown make the snapshot an unshown one
// after three snapshots, whose log is what is readable; a gap that closes is waited for, and one
// inside the pages stays an error.
func TestUnshownComments(t *testing.T) {
	count, gaps := 4, 0
	c := connect(t, altered(simulated(t).Transport(), func(body []byte) []byte {
		if gaps--; gaps < 0 {
			return body
		}
		return bytes.Replace(body, []byte(`"comments":{"totalCount":3`),
			fmt.Appendf(nil, `"comments":{"totalCount":%d`, count), 1)
	}))

	gaps = 1000
	if f, err := c.Facts(t.Context(), issue("app", 2)); err != nil || f.Unshown != 1 || len(f.Log.Live()) != 1 {
		t.Errorf("%d unshown, %d live claims, %v; want 1, 1 and none", f.Unshown, len(f.Log.Live()), err)
	}

	gaps = 1
	if f, err := c.Facts(t.Context(), issue("app", 2)); err != nil || f.Unshown != 0 || len(f.Log.Live()) != 1 {
		t.Errorf("after the gap: %d unshown, %v", f.Unshown, err)
	}

	gaps, count = 1000, 2
	var answer *AnswerError
	if _, err := c.Facts(t.Context(), issue("app", 2)); !errors.As(err, &answer) ||
		!strings.Contains(err.Error(), "2 comments counted and 3 readable") {
		t.Errorf("error = %v, want the two numbers", err)
	}
}

// TestUnshownGap: a page with a gap, or one that does not end, is not a whole snapshot, whatever is
// counted.
func TestUnshownGap(t *testing.T) {
	for name, change := range map[string][2]string{
		"gap":    {`"nodes":[`, `"nodes":[null,`},
		"no end": {`"hasPreviousPage":false`, `"hasPreviousPage":true`},
	} {
		c := connect(t, altered(simulated(t).Transport(), func(body []byte) []byte {
			before, comments, found := bytes.Cut(body, []byte(`"comments":{"totalCount":3`))
			if !found {
				return body
			}
			comments = bytes.Replace(comments, []byte(change[0]), []byte(change[1]), 1)
			return bytes.Join([][]byte{before, comments}, []byte(`"comments":{"totalCount":4`))
		}))
		var answer *AnswerError
		if f, err := c.Facts(t.Context(), issue("app", 2)); !errors.As(err, &answer) ||
			answer.Reason != "4 comments counted and 3 readable" {
			t.Errorf("%s: %d unshown, %v; want that one cannot be read", name, f.Unshown, err)
		}
	}
}

// TestHiddenIsNoHeartbeat: who hides a comment moves its updated_at. That is not an edit: the lease
// ends when it did.
func TestHiddenIsNoHeartbeat(t *testing.T) {
	server := simulated(t)
	c := connect(t, server.Transport())
	read := func() claim.Claim {
		t.Helper()
		f, err := c.Facts(t.Context(), issue("app", 2))
		if err != nil || len(f.Log.Live()) != 1 {
			t.Fatalf("%d live claims, %v", len(f.Log.Live()), err)
		}
		return f.Log.Live()[0]
	}

	before := read()
	if err := server.HideComment("acme/app", before.Comment, "bot"); err != nil {
		t.Fatal(err)
	}

	if after := read(); !after.Updated.Equal(before.Updated) {
		t.Errorf("hiding it moved the heartbeat from %s to %s", before.Updated, after.Updated)
	}
}

// TestOlderServers: what a schema lacks is left out, and remembered.
func TestOlderServers(t *testing.T) {
	server := simulated(t)
	asked := 0
	c := connect(t, roundTrip(func(r *http.Request) (*http.Response, error) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}

		asked++
		for _, word := range []string{"enableDuplicate", "blockedBy", "compare"} {
			if bytes.Contains(body, []byte(word)) {
				return reply(200, `{"errors":[{"message":"Field '`+word+
					`' doesn't exist on type 'Issue'","extensions":{"code":"undefinedField"}}]}`), nil
			}
		}

		r.Body = io.NopCloser(bytes.NewReader(body))
		return server.Transport().RoundTrip(r)
	}), func(o *Options) { o.Blockers.TextOff = true })
	f, err := c.Facts(t.Context(), issue("app", 1))
	if err != nil || f.BlockersRead || asked != 3 {
		t.Errorf("facts: %v, blockers read %t, %d requests; want them without blockers in 3", err,
			f.BlockersRead, asked)
	}

	if _, err := c.Facts(t.Context(), issue("app", 1)); err != nil || asked != 4 {
		t.Errorf("again: %v after %d requests, want one more", err, asked-3)
	}

	if why, err := c.Unopenable(t.Context(), "acme/app", "fix", "main"); why != "" || err != nil {
		t.Errorf("branches that cannot be compared: %q, %v; want nothing against a pull request", why, err)
	}
}

// TestWithoutGraphQL: a server without GraphQL, or with one too old, is not read in another way:
// the answer is that it could not be found out, after one query, with what is needed.
func TestWithoutGraphQL(t *testing.T) {
	server := simulated(t)
	for name, answer := range map[string]*githubsim.Fault{
		"404": {Status: 404, Body: `{"message":"Not Found"}`},
		"400": {Status: 400, Body: `{"message":"Problems parsing JSON"}`},
		"old": {Status: 200, Body: `{"errors":[{"message":"Field 'closedByPullRequestsReferences' doesn't exist on type 'Issue'"}]}`, Header: http.Header{"Content-Type": {"application/json"}}},
		"old in two ways": {Status: 200, Body: `{"errors":[{"message":"Field 'blockedBy' doesn't exist on type 'Issue'"},` +
			`{"message":"Field 'closedByPullRequestsReferences' doesn't exist on type 'Issue'"}]}`, Header: http.Header{"Content-Type": {"application/json"}}},
	} {
		limited(server, *answer)
		sent := watched(server.Transport())
		c := connect(t, sent)
		for what, ask := range map[string]func() error{
			"facts": func() error { return second(c.Facts(t.Context(), issue("app", 2))) },
			"many": func() error {
				return c.FactsOf(t.Context(),
					[]claim.Issue{issue("app", 1), issue("lib", 1)})[1].Err
			},
			"list":   func() error { return second(c.OpenIssues(t.Context(), repoOf("app"), "agent:implement")) },
			"pause":  func() error { return second(c.Pause(t.Context(), repoOf("app"))) },
			"viewer": func() error { return second(c.Viewer(t.Context())) },
			"begin":  func() error { return c.Begin(t.Context(), issue("app", 2)) },
			"heads": func() error {
				return second(c.HoldersOfHeads(t.Context(), repoOf("app"), repoOf("app"), []string{"fix"}))
			},
			"scan": func() error {
				for _, err := range c.Scan(t.Context(), repoOf("app"), time.Time{}) {
					return err
				}
				return nil
			},
		} {
			sent.sent = nil
			var none *NoGraphQLError
			if err := ask(); !errors.As(err, &none) || none.Old != strings.HasPrefix(name, "old") ||
				strings.Contains(none.Remedy(), "newer GitHub") != none.Old {
				t.Errorf("%s, %s: %v, want that GraphQL is needed", name, what, err)
			}

			if len(sent.sent) != 1 {
				t.Errorf("%s, %s: sent %q, want one query", name, what, sent.sent)
			}
		}
	}

	for status, want := range map[int]any{401: new(*AuthError), 403: new(*PermissionError)} {
		limited(server, githubsim.Fault{Status: status, Body: `{"message":"Resource not accessible by integration"}`})
		sent := watched(server.Transport())
		if _, err := connect(t, sent).Facts(t.Context(), issue("app", 2)); !errors.As(err, want) ||
			len(sent.sent) != 1 {
			t.Errorf("%d: %v after %q, want it refused at once", status, err, sent.sent)
		}
	}
}
