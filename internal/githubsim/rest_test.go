package githubsim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

const seedText = `{
 "users": [
  {"login": "ann", "token": "tok-ann", "permissions": {"acme/app": "admin", "acme/secret": "admin"}, "scopes": ["repo", "read:org"]},
  {"login": "wes", "token": "tok-wes", "permissions": {"acme/app": "write"}},
  {"login": "tia", "token": "tok-tia", "permissions": {"acme/app": "triage"}},
  {"login": "mae", "token": "tok-mae", "permissions": {"acme/app": "maintain"}},
  {"login": "rob", "token": "tok-rob"},
  {"login": "github-actions[bot]", "token": "tok-ci", "permissions": {"acme/app": "write"}},
  {"login": "github-actions[bot]", "token": "tok-fork", "read_only": true}
 ],
 "repos": [
  {"name": "acme/app", "labels": [{"name": "bug", "color": "ff0000"}, {"name": "ready", "color": "00ff00", "description": "go"}],
   "issues": [
    {"number": 1, "title": "Retry the upload", "body": "It fails", "author": "rob", "labels": ["bug"],
     "comments": [{"author": "rob", "body": "me too", "created_at": "2026-05-01T19:42:33Z"},
                  {"author": "wes", "body": "edited", "created_at": "2026-05-01T19:43:00Z", "updated_at": "2026-05-02T00:00:00Z", "editor": "ann"}]},
    {"number": 2, "title": "Other", "author": "ann", "labels": ["bug", "ready"]},
    {"number": 3, "title": "Closed one", "author": "ann", "state": "closed", "state_reason": "not_planned"}],
   "pulls": [{"number": 4, "title": "Fix it", "body": "Closes #1", "head": "fix", "base": "main", "author": "wes"}]},
  {"name": "acme/other"},
  {"name": "acme/secret", "private": true}
 ]}`

func newServer(t *testing.T) *githubsim.Server {
	t.Helper()
	return serverWith(t, githubsim.Options{})
}

func serverWith(t *testing.T, options githubsim.Options) *githubsim.Server {
	t.Helper()
	seed, err := githubsim.LoadSeed(strings.NewReader(seedText))
	if err != nil {
		t.Fatal(err)
	}

	s, err := githubsim.New(seed, options)
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// A result is an answer that was read to its end.
type result struct {
	status int
	header http.Header
	text   string
}

// json decodes the body into a generic value.
func (r result) json(t *testing.T) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(r.text), &o); err != nil {
		t.Fatalf("body %q: %v", r.text, err)
	}
	return o
}

func (r result) list(t *testing.T) []map[string]any {
	t.Helper()
	var o []map[string]any
	if err := json.Unmarshal([]byte(r.text), &o); err != nil {
		t.Fatalf("body %q: %v", r.text, err)
	}
	return o
}

// field reads a.b.c out of an object.
func field(o map[string]any, path string) any {
	var at any = o
	for name := range strings.SplitSeq(path, ".") {
		m, _ := at.(map[string]any)
		at = m[name]
	}
	return at
}

// send makes one request with a token; line is METHOD PATH.
func send(t *testing.T, s *githubsim.Server, token, line, body string, header ...string) result {
	t.Helper()
	r, err := try(s, token, line, body, header...)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return r
}

func try(s *githubsim.Server, token, line, body string, header ...string) (result, error) {
	method, path, _ := strings.Cut(line, " ")
	req, err := http.NewRequest(method, "https://api.github.com"+path, strings.NewReader(body))
	if err != nil {
		return result{}, err
	}

	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}

	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := s.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(req)
	if err != nil {
		return result{}, err
	}

	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return result{resp.StatusCode, resp.Header, string(text)}, err
}

