package githubsim_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

const grantedSeed = `{
 "users": [
  {"login": "ann", "token": "tok-ann", "permissions": {"acme/app": "admin", "acme/secret": "admin"}, "scopes": ["repo"]},
  {"login": "pat", "token": "tok-pat", "permissions": {"acme/app": "write", "acme/secret": "write"}, "token_permissions": {%s}},
  {"login": "github-actions[bot]", "token": "tok-ci", "permissions": {"acme/app": "write", "acme/secret": "write"}, "token_permissions": {%s}},
  {"login": "cas", "token": "tok-cas", "permissions": {"acme/app": "triage:issue-manager"}}
 ],
 "repos": [
  {"name": "acme/app", "labels": [{"name": "bug", "color": "ff0000"}],
   "issues": [{"number": 1, "title": "One", "comments": [{"body": "hello", "author": "ann"}, {"body": "buy", "author": "spammer", "spam": true}]}],
   "pulls": [{"number": 2, "title": "Two", "head": "two", "author": "ann"}]},
  {"name": "acme/secret", "private": true, "labels": [{"name": "bug", "color": "ff0000"}],
   "issues": [{"number": 1, "title": "One", "comments": [{"body": "hello", "author": "ann"}]}], "pulls": [{"number": 2, "title": "Two", "head": "two", "author": "ann"}]},
  {"name": "old.org/app_1"}
 ]}`

// granted is a server where pat's and the workflow's tokens have those permissions.
func granted(t *testing.T, permissions string) *githubsim.Server {
	t.Helper()
	seed, err := githubsim.LoadSeed(strings.NewReader(fmt.Sprintf(grantedSeed, permissions, permissions)))
	must(t, err)
	s, err := githubsim.New(seed, githubsim.Options{Dir: t.TempDir()})
	must(t, err)
	return s
}

// TestTokenPermissions: what a token's permissions allow in a repository where its account may
// write: the row names what GitHub's header says that the endpoint accepts. Source: "Permissions
// required for GitHub Apps" (github/docs,
// src/github-apps/data/fpt-2022-11-28/server-to-server-permissions.json at 058fa63).
func TestTokenPermissions(t *testing.T) {
	const secret = "/repos/acme/secret"
	for _, c := range []struct{ line, body, accepted, enough string }{
		{"GET " + secret, "", "metadata=read", ``},
		{"GET " + secret + "/issues", "", "issues=read", `"issues": "read"`},
		{"GET " + secret + "/issues/1/comments", "", "issues=read; pull_requests=read", `"pull_requests": "read"`},
		{"POST " + secret + "/issues", `{"title":"t"}`, "issues=write", `"issues": "write"`},
		{
			"POST " + secret + "/issues/1/comments", `{"body":"b"}`, "issues=write; pull_requests=write",
			`"issues": "write"`,
		},
		{
			"POST " + secret + "/issues/1/labels", `{"labels":["bug"]}`, "issues=write; pull_requests=write",
			`"pull_requests": "write"`,
		},
		{
			"POST " + secret + "/labels", `{"name":"n","color":"aabbcc"}`, "issues=write; pull_requests=write",
			`"issues": "write"`,
		},
		{
			"PATCH " + secret + "/issues/1", `{"state":"closed"}`, "issues=write; pull_requests=write",
			`"issues": "write"`,
		},
		{"GET " + secret + "/pulls/2", "", "pull_requests=read", `"pull_requests": "read"`},
		{"PATCH " + secret + "/pulls/2", `{"title":"u"}`, "pull_requests=write", `"pull_requests": "write"`},
		{"GET " + secret + "/git/ref/heads/main", "", "contents=read", `"contents": "read"`},
		{"POST " + secret + "/git/blobs", `{"content":"x"}`, "contents=write", `"contents": "write"`},
		{"GET " + secret + "/commits/main/check-runs", "", "checks=read", `"checks": "read"`},
		{"GET " + secret + "/commits/main/status", "", "statuses=read", `"statuses": "read"`},
	} {
		for token, who := range map[string]string{"tok-ci": "integration", "tok-pat": "personal access token"} {
			if c.enough != "" {
				got := send(t, granted(t, `"metadata": "read"`), token, c.line, c.body)
				if got.status != 403 || !strings.Contains(got.text, `"Resource not accessible by `+who+`"`) ||
					got.header.Get("X-Accepted-GitHub-Permissions") != c.accepted {
					t.Errorf("%s with metadata alone: %d %q %s", c.line, got.status,
						got.header.Get("X-Accepted-GitHub-Permissions"), got.text)
				}
			}

			got := send(t, granted(t, c.enough), token, c.line, c.body)
			if got.status >= 300 || got.header.Get("X-Accepted-GitHub-Permissions") != c.accepted {
				t.Errorf("%s with %s: %d %q %s", c.line, c.enough, got.status,
					got.header.Get("X-Accepted-GitHub-Permissions"), got.text)
			}
		}
	}
}

