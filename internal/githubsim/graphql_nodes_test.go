package githubsim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// sameData compares the data of an answer with JSON text.
func sameData(t *testing.T, text string, got map[string]any, want string) {
	t.Helper()
	var wanted any
	must(t, json.Unmarshal([]byte(want), &wanted))
	if a, b := fmt.Sprint(got["data"]), fmt.Sprint(wanted); a != b || got["errors"] != nil {
		t.Errorf("%s\n got %s %v\nwant %s", text, a, got["errors"], b)
	}
}

// TestNodes: every kind of object that a global id can stand for, found again by that id.
func TestNodes(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct{ id, fragment, want string }{
		{
			"$I2", "Issue{number url databaseId fullDatabaseId authorAssociation viewerCanLabel viewerCanUpdate locked editor{login} lastEditedAt}",
			`{"number":2,"url":"https://github.com/acme/app/issues/2","databaseId":null,"fullDatabaseId":"2400000002","authorAssociation":"MEMBER",` +
				`"viewerCanLabel":true,"viewerCanUpdate":true,"locked":false,"editor":null,"lastEditedAt":null}`,
		},
		{
			"$P4", "PullRequest{number url title body isCrossRepository headRepositoryOwner{__typename login} mergedAt mergedBy{login}}",
			`{"number":4,"url":"https://github.com/acme/app/pull/4","title":"Fix it","body":"Closes #1","isCrossRepository":false,` +
				`"headRepositoryOwner":{"__typename":"Organization","login":"acme"},"mergedAt":null,"mergedBy":null}`,
		},
		{
			"$C1", "IssueComment{url createdAt updatedAt issue{number} repository{name}}",
			`{"url":"https://github.com/acme/app/issues/1#issuecomment-2200000001","createdAt":"2026-05-01T19:42:33Z",` +
				`"updatedAt":"2026-05-01T19:42:33Z","issue":{"number":1},"repository":{"name":"app"}}`,
		},
		{"$bug", "Label{name url}", `{"name":"bug","url":"https://github.com/acme/app/labels/bug"}`},
		{
			"$repo", "Repository{name url isFork isPrivate parent{name} owner{login url}}",
			`{"name":"app","url":"https://github.com/acme/app","isFork":false,"isPrivate":false,"parent":null,` +
				`"owner":{"login":"acme","url":"https://github.com/acme"}}`,
		},
	} {
		text := expand(t, s, `{node(id:"`+c.id+`"){... on `+c.fragment+`}}`)
		sameData(t, text, query(t, s, "tok-wes", text), `{"node":`+c.want+`}`)
	}

	viewer := query(t, s, "tok-wes", `{viewer{id databaseId url resourcePath avatarUrl(size:9)}}`)
	text := fmt.Sprintf(`{nodes(ids:[%q,"nothing"]){id ... on User{login}}}`, field(viewer, "data.viewer.id"))
	sameData(t, text, query(t, s, "tok-wes", text),
		fmt.Sprintf(`{"nodes":[{"id":%q,"login":"wes"},null]}`, field(viewer, "data.viewer.id")))
}

// TestHiddenComment: hiding needs write, shows in GraphQL alone, moves updated_at and is not an edit.
func TestHiddenComment(t *testing.T) {
	s := newServer(t)
	if err := s.HideComment("acme/app", 2_200_000_001, "tia"); err == nil {
		t.Error("triage hid a comment")
	}

	must(t, s.HideComment("acme/app", 2_200_000_001, "wes"))
	text := `{` + app + `{issue(number:1){comments(first:2){nodes{isMinimized lastEditedAt}}}}}`
	sameData(t, text, query(t, s, "tok-wes", text),
		`{"repository":{"issue":{"comments":{"nodes":[{"isMinimized":true,"lastEditedAt":null},`+
			`{"isMinimized":false,"lastEditedAt":"2026-05-02T00:00:00Z"}]}}}}`)

	if got := send(t, s, "tok-wes", "GET /repos/acme/app/issues/comments/2200000001",
		"").json(t); got["updated_at"] == got["created_at"] {
		t.Errorf("hiding it left updated_at at %v", got["updated_at"])
	}
}

