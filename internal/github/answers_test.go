package github

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
)

// altered passes requests on and changes the bodies of answers.
func altered(next http.RoundTripper, change func([]byte) []byte) http.RoundTripper {
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			return nil, err
		}
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
		{`"data":{`, `"errors":[{"message":"timeout"}],"data":{`},
		{`"data":{`, `"errors":[{"type":"SERVICE_UNAVAILABLE","message":"x","path":["r0"]}],"data":{`},
		{`"data":{`, `"errors":[{"message":"x","path":["r0","pause"]}],"data":{`},
		{`"data":{`, `"errors":[{"message":"x","path":["r0","i0","comments","nodes",0]}],"data":{`},
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

// TestPartialErrors: an error of one issue leaves the others readable.
func TestPartialErrors(t *testing.T) {
	c := connect(t, spoiled(simulated(t).Transport(), `"data":{`, `"errors":[{"type":"FORBIDDEN","message":"no","path":["r0","i1","labels"]}],"data":{`))
	got := c.FactsOf(t.Context(), []claim.Issue{issue("app", 1), issue("app", 5), issue("lib", 1)})
	var denied *PermissionError
	if got[0].Err != nil || got[2].Err != nil || !errors.As(got[1].Err, &denied) {
		t.Errorf("errors = %v, %v, %v; want only the second, not permitted", got[0].Err, got[1].Err, got[2].Err)
	}
}

// TestSilentComments: comments that are counted and not shown make the issue unknown, however often
// it is read; a gap that closes is waited for.
func TestSilentComments(t *testing.T) {
	for name, option := range map[string]func(*Options){"GraphQL": func(*Options) {}, "REST": byREST} {
		hidden := 0
		c := connect(t, altered(simulated(t).Transport(), func(body []byte) []byte {
			if hidden--; hidden < 0 {
				return body
			}
			body = bytes.Replace(body, []byte(`"comments":{"totalCount":3`), []byte(`"comments":{"totalCount":4`), 1)
			return bytes.Replace(body, []byte(`"comments":3`), []byte(`"comments":4`), 1)
		}), option)
		hidden = 1000
		var answer *AnswerError
		if _, err := c.Facts(t.Context(), issue("app", 2)); !errors.As(err, &answer) || !strings.Contains(err.Error(), "4 comments counted and 3 readable") {
			t.Errorf("%s: error = %v, want the two numbers", name, err)
		}
		hidden = 1
		if f, err := c.Facts(t.Context(), issue("app", 2)); err != nil || len(f.Log.Live()) != 1 {
			t.Errorf("%s: after the gap: %v", name, err)
		}
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
		for _, word := range []string{"enableDuplicate", "blockedBy"} {
			if bytes.Contains(body, []byte(word)) {
				return reply(200, `{"errors":[{"message":"Field '`+word+`' doesn't exist on type 'Issue'","extensions":{"code":"undefinedField"}}]}`), nil
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		return server.Transport().RoundTrip(r)
	}), func(o *Options) { o.Blockers.TextOff = true })
	f, err := c.Facts(t.Context(), issue("app", 1))
	if err != nil || f.BlockersRead || asked != 3 {
		t.Errorf("facts: %v, blockers read %t, %d requests; want them without blockers in 3", err, f.BlockersRead, asked)
	}
	if _, err := c.Facts(t.Context(), issue("app", 1)); err != nil || asked != 4 {
		t.Errorf("again: %v after %d requests, want one more", err, asked-3)
	}
}

// TestWithoutGraphQL: a server without GraphQL, or with one too old, is read by REST from then on.
func TestWithoutGraphQL(t *testing.T) {
	server := simulated(t)
	for name, answer := range map[string]*githubsim.Fault{
		"404": {Status: 404, Body: `{"message":"Not Found"}`},
		"403": {Status: 403, Body: `{"message":"Resource not accessible"}`},
		"400": {Status: 400, Body: `{"message":"Problems parsing JSON"}`},
		"old": {Status: 200, Body: `{"errors":[{"message":"Field 'closedByPullRequestsReferences' doesn't exist on type 'Issue'"}]}`, Header: http.Header{"Content-Type": {"application/json"}}},
	} {
		server.Fault = func(r *http.Request) *githubsim.Fault {
			if strings.HasSuffix(r.URL.Path, "/graphql") {
				return answer
			}
			return nil
		}
		sent := watched(server.Transport())
		c := connect(t, sent)
		for range 2 {
			if f, err := c.Facts(t.Context(), issue("app", 2)); err != nil || len(f.Log.Live()) != 1 {
				t.Errorf("%s: %v, want the facts", name, err)
			}
		}
		if sent.like("POST /graphql") != 1 || sent.like("GET ") < 7 {
			t.Errorf("%s: sent %q, want one query and then REST", name, sent.sent)
		}
	}
	server.Fault = func(r *http.Request) *githubsim.Fault {
		if strings.HasSuffix(r.URL.Path, "/graphql") {
			return &githubsim.Fault{Status: 401, Body: `{"message":"Bad credentials"}`}
		}
		return nil
	}
	sent := watched(server.Transport())
	c := connect(t, sent)
	var auth *AuthError
	if _, err := c.Facts(t.Context(), issue("app", 2)); !errors.As(err, &auth) || len(sent.sent) != 1 {
		t.Errorf("bad token: %v after %q, want it refused at once", err, sent.sent)
	}
}
