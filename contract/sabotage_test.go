package contract

import (
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestSabotagedAnswers: the judge is not blind. Each row spoils a good exchange, and the judge has to say so.
func TestSabotagedAnswers(t *testing.T) {
	d, good := describeREST(t), comment(t)
	swap := func(old, fresh string) func(*exchange) {
		return func(e *exchange) { e.got = bytes.Replace(e.got, []byte(old), []byte(fresh), 1) }
	}
	for _, c := range []struct {
		name  string
		spoil func(*exchange)
		want  string
	}{
		{"nothing", func(*exchange) {}, ""},
		{"a missing field", swap(`"html_url"`, `"html"`), `property "html_url" is missing`},
		{"an unknown field", swap(`"body"`, `"claims":[],"body"`), "unknown field /claims"},
		{"a number as text", swap(`"id":2`, `"id":"2"`+`,"x":2`), "value must be an integer"},
		{"a local time", swap(`Z","html_url"`, `","html_url"`), "/created_at: "},
		{"an address without a host", swap(`"issue_url":"https://api.github.com`, `"issue_url":"`), "/issue_url: "},
		{"an association that nobody has", swap(`"NONE"`, `"FRIEND"`), "/author_association: "},
		{"a status of its own", func(e *exchange) { e.status = http.StatusAccepted }, "status is not described"},
		{"another type", func(e *exchange) { e.header.Set("Content-Type", "text/html") }, "is of type text/html"},
		{"no JSON", func(e *exchange) { e.got = []byte("<html>") }, "invalid character"},
		{"an empty answer", func(e *exchange) { e.got = nil }, "unexpected end"},
		{"a request with another field", func(e *exchange) { e.sent = []byte(`{"body":"x","labels":[]}`) }, "unknown field /labels"},
		{"a request without its field", func(e *exchange) { e.sent = []byte(`{}`) }, `property "body" is missing`},
		{"a parameter that nothing reads", func(e *exchange) { e.request.URL.RawQuery = "sort=up" }, "unknown query parameter sort"},
		{"an issue number that is none", func(e *exchange) {
			e.request.URL.Path = strings.Replace(e.request.URL.Path, "/1/", "/one/", 1)
		}, "issue_number"},
		{"a path of our own", func(e *exchange) { e.request.URL.Path = "/claims" }, "is not described"},
	} {
		e := good
		e.request, e.header = good.request.Clone(t.Context()), good.header.Clone()
		c.spoil(&e)
		holds(t, c.name, d.judge(e), c.want)
	}
}

// comment is a good exchange.
func comment(t *testing.T) exchange {
	t.Helper()
	f := simulated(t)
	tape := &recorder{next: f.next}
	f.next, f.token = tape, "tok-rob"
	f.send(t, "POST ~/issues/1/comments", object{"body": "still?"}).is(t, 201)
	return tape.take()[0]
}

func holds(t *testing.T, name string, findings []finding, want string) {
	t.Helper()
	found := want == "" && len(findings) == 0
	for _, f := range findings {
		found = found || want != "" && strings.Contains(f.String(), want)
	}
	if !found {
		t.Errorf("%s: the judge says %v, want %q", name, findings, want)
	}
}

// TestSabotagedSchema spoils the simulator's schema.
func TestSabotagedSchema(t *testing.T) {
	theirs := describeGraphQL(t)
	text, err := os.ReadFile("../internal/githubsim/schema.graphql")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kind, old, fresh, want string }{
		{"Issue", "  body: String!\n  url", "  body: String\n  url", "Issue.body: is String!, not String"},
		{"Issue", "  number: Int!\n", "  number: Int!\n  claims: Int\n", "Issue.claims: does not exist"},
		{"Issue", "includeClosedPrs: Boolean = false", "includeClosedPrs: Boolean = true", `is "false" by default, not "true"`},
		{"Repository", "ref(qualifiedName: String!)", "ref(name: String!)", "Repository.ref: lacks the argument qualifiedName"},
		{"Repository", "ref(qualifiedName: String!)", "ref(name: String!)", "Repository.ref(name): does not exist"},
		{"IssueState", "  CLOSED OPEN\n", "  CLOSED HELD OPEN\n", "IssueState: has no value HELD"},
		{"Reaction", "type Reaction {", "type Reaction implements RepositoryOwner {\n  login: String!\n  url: URI!", "does not implement RepositoryOwner"},
		{"AddCommentInput", "  subjectId: ID!\n  body", "  body", "AddCommentInput: lacks the field subjectId"},
		{"Claim", "type RateLimit {", "type Claim {\n  id: ID!\n}\n\ntype RateLimit {", "Claim: is no OBJECT"},
	} {
		ours, err := parseSchema(strings.Replace(string(text), c.old, c.fresh, 1))
		if err != nil {
			t.Fatalf("%s: %v", c.want, err)
		}
		holds(t, c.kind, compareTypes(ours.Types[c.kind], theirs.Types[c.kind]), c.want)
	}
}

// TestSabotagedDocuments: what GitHub would refuse of a document.
func TestSabotagedDocuments(t *testing.T) {
	schema := describeGraphQL(t)
	for _, c := range []struct{ sent, want string }{
		{`{"query":"query($n:Int!){repository(owner:\"a\",name:\"b\"){issue(number:$n){number}}}","variables":{"n":1}}`, ""},
		{`{"query":"query($n:Int!){repository(owner:\"a\",name:\"b\"){issue(number:$n){number}}}","variables":{"n":"one"}}`, "cannot use string as Int"},
		{`{"query":"query($n:Int!){repository(owner:\"a\",name:\"b\"){issue(number:$n){number}}}"}`, "must be defined"},
		{`{"query":"{repository(owner:\"a\"){id}}"}`, "name"},
		{`{"query":"{viewer{claims}}"}`, `Cannot query field "claims"`},
		{`{"query":"mutation{addComment(input:{body:\"x\"}){clientMutationId}}"}`, "subjectId"},
		{`{"query":"{viewer{login"}`, "Expected Name"},
		{`<html>`, "invalid character"},
	} {
		holds(t, c.sent, judgeDocument(schema, exchange{sent: []byte(c.sent)}), c.want)
	}
}