// TestTokenPermissionsBounds: what is public is read without a permission, what is hidden stays
// 404, a classic token has none of this, and permissions do not lift a role.
func TestTokenPermissionsBounds(t *testing.T) {
	s := granted(t, "")
	for _, c := range []struct {
		token, line, body string
		want              int
	}{
		{"tok-pat", "GET /repos/acme/app/issues/1/comments", "", 200},
		{"tok-pat", "GET /repos/acme/app/pulls/2", "", 200},
		{"tok-pat", "POST /repos/acme/app/issues/1/comments", `{"body":"b"}`, 403},
		{"tok-pat", "GET /repos/acme/gone/issues", "", 404},
		{"tok-cas", "GET /repos/acme/secret/issues", "", 404},
		{"tok-ann", "POST /repos/acme/secret/issues/1/comments", `{"body":"b"}`, 201},
		{"tok-cas", "POST /repos/acme/app/labels", `{"name":"n","color":"aabbcc"}`, 404},
	} {
		if got := send(t, s, c.token, c.line, c.body); got.status != c.want {
			t.Errorf("%s %s: %d, want %d: %s", c.token, c.line, got.status, c.want, got.text)
		}
	}

	if got := send(t, s, "tok-ann", "GET /repos/acme/app", "").header["X-Accepted-Github-Permissions"]; got != nil {
		t.Errorf("a classic token is told %q", got)
	}
}

// TestTokenPermissionsGraphQL: mutations and the fields of a private repository need what REST
// needs for the same.
func TestTokenPermissionsGraphQL(t *testing.T) {
	s := granted(t, "")
	fields := map[string]string{
		"issue": "issue(number:1){id}", "issues": "issues(first:1){totalCount}",
		"pullRequest":  "pullRequest(number:2){id}",
		"pullRequests": "pullRequests(first:1){totalCount}", "labels": "labels(first:1){totalCount}",
		"label":              `label(name:"bug"){id}`,
		"ref":                `ref(qualifiedName:"refs/heads/main"){name}`,
		"issueOrPullRequest": "issueOrPullRequest(number:1){__typename}",
	}

	for name, field := range fields {
		for repo, refused := range map[string]bool{"secret": true, "app": false} {
			got := graphQL(t, s, "tok-ci", fmt.Sprintf(`{repository(owner:"acme",name:%q){%s}}`, repo, field))
			if strings.Contains(got, "FORBIDDEN") != refused ||
				refused != strings.Contains(got, "Resource not accessible by integration") {
				t.Errorf("%s in acme/%s: %s", name, repo, got)
			}
		}
	}

	ids := graphQL(t, s, "tok-ann",
		`{repository(owner:"acme",name:"app"){id issue(number:1){id comments(first:1){nodes{id}}} pullRequest(number:2){id} label(name:"bug"){id}}}`)
	id := func(kind string) string {
		return regexp.MustCompile(`"id":"(` + kind + `_[^"]*)"`).FindStringSubmatch(ids)[1]
	}

	for _, mutation := range []string{
		`addComment(input:{subjectId:"I",body:"b"})`, `updateIssueComment(input:{id:"IC",body:"b"})`,
		`deleteIssueComment(input:{id:"IC"})`,
		`addLabelsToLabelable(input:{labelableId:"I",labelIds:["LA"]})`,
		`removeLabelsFromLabelable(input:{labelableId:"I",labelIds:["LA"]})`,
		`addReaction(input:{subjectId:"IC",content:EYES})`, `convertPullRequestToDraft(input:{pullRequestId:"PR"})`,
		`markPullRequestReadyForReview(input:{pullRequestId:"PR"})`, `closeIssue(input:{issueId:"I"})`,
		`reopenIssue(input:{issueId:"I"})`,
		`minimizeComment(input:{subjectId:"IC",classifier:SPAM})`, `unminimizeComment(input:{subjectId:"IC"})`,
		`updateRefs(input:{repositoryId:"R",refUpdates:[]})`,
	} {
		document := regexp.MustCompile(`"(I|IC|PR|LA|R)"`).ReplaceAllStringFunc(mutation,
			func(q string) string { return `"` + id(strings.Trim(q, `"`)) + `"` })
		got := graphQL(t, s, "tok-ci", "mutation{"+document+"{clientMutationId}}")
		if !strings.Contains(got, "FORBIDDEN") || !strings.Contains(got, "Resource not accessible by integration") {
			t.Errorf("%s: %s", mutation, got)
		}

		if name, _, _ := strings.Cut(mutation, "("); !strings.Contains(allMutations(t), "  "+name+"(") {
			t.Errorf("%s is no mutation", name)
		}
	}

	if want := strings.Count(allMutations(t), "(input:"); want != 13 {
		t.Errorf("the schema has %d mutations; this test knows 13", want)
	}
}