// TestTimelineItems: every kind of line, and the filters.
func TestTimelineItems(t *testing.T) {
	s := newServer(t)
	must(t, s.RemoveLabel("acme/app", 2, "tia", "bug"))
	must(t, s.Close("acme/app", 2, "ann"))
	must(t, s.Reopen("acme/app", 2, "ann"))
	send(t, s, "tok-ann", "PATCH /repos/acme/app/issues/2", `{"title":"New"}`)
	_, err := s.AddComment("acme/app", 2, "rob", "hi")
	must(t, err)
	text := `{` + app + `{issue(number:2){timelineItems(first:50){totalCount filteredCount pageCount nodes{__typename
		... on LabeledEvent{label{name} labelable{viewerCanLabel}} ... on UnlabeledEvent{actor{login} label{name}}
		... on ClosedEvent{stateReason closable{closed}} ... on ReopenedEvent{stateReason}
		... on RenamedTitleEvent{previousTitle currentTitle} ... on IssueComment{body}}}}}}`

	sameData(t, text, query(t, s, "tok-wes", text), `{"repository":{"issue":{"timelineItems":{"totalCount":7,"filteredCount":7,"pageCount":7,"nodes":[
		{"__typename":"LabeledEvent","label":{"name":"bug"},"labelable":{"viewerCanLabel":true}},
		{"__typename":"LabeledEvent","label":{"name":"ready"},"labelable":{"viewerCanLabel":true}},
		{"__typename":"UnlabeledEvent","actor":{"login":"tia"},"label":{"name":"bug"}},
		{"__typename":"ClosedEvent","stateReason":"COMPLETED","closable":{"closed":false}},
		{"__typename":"ReopenedEvent","stateReason":"REOPENED"},
		{"__typename":"RenamedTitleEvent","previousTitle":"Other","currentTitle":"New"},
		{"__typename":"IssueComment","body":"hi"}]}}}}`)
	text = `{` + app + `{issue(number:2){timelineItems(last:9,itemTypes:[LABELED_EVENT,UNLABELED_EVENT],skip:1){totalCount filteredCount
		nodes{... on LabeledEvent{createdAt} ... on UnlabeledEvent{label{name}}}}}}}`
	got := query(t, s, "tok-wes", text)
	if field(got, "data.repository.issue.timelineItems.filteredCount") != 2.0 {
		t.Errorf("filtered: %v", got)
	}

	n, err := s.OpenPull("acme/app", "wes", githubsim.Pull{Title: "p", Head: "x", Draft: true})
	must(t, err)
	id := field(query(t, s, "tok-wes", fmt.Sprintf(`{%s{pullRequest(number:%d){id}}}`, app, n)),
		"data.repository.pullRequest.id")
	query(t, s, "tok-wes", fmt.Sprintf(`mutation{markPullRequestReadyForReview(input:{pullRequestId:%q}){pullRequest{id}}}`, id))
	must(t, s.MergePull("acme/app", n, "wes"))
	text = fmt.Sprintf(`{%s{pullRequest(number:%d){state timelineItems(first:9){nodes{__typename ... on MergedEvent{mergeRefName actor{login}}}}}}}`, app, n)
	sameData(t, text, query(t, s, "tok-wes", text), `{"repository":{"pullRequest":{"state":"MERGED","timelineItems":{"nodes":[
		{"__typename":"ReadyForReviewEvent"},{"__typename":"MergedEvent","mergeRefName":"main","actor":{"login":"wes"}},{"__typename":"ClosedEvent"}]}}}}`)
}

// TestGitObjects: references, commits and tags by GraphQL, beside what REST says.
func TestGitObjects(t *testing.T) {
	s := withGit(t)
	sha := identity(t, s, "who I am")
	send(t, s, "tok-wes", "POST /repos/acme/app/git/refs", fmt.Sprintf(`{"ref":"refs/x/claims/1","sha":%q}`, sha))
	tag := send(t, s, "tok-wes", "POST /repos/acme/app/git/tags",
		fmt.Sprintf(`{"tag":"v1","message":"first","object":%q,"type":"commit"}`, sha))
	oid, _ := tag.json(t)["sha"].(string)
	send(t, s, "tok-wes", "POST /repos/acme/app/git/refs", fmt.Sprintf(`{"ref":"refs/tags/v1","sha":%q}`, oid))
	text := `{` + app + `{a:ref(qualifiedName:"refs/x/claims/1"){name prefix target{oid abbreviatedOid ... on Commit{message}}}
		b:ref(qualifiedName:"refs/tags/v1"){name prefix target{oid ... on Tag{name message}}} c:ref(qualifiedName:"refs/x/none"){name}
		defaultBranchRef{name prefix target{repository{name}}} pullRequest(number:4){headRefOid}}}`
	head := field(send(t, s, "tok-wes", "GET /repos/acme/app/pulls/4", "").json(t), "head.sha")
	sameData(t, text, query(t, s, "tok-wes", text), fmt.Sprintf(`{"repository":{
		"a":{"name":"1","prefix":"refs/x/claims/","target":{"oid":%q,"abbreviatedOid":%q,"message":"who I am"}},
		"b":{"name":"v1","prefix":"refs/tags/","target":{"oid":%q,"name":"v1","message":"first"}},"c":null,
		"defaultBranchRef":{"name":"main","prefix":"refs/heads/","target":{"repository":{"name":"app"}}},"pullRequest":{"headRefOid":%q}}}`,
		sha, sha[:7], oid, head))
}

// TestMutationsAreSeparate: a mutation whose second field fails has still done its first, and a
// read between them is possible.
func TestMutationsAreSeparate(t *testing.T) {
	s := newServer(t)
	text := expand(t, s, `mutation{a:addComment(input:{subjectId:"$I2",body:"kept"}){clientMutationId}
		b:addLabelsToLabelable(input:{labelableId:"$I2",labelIds:["LA_none"]}){clientMutationId}
		c:addComment(input:{subjectId:"$I2",body:"too"}){clientMutationId}}`)
	got := query(t, s, "tok-wes", text)
	if list, _ := got["errors"].([]any); len(list) != 1 || field(got, "data.a") == nil || field(got, "data.b") != nil ||
		field(got, "data.c") == nil {
		t.Errorf("answer: %v", got)
	}

	if now := bodies(t, s); now != "kept too" {
		t.Errorf("comments %q", now)
	}
	stale := githubsim.Fault{StalePrefix: 1}
	s.Fault = once(stale)
	if past := send(t, s, "tok-wes", "GET "+comments, ""); strings.Contains(past.text, "too") ||
		!strings.Contains(past.text, "kept") {
		t.Errorf("between the two: %s", past.text)
	}
}