// TestStatuses goes through the REST surface: who asks what, and which status with which words
// comes back.
func TestStatuses(t *testing.T) {
	app := "/repos/acme/app"
	for _, c := range []struct {
		token, line, body string
		status            int
		want              string
	}{
		{"tok-ann", "GET /user", "", 200, `"login":"ann"`},
		{"", "GET /user", "", 401, "Requires authentication"},
		{"nobody", "GET /user", "", 401, "Bad credentials"},
		{"tok-ci", "GET /user", "", 403, "Resource not accessible by integration"},
		{"", "GET " + app, "", 200, `"full_name":"acme/app"`},
		{"", "GET /api/v3" + app, "", 200, `"full_name":"acme/app"`},
		{"tok-rob", "GET /repos/acme/secret", "", 404, "Not Found"},
		{"tok-ann", "GET /repos/acme/secret", "", 200, `"private":true`},
		{"tok-ann", "GET /nowhere", "", 404, "Not Found"},
		{"tok-ann", "DELETE " + app + "/issues/1", "", 404, "Not Found"},

		{
			"tok-wes", "POST " + app + "/labels", `{"name":"new","color":"AABBCC","description":"d"}`, 201,
			`"color":"aabbcc"`,
		},
		{"tok-wes", "POST " + app + "/labels", `{"name":"BUG","color":"aabbcc"}`, 422, "already_exists"},
		{"tok-wes", "POST " + app + "/labels", `{"name":"x","color":"red"}`, 422, `"field":"color"`},
		{
			"tok-wes", "POST " + app + "/labels", `{"name":"` + strings.Repeat("x", 51) + `","color":"aabbcc"}`, 422,
			"too long",
		},
		{"tok-tia", "POST " + app + "/labels", `{"name":"new2","color":"aabbcc"}`, 404, "Not Found"},
		{"tok-wes", "POST " + app + "/labels", `{"name":`, 400, "Problems parsing JSON"},
		{"tok-wes", "PATCH " + app + "/labels/bug", `{"new_name":"ready"}`, 422, "already_exists"},
		{"tok-wes", "PATCH " + app + "/labels/none", `{}`, 404, "Not Found"},
		{"tok-wes", "GET " + app + "/labels/Bug", "", 200, `"name":"bug"`},
		{"tok-wes", "DELETE " + app + "/labels/none", "", 404, "Not Found"},

		{"tok-rob", "POST " + app + "/issues", `{"title":"t","labels":["bug"]}`, 201, `"labels":[]`},
		{"tok-tia", "POST " + app + "/issues", `{"title":"t","labels":[{"name":"bug"}]}`, 201, `"name":"bug"`},
		{"tok-tia", "POST " + app + "/issues", `{"title":" "}`, 422, "missing_field"},
		{"", "POST " + app + "/issues", `{"title":"t"}`, 401, "Requires authentication"},
		{"tok-rob", "GET " + app + "/issues/99", "", 404, "Not Found"},
		{"tok-rob", "GET " + app + "/issues/x", "", 404, "Not Found"},
		{"tok-rob", "PATCH " + app + "/issues/1", `{"title":"mine","labels":["ready"]}`, 200, `"title":"mine"`},
		{"tok-rob", "PATCH " + app + "/issues/2", `{"state":"closed"}`, 403, "Must have admin rights"},
		{"tok-tia", "PATCH " + app + "/issues/2", `{"state":"shut"}`, 422, `"field":"state"`},
		{
			"tok-tia", "PATCH " + app + "/issues/2", `{"state":"closed","state_reason":"not_planned"}`, 200,
			`"state_reason":"not_planned"`,
		},
		{"tok-tia", "PATCH " + app + "/issues/3", `{"state":"open"}`, 200, `"state_reason":"reopened"`},
		{"tok-tia", "PATCH " + app + "/issues/2", `{"labels":"bug"}`, 422, "not of the right type"},

		{"tok-tia", "POST " + app + "/issues/2/labels", `{"labels":["fresh"]}`, 200, `"color":"ededed"`},
		{"tok-tia", "POST " + app + "/issues/2/labels", `["ready"]`, 200, `"name":"ready"`},
		{"tok-tia", "POST " + app + "/issues/2/labels", `7`, 422, "Invalid request"},
		{"tok-rob", "POST " + app + "/issues/2/labels", `{"labels":["bug"]}`, 403, "Must have admin rights"},
		{"tok-tia", "DELETE " + app + "/issues/2/labels/none", "", 404, "Label does not exist"},
		{"tok-tia", "DELETE " + app + "/issues/2/labels/BUG", "", 200, `[{"color":"00ff00"`},
		{"tok-tia", "PUT " + app + "/issues/2/labels", `{"labels":["Ready"]}`, 200, `"name":"ready"`},
		{"tok-tia", "DELETE " + app + "/issues/2/labels", "", 204, ""},

		{"tok-rob", "POST " + app + "/issues/1/comments", `{"body":"hello"}`, 201, `"author_association":"NONE"`},
		{"tok-rob", "POST " + app + "/issues/1/comments", `{"body":" "}`, 422, "can't be blank"},
		{
			"tok-rob", "POST " + app + "/issues/1/comments", `{"body":"` + strings.Repeat("x", 65537) + `"}`, 422,
			"too long",
		},
		{
			"tok-fork", "POST " + app + "/issues/1/comments", `{"body":"hello"}`, 403,
			"Resource not accessible by integration",
		},
		{"tok-ci", "POST " + app + "/issues/1/comments", `{"body":"hello"}`, 201, `"slug":"github-actions"`},
		{"tok-rob", "GET " + app + "/issues/comments/7", "", 404, "Not Found"},

		{
			"tok-wes", "GET " + app + "/collaborators/tia/permission", "", 200,
			`"permission":"read","role_name":"triage"`,
		},
		{
			"tok-wes", "GET " + app + "/collaborators/mae/permission", "", 200,
			`"permission":"write","role_name":"maintain"`,
		},
		{"tok-wes", "GET " + app + "/collaborators/rob/permission", "", 200, `"permission":"read","role_name":"read"`},
		{"tok-wes", "GET " + app + "/collaborators/nobody/permission", "", 404, "nobody is not a user"},
		{
			"tok-ann", "GET /repos/acme/secret/collaborators/rob/permission", "", 200,
			`"permission":"none","role_name":""`,
		},
		{"tok-rob", "GET " + app + "/collaborators/ann/permission", "", 403, "Must have push access to view"},
		{"tok-rob", "GET " + app + "/collaborators/rob/permission", "", 200, `"role_name":"read"`},
		{"tok-ci", "GET " + app + "/collaborators/ann/permission", "", 200, `"role_name":"admin"`},

		{"tok-rob", "GET " + app + "/pulls/1", "", 404, "Not Found"},
		{"tok-rob", "GET " + app + "/pulls/4", "", 200, `"mergeable_state":"clean"`},
		{"tok-rob", "GET " + app + "/pulls/4/merge", "", 404, "Not Found"},
		{"tok-rob", "PUT " + app + "/pulls/4/merge", "", 403, "Must have push access"},
		{"tok-wes", "PUT " + app + "/pulls/4/merge", `{"sha":"0000"}`, 409, "Head branch was modified"},
		{
			"tok-wes", "POST " + app + "/pulls", `{"title":"p","head":"fix","base":"main"}`, 422,
			"A pull request already exists for acme:fix.",
		},
		{"tok-wes", "POST " + app + "/pulls", `{"title":"p","head":"","base":"main"}`, 422, "missing_field"},
		{
			"tok-wes", "POST " + app + "/pulls", `{"title":"p","head":"draft","base":"main","draft":true}`, 201,
			`"draft":true`,
		},
		{"tok-wes", "GET " + app + "/git/ref/heads/main", "", 409, "Git Repository is empty."},
	} {
		// Every case has a server of its own, so that rows can be added and moved.
		got := send(t, newServer(t), c.token, c.line, c.body)
		if got.status != c.status || !strings.Contains(got.text, c.want) {
			t.Errorf("%s as %q: %d %s\nwant %d with %s", c.line, c.token, got.status, got.text, c.status, c.want)
		}
	}
}