// TestSpam: comments that GitHub hides as spam are counted and not listed.
func TestSpam(t *testing.T) {
	s := granted(t, "")
	if got := send(t, s, "tok-ann", "GET /repos/acme/app/issues/1", ""); !strings.Contains(got.text, `"comments":2`) {
		t.Errorf("not counted: %s", got.text)
	}

	if got := send(t, s, "tok-ann", "GET /repos/acme/app/issues/1/comments", ""); strings.Contains(got.text, "buy") ||
		!strings.Contains(got.text, "hello") || strings.Contains(got.header.Get("Link"), "page") {
		t.Errorf("listed: %v %s", got.header, got.text)
	}

	got := graphQL(t, s, "tok-ann",
		`{repository(owner:"acme",name:"app"){issue(number:1){comments(first:100){totalCount nodes{body} pageInfo{hasNextPage}}}}}`)
	if !strings.Contains(got, `"totalCount":2`) || strings.Contains(got, "buy") ||
		!strings.Contains(got, `"hasNextPage":false`) {
		t.Error(got)
	}

	id, err := s.AddComment("acme/app", 1, "ann", "later")
	must(t, err)
	must(t, s.MarkSpam("acme/app", id))
	if got := send(t, s, "tok-ann", fmt.Sprintf("GET /repos/acme/app/issues/comments/%d", id), ""); got.status != 404 {
		t.Errorf("spam is there: %d", got.status)
	}
}

// TestMinimize: hiding a comment moves when it was updated and is not an edit.
func TestMinimize(t *testing.T) {
	s := granted(t, "")
	id, err := s.AddComment("acme/app", 1, "ann", "later")
	must(t, err)
	look := func() (updated, rest string) {
		got := graphQL(t, s, "tok-ann",
			`{repository(owner:"acme",name:"app"){issue(number:1){comments(last:1){nodes{updatedAt isMinimized minimizedReason lastEditedAt}}}}}`)
		m := regexp.MustCompile(`"updatedAt":("[^"]*"),(.*?)}`).FindStringSubmatch(got)
		return m[1], m[2]
	}

	before, _ := look()
	s.Skip(3e9)
	must(t, s.HideComment("acme/app", id, "ann"))
	hidden, rest := look()
	if hidden <= before || rest != `"isMinimized":true,"minimizedReason":"outdated","lastEditedAt":null` {
		t.Errorf("hidden: %s then %s %s", before, hidden, rest)
	}

	if got := send(t, s, "tok-ann", fmt.Sprintf("GET /repos/acme/app/issues/comments/%d", id),
		""); !strings.Contains(got.text, `"minimized":{"reason":"outdated"}`) {
		t.Error(got.text)
	}

	s.Skip(3e9)
	must(t, s.UnhideComment("acme/app", id, "ann"))
	if shown, rest := look(); shown <= hidden ||
		rest != `"isMinimized":false,"minimizedReason":null,"lastEditedAt":null` {
		t.Errorf("shown: %s then %s %s", hidden, shown, rest)
	}

	if err := s.HideComment("acme/app", id, "cas"); err == nil {
		t.Error("triage hides what others wrote")
	}
}

