package githubsim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestResourceLimits: past the limit a query gets a part of its answer, null elsewhere, and errors
// in the words and with the type that GitHub has for it. What it says:
// github.blog/changelog/2025-09-01-graphql-api-resource-limits; what an answer looks like:
// github.com/yoshi389111/github-profile-3d-contrib/issues/163.
func TestResourceLimits(t *testing.T) {
	s := newServer(t)
	for name, c := range map[string]struct {
		fault   githubsim.Fault
		partial bool
	}{
		"no limit":             {githubsim.Fault{}, false},
		"as many nodes":        {githubsim.Fault{QueryNodes: 2}, false},
		"one node too many":    {githubsim.Fault{QueryNodes: 1}, true},
		"as many connections":  {githubsim.Fault{QueryConnections: 1}, false},
		"too many connections": {githubsim.Fault{QueryConnections: 1, QueryNodes: 1}, true},
	} {
		s.Fault = once(c.fault)
		got := query(t, s, "tok-wes", `{`+app+`{nameWithOwner issue(number:1){comments(first:50){totalCount}}}}`)
		text := fmt.Sprint(got)
		refused := strings.Contains(text, "issue:<nil>") && strings.Contains(text, "nameWithOwner:acme/app") &&
			strings.Contains(text, "message:Resource limits for this query exceeded. path:[repository issue comments] type:RESOURCE_LIMITS_EXCEEDED")
		if refused != c.partial || !c.partial && got["errors"] != nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAfterTheLimit: once the limit is reached everything that is read later is refused too.
func TestAfterTheLimit(t *testing.T) {
	s := newServer(t)
	s.Fault = once(githubsim.Fault{QueryNodes: 3})
	got := query(t, s, "tok-wes", `{a:`+app+
		`{issues(first:9){nodes{number labels(first:9){nodes{name}} comments(first:9){nodes{body}}}}}}`)
	if text := fmt.Sprint(got["data"]); !strings.Contains(text, "<nil>") || got["errors"] == nil {
		t.Errorf("%v", got)
	}

	if got := query(t, s, "tok-wes", `{a:`+app+`{issues(first:9){nodes{number}}}}`); got["errors"] != nil {
		t.Errorf("the next query is limited too: %v", got)
	}
}

// TestQueryTimeout: a query that reads too much is ended with GitHub's 502, or a proxy's 504, and
// the reading of less is not.
func TestQueryTimeout(t *testing.T) {
	s := newServer(t)
	for status, want := range map[int]string{
		0: "Something went wrong while executing your query.", 502: `"data":null`,
		504: "<title>504 Gateway Time-out",
	} {
		for first, over := range map[int]bool{1: false, 2: true} {
			s.Fault = once(githubsim.Fault{QueryTimeout: 1, Status: status})
			got := send(t, s, "tok-wes", "POST /graphql",
				fmt.Sprintf(`{"query":"{%s{issue(number:1){comments(first:%d){totalCount}}}}"}`,
					strings.ReplaceAll(app, `"`, `\"`), first))
			if over != (got.status == max(status, 502)) || over != strings.Contains(got.text, want) || !over &&
				got.status != 200 {
				t.Errorf("status %d, %d comments: %d %s", status, first, got.status, got.text)
			}
		}
	}
}
