package githubsim_test

import (
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestRoles: what each role may do to an issue that somebody else wrote, one column a token. A dot
// is allowed.
func TestRoles(t *testing.T) {
	tokens := []string{"", "tok-fork", "tok-rob", "tok-tia", "tok-wes", "tok-mae", "tok-ann", "tok-ci"}
	for _, c := range []struct{ want, line, body string }{
		{". . . . . . . .", "GET /repos/acme/app/issues/2", ""},
		{"401 403 . . . . . .", "POST /repos/acme/app/issues", `{"title":"t"}`},
		{"401 403 . . . . . .", "POST /repos/acme/app/issues/2/comments", `{"body":"b"}`},
		{"401 403 . . . . . .", "POST /repos/acme/app/issues/comments/2200000001/reactions", `{"content":"eyes"}`},
		{"401 403 403 . . . . .", "POST /repos/acme/app/issues/2/labels", `{"labels":["ready"]}`},
		{"401 403 403 . . . . .", "DELETE /repos/acme/app/issues/2/labels/bug", ""},
		{"401 403 403 . . . . .", "PATCH /repos/acme/app/issues/2", `{"state":"closed"}`},
		{"401 403 404 404 . . . .", "POST /repos/acme/app/labels", `{"name":"n","color":"aabbcc"}`},
		{"401 403 403 403 . . . .", "PATCH /repos/acme/app/issues/comments/2200000002", `{"body":"b"}`},
		{"401 403 403 403 . . . .", "DELETE /repos/acme/app/issues/comments/2200000002", ""},
		{"401 403 403 403 . . . .", "PUT /repos/acme/app/pulls/4/merge", ""},
		{"404 404 404 404 404 404 . 404", "GET /repos/acme/secret/issues", ""},
	} {
		var got []string
		for _, token := range tokens {
			status := send(t, newServer(t), token, c.line, c.body).status
			text := map[int]string{401: "401", 403: "403", 404: "404"}[status]
			if text == "" && status < 300 {
				text = "."
			}

			// Comment …002 is wes's own.
			got = append(got, text)
		}

		if strings.Join(got, " ") != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, strings.Join(got, " "), c.want)
		}
	}
}

// TestOpenedWith: a new issue has the labels and the assignees that it was sent with, if its author
// may triage.
func TestOpenedWith(t *testing.T) {
	for token, want := range map[string]int{"tok-rob": 0, "tok-tia": 1} {
		got := send(t, newServer(t), token, "POST /repos/acme/app/issues",
			`{"title":"t","labels":["bug"],"assignees":["wes","nobody"]}`).json(t)
		labels, _ := got["labels"].([]any)
		assigned, _ := got["assignees"].([]any)
		if len(labels) != want || len(assigned) != want {
			t.Errorf("%s: labels %v, assignees %v", token, labels, assigned)
		}
	}
}

// TestLocked: on a locked issue only those with write comment.
func TestLocked(t *testing.T) {
	s := newServer(t)
	if err := s.Lock("acme/app", 2, "tia"); err != nil {
		t.Fatal(err)
	}

	for token, want := range map[string]int{"tok-rob": 403, "tok-tia": 403, "tok-wes": 201} {
		if got := send(t, s, token, "POST "+comments, `{"body":"b"}`); got.status != want {
			t.Errorf("%s: %d %s", token, got.status, got.text)
		}
	}
}

func TestScopesHeader(t *testing.T) {
	s := newServer(t)
	if got := send(t, s, "tok-ann", "GET /user", "").header["X-Oauth-Scopes"]; len(got) != 1 ||
		got[0] != "repo, read:org" {
		t.Errorf("classic token: %q", got)
	}

	if got := send(t, s, "tok-wes", "GET /user", "").header["X-Oauth-Scopes"]; got != nil {
		t.Errorf("fine-grained token: %q", got)
	}
}

// customRoles is a repository where one login has a role that the organization has made up.
const customRoles = `{"users": [
  {"login": "ann", "token": "tok-ann", "permissions": {"acme/app": "admin"}},
  {"login": "kim", "token": "tok-kim", "permissions": {"acme/app": "triage:issue keeper"}}
 ], "repos": [{"name": "acme/app", "issues": [{"number": 1, "title": "t", "comments": [{"author": "kim", "body": "b"}]}]}]}`

// TestCustomRole: permission and role_name do not rank a role that an organization has derived from
// triage; the map of permissions and GraphQL do.
func TestCustomRole(t *testing.T) {
	seed, err := githubsim.LoadSeed(strings.NewReader(customRoles))
	if err != nil {
		t.Fatal(err)
	}

	s, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	got := send(t, s, "tok-ann", "GET /repos/acme/app/collaborators/kim/permission", "")
	for _, want := range []string{`"permission":"read","role_name":"issue keeper"`, `"push":false,"triage":true`} {
		if !strings.Contains(got.text, want) {
			t.Errorf("permission: %s\nwant %s", got.text, want)
		}
	}

	query := func(token, fields string) string {
		return send(t, s, token, "POST /graphql", `{"query": "query { repository(owner: \"acme\", name: \"app\") { `+
			fields+` } }"}`).text
	}

	for _, c := range []struct{ token, fields, want string }{
		{"tok-kim", "viewerPermission", `"viewerPermission":"TRIAGE"`},
		{
			"tok-ann", `collaborators(login: \"kim\", first: 1) { edges { permission node { login } } }`,
			`{"permission":"TRIAGE","node":{"login":"kim"}}`,
		},
		{
			"tok-ann", `collaborators(login: \"nobody\", first: 1) { totalCount edges { permission } }`,
			`"totalCount":0,"edges":[]`,
		},
		{"tok-kim", `collaborators(login: \"kim\", first: 1) { totalCount }`, `"FORBIDDEN"`},
	} {
		if got := query(c.token, c.fields); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s\n got %s\nwant %s", c.token, c.fields, got, c.want)
		}
	}
}

// TestEditHistory: who edited a comment, newest first, down to what its author wrote.
func TestEditHistory(t *testing.T) {
	s := newServer(t)
	history := func() string {
		return send(t, s, "tok-ann", "POST /graphql",
			`{"query": "query { repository(owner: \"acme\", name: \"app\") { issue(number: 1) { comments(first: 1) { nodes { userContentEdits(first: 10) { totalCount nodes { editor { login } } } } } } } }"}`).text
	}

	if got := history(); !strings.Contains(got, `"totalCount":0,"nodes":[]`) {
		t.Errorf("never edited: %s", got)
	}

	for token, body := range map[string]string{"tok-wes": "one", "tok-rob": "two"} {
		if got := send(t, s, token, "PATCH /repos/acme/app/issues/comments/2200000001", `{"body":"`+body+
			`"}`); got.status != 200 {
			t.Fatal(got.text)
		}
	}

	if got := history(); !strings.Contains(got, `"totalCount":3`) || !strings.Contains(got, `"login":"wes"`) {
		t.Errorf("edited twice: %s", got)
	}
}