// TestMinimizeAsToken: GraphQL minimizes for a token that may write issues, with a classifier that
// GitHub has.
func TestMinimizeAsToken(t *testing.T) {
	for permissions, may := range map[string]bool{
		`"issues": "write"`: true, `"pull_requests": "write"`: false,
		`"issues": "read"`: false,
	} {
		s := granted(t, permissions)
		id, err := s.AddComment("acme/app", 1, "ann", "later")
		must(t, err)
		got := graphQL(t, s, "tok-ann",
			`{repository(owner:"acme",name:"app"){issue(number:1){comments(last:1){nodes{id}}}}}`)
		node := regexp.MustCompile(`"id":"([^"]*)"`).FindStringSubmatch(got)[1]
		hide := func(classifier string) string {
			return graphQL(t, s, "tok-pat",
				fmt.Sprintf(`mutation{minimizeComment(input:{subjectId:%q,classifier:%s}){minimizedComment{isMinimized}}}`, node, classifier))
		}

		if text := hide("BORING"); !strings.Contains(text, "errors") {
			t.Errorf("no such classifier: %s", text)
		}

		if text := hide("OUTDATED"); strings.Contains(text, `"isMinimized":true`) != may ||
			strings.Contains(text, `"FORBIDDEN"`) == may {
			t.Errorf("%s: %s", permissions, text)
		}

		if text := send(t, s, "tok-ann", fmt.Sprintf("GET /repos/acme/app/issues/comments/%d", id),
			"").text; strings.Contains(text, "outdated") != may {
			t.Errorf("%s: %s", permissions, text)
		}
	}
}

// TestOwners: logins of old organizations and of managed users have dots and underscores.
func TestOwners(t *testing.T) {
	if got := send(t, granted(t, ""), "tok-ann", "GET /repos/old.org/app_1", ""); got.status != 200 {
		t.Errorf("%d %s", got.status, got.text)
	}
}

func TestTokenPermissionsSeed(t *testing.T) {
	for given, want := range map[string]string{
		`"token_permissions": {"issue": "write"}`:                                         `token permission "issue": expected one of checks, contents, issues`,
		`"token_permissions": {"issues": "rw"}`:                                           `token permission issues: "rw": expected none, read, write or admin`,
		`"token_permissions": {}, "scopes": ["repo"]`:                                     "one of them",
		`"permissions": {"acme/app": "issue-manager"}, "token_permissions": {}`:           `permission "issue-manager": expected `,
		`"token_permissions": {"issues": "read"}, "read_only": true, "permissions": null`: "one of them",
	} {
		seed, err := githubsim.LoadSeed(strings.NewReader(`{"users": [{"login": "a", "token": "t", ` + given +
			`}], "repos": [{"name": "acme/app"}]}`))
		must(t, err)
		if _, err := githubsim.New(seed, githubsim.Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", given, err, want)
		}
	}
}

// graphQL sends a document and returns the answer as text.
func graphQL(t *testing.T, s *githubsim.Server, token, document string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": document})
	must(t, err)
	return send(t, s, token, "POST /graphql", string(body)).text
}

// allMutations is the schema's list of them.
func allMutations(t *testing.T) string {
	t.Helper()
	schema, err := os.ReadFile("schema.graphql")
	must(t, err)
	_, after, _ := strings.Cut(string(schema), "type Mutation {\n")
	list, _, _ := strings.Cut(after, "}\n")
	return list
}
