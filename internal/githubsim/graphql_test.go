package githubsim_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// query sends one GraphQL document and returns the answer, which has to be 200.
func query(t *testing.T, s *githubsim.Server, token, text string) map[string]any {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": text})
	if err != nil {
		t.Fatal(err)
	}

	got := send(t, s, token, "POST /graphql", string(body))
	if got.status != 200 {
		t.Fatalf("%s: %d %s", text, got.status, got.text)
	}

	return got.json(t)
}

const app = `repository(owner:"acme",name:"app")`

// TestQueries: what a document reads, as the JSON that comes back.
func TestQueries(t *testing.T) {
	s := newServer(t)
	if _, err := s.AddComment("acme/app", 1, "github-actions[bot]", "from a workflow"); err != nil {
		t.Fatal(err)
	}

	if err := s.Block("acme/app", 1, 2, "ann"); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct{ query, want string }{
		{`{viewer{login __typename}}`, `{"viewer":{"login":"wes","__typename":"User"}}`},
		{
			`{` + app + `{nameWithOwner viewerPermission viewerCanAdminister isArchived hasIssuesEnabled defaultBranchRef{name target{oid}}}}`,
			`{"repository":{"nameWithOwner":"acme/app","viewerPermission":"WRITE","viewerCanAdminister":false,"isArchived":false,` +
				`"hasIssuesEnabled":true,"defaultBranchRef":{"name":"main","target":null}}}`,
		},
		{
			`{` + app + `{a:label(name:"READY"){name description color} b:label(name:"none"){name}}}`,
			`{"repository":{"a":{"name":"ready","description":"go","color":"00ff00"},"b":null}}`,
		},
		{
			`{` + app + `{a:issue(number:1){number state labels(first:9){totalCount nodes{name}}} b:issue(number:3){state stateReason closed}}}`,
			`{"repository":{"a":{"number":1,"state":"OPEN","labels":{"totalCount":1,"nodes":[{"name":"bug"}]}},` +
				`"b":{"state":"CLOSED","stateReason":"NOT_PLANNED","closed":true}}}`,
		},
		{
			`{` + app + `{issue(number:1){comments(first:2){totalCount pageInfo{hasNextPage hasPreviousPage} nodes{databaseId fullDatabaseId body lastEditedAt editor{login} author{login}}}}}}`,
			`{"repository":{"issue":{"comments":{"totalCount":3,"pageInfo":{"hasNextPage":true,"hasPreviousPage":false},"nodes":[` +
				`{"databaseId":null,"fullDatabaseId":"2200000001","body":"me too","lastEditedAt":null,"editor":null,"author":{"login":"rob"}},` +
				`{"databaseId":null,"fullDatabaseId":"2200000002","body":"edited","lastEditedAt":"2026-05-02T00:00:00Z","editor":{"login":"ann"},"author":{"login":"wes"}}]}}}}`,
		},
		{
			`{` + app + `{issue(number:1){comments(last:1){nodes{body author{__typename login} authorAssociation isMinimized viewerDidAuthor}}}}}`,
			`{"repository":{"issue":{"comments":{"nodes":[{"body":"from a workflow","author":{"__typename":"Bot","login":"github-actions"},` +
				`"authorAssociation":"NONE","isMinimized":false,"viewerDidAuthor":false}]}}}}`,
		},
		{
			`{` + app + `{issue(number:1){blockedBy(first:5){nodes{number state repository{nameWithOwner}}}}}}`,
			`{"repository":{"issue":{"blockedBy":{"nodes":[{"number":2,"state":"OPEN","repository":{"nameWithOwner":"acme/app"}}]}}}}`,
		},
		{
			`{` + app + `{issue(number:1){closedByPullRequestsReferences(first:5,includeClosedPrs:true){totalCount nodes{number state isDraft merged baseRefName headRefName headRepository{nameWithOwner} author{login}}}}}}`,
			`{"repository":{"issue":{"closedByPullRequestsReferences":{"totalCount":1,"nodes":[{"number":4,"state":"OPEN","isDraft":false,"merged":false,` +
				`"baseRefName":"main","headRefName":"fix","headRepository":{"nameWithOwner":"acme/app"},"author":{"login":"wes"}}]}}}}`,
		},
		{
			`{` + app + `{pullRequest(number:4){closingIssuesReferences(first:5){totalCount nodes{number repository{nameWithOwner}}}}}}`,
			`{"repository":{"pullRequest":{"closingIssuesReferences":{"totalCount":1,"nodes":[{"number":1,"repository":{"nameWithOwner":"acme/app"}}]}}}}`,
		},
		{
			`{` + app + `{a:issueOrPullRequest(number:1){__typename ... on Issue{number}} b:issueOrPullRequest(number:4){__typename ... on PullRequest{number}}}}`,
			`{"repository":{"a":{"__typename":"Issue","number":1},"b":{"__typename":"PullRequest","number":4}}}`,
		},
		{
			`{` + app + `{issues(first:9,states:[OPEN],labels:["ready","none"]){nodes{number}}}}`,
			`{"repository":{"issues":{"nodes":[{"number":2}]}}}`,
		},
		{
			`{` + app + `{issues(first:2,orderBy:{field:CREATED_AT,direction:DESC}){totalCount nodes{number}}}}`,
			`{"repository":{"issues":{"totalCount":3,"nodes":[{"number":3},{"number":2}]}}}`,
		},
		{
			`{` + app + `{issues(first:9,filterBy:{since:"2090-01-01T00:00:00Z"}){totalCount}}}`,
			`{"repository":{"issues":{"totalCount":0}}}`,
		},
		{
			`{` + app + `{pullRequests(first:9,states:[OPEN],headRefName:"fix"){nodes{number}}}}`,
			`{"repository":{"pullRequests":{"nodes":[{"number":4}]}}}`,
		},
		{
			`{` + app + `{issue(number:1){timelineItems(first:9,itemTypes:[LABELED_EVENT]){nodes{__typename ... on LabeledEvent{actor{login} label{name}}}}}}}`,
			`{"repository":{"issue":{"timelineItems":{"nodes":[{"__typename":"LabeledEvent","actor":{"login":"rob"},"label":{"name":"bug"}}]}}}}`,
		},
		{
			`{` + app + `{issue(number:3){timelineItems(last:1,itemTypes:[CLOSED_EVENT,REOPENED_EVENT]){nodes{... on ClosedEvent{stateReason actor{login}}}}}}}`,
			`{"repository":{"issue":{"timelineItems":{"nodes":[{"stateReason":"NOT_PLANNED","actor":{"login":"ann"}}]}}}}`,
		},
		{`{rateLimit{cost limit remaining}}`, `{"rateLimit":{"cost":1,"limit":5000,"remaining":4983}}`},
	} {
		got := query(t, s, "tok-wes", c.query)
		var want any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}

		if a, b := fmt.Sprint(got["data"]), fmt.Sprint(want); a != b || got["errors"] != nil {
			t.Errorf("%s\n got %s %v\nwant %s", c.query, a, got["errors"], b)
		}
	}
}

// TestQueryErrors: type, path and message of the first error, and what is left of the data.
func TestQueryErrors(t *testing.T) {
	for _, c := range []struct{ token, query, kind, path, message, data string }{
		{
			"tok-wes", `{` + app + `{a:issue(number:1){number} b:issue(number:99){number}}}`, "NOT_FOUND",
			"[repository b]",
			"Could not resolve to an Issue with the number of 99.", `map[repository:map[a:map[number:1] b:<nil>]]`,
		},
		{
			"tok-wes", `{` + app + `{issue(number:4){number}}}`, "NOT_FOUND", "[repository issue]",
			"Could not resolve to an Issue with the number of 4.", "",
		},
		{
			"tok-wes", `{` + app + `{pullRequest(number:1){number}}}`, "NOT_FOUND", "[repository pullRequest]",
			"Could not resolve to a PullRequest with the number of 1.", "",
		},
		{
			"tok-wes", `{a:repository(owner:"acme",name:"none"){name}}`, "NOT_FOUND", "[a]",
			"Could not resolve to a Repository with the name 'acme/none'.", `map[a:<nil>]`,
		},
		{
			"tok-wes", `{repository(owner:"acme",name:"secret"){name}}`, "NOT_FOUND", "[repository]",
			"Could not resolve to a Repository with the name 'acme/secret'.", "",
		},
		{
			"tok-wes", `{node(id:"I_x"){id}}`, "NOT_FOUND", "[node]",
			"Could not resolve to a node with the global id of 'I_x'.", "",
		},
		{
			"tok-wes", `{` + app + `{labels{totalCount}}}`, "MISSING_PAGINATION_BOUNDARIES", "[repository labels]",
			"You must provide a `first` or `last` value to properly paginate the `labels` connection.", "",
		},
		{
			"tok-wes", `{` + app + `{issues(first:101){totalCount}}}`, "EXCESSIVE_PAGINATION", "[repository issues]",
			"Requesting 101 records on the `issues` connection exceeds the `first` limit of 100 records.", "",
		},
		{
			"tok-wes", `{` + app + `{issues(first:1,after:"x"){totalCount}}}`, "INVALID_CURSOR_ARGUMENTS",
			"[repository issues]",
			"`x` does not appear to be a valid cursor.", "",
		},
		{"tok-wes", `{nonsense}`, "", "[]", `Cannot query field "nonsense" on type "Query". Did you mean "nodes"?`, ""},
		{
			"tok-rob", `mutation{addLabelsToLabelable(input:{labelableId:"$I2",labelIds:["$bug"]}){clientMutationId}}`,
			"FORBIDDEN",
			"[addLabelsToLabelable]", "Must have admin rights to Repository.", `map[addLabelsToLabelable:<nil>]`,
		},
		{
			"tok-fork", `mutation{addComment(input:{subjectId:"$I2",body:"x"}){clientMutationId}}`, "FORBIDDEN",
			"[addComment]",
			"Resource not accessible by integration", "",
		},
		{
			"tok-wes", `mutation{addComment(input:{subjectId:"$I2",body:""}){clientMutationId}}`, "UNPROCESSABLE",
			"[addComment]",
			"body can't be blank", "",
		},
		{
			"tok-wes", `mutation{updateRefs(input:{repositoryId:"$repo",refUpdates:[]}){clientMutationId}}`,
			"UNPROCESSABLE", "[updateRefs]",
			"Git Repository is empty.", "",
		},
	} {
		s := newServer(t)
		got := query(t, s, c.token, expand(t, s, c.query))
		list, _ := got["errors"].([]any)
		if len(list) != 1 {
			t.Errorf("%s: errors %v", c.query, got["errors"])
			continue
		}

		e, _ := list[0].(map[string]any)
		kind, _ := e["type"].(string)
		path, _ := e["path"].([]any)
		if kind != c.kind || fmt.Sprint(path) != c.path || e["message"] != c.message {
			t.Errorf("%s: error %v", c.query, e)
		}

		if data := fmt.Sprint(got["data"]); c.data != "" && data != c.data {
			t.Errorf("%s: data %s, want %s", c.query, data, c.data)
		}
	}
}

// expand puts global ids in for $repo, $I2 (issue 2), $P4 (pull request 4), $C1 (first comment of
// issue 1), $bug and $ready.
func expand(t *testing.T, s *githubsim.Server, text string) string {
	t.Helper()
	data := query(t, s, "tok-ann", `{`+app+`{id i:issue(number:2){id} p:pullRequest(number:4){id}
		c:issue(number:1){comments(first:1){nodes{id}}} bug:label(name:"bug"){id} ready:label(name:"ready"){id}}}`)
	repo, _ := field(data, "data.repository").(map[string]any)
	first, _ := field(repo, "c.comments.nodes").([]any)
	comment, _ := first[0].(map[string]any)

	return strings.NewReplacer(
		"$repo", fmt.Sprint(repo["id"]), "$I2", fmt.Sprint(field(repo, "i.id")), "$P4", fmt.Sprint(field(repo, "p.id")),
		"$C1", fmt.Sprint(comment["id"]), "$bug", fmt.Sprint(field(repo, "bug.id")), "$ready",
		fmt.Sprint(field(repo, "ready.id")),
	).Replace(text)
}

// TestMutations: one document each, and what its payload shows.
func TestMutations(t *testing.T) {
	for _, c := range []struct{ query, want string }{
		{
			`mutation{addComment(input:{subjectId:"$I2",body:"hi",clientMutationId:"m1"}){clientMutationId commentEdge{node{body author{login}}}
			subject{... on Issue{comments(last:1){totalCount nodes{body}}}}}}`,
			`{"addComment":{"clientMutationId":"m1","commentEdge":{"node":{"body":"hi","author":{"login":"wes"}}},
			"subject":{"comments":{"totalCount":1,"nodes":[{"body":"hi"}]}}}}`,
		},
		{
			`mutation{a:addLabelsToLabelable(input:{labelableId:"$P4",labelIds:["$bug","$ready"]}){labelable{labels(first:9){nodes{name}}}}
			r:removeLabelsFromLabelable(input:{labelableId:"$P4",labelIds:["$bug"]}){labelable{... on PullRequest{number} labels(first:9){nodes{name}}}}}`,
			`{"a":{"labelable":{"labels":{"nodes":[{"name":"bug"},{"name":"ready"}]}}},
			"r":{"labelable":{"number":4,"labels":{"nodes":[{"name":"ready"}]}}}}`,
		},
		{
			`mutation{updateIssueComment(input:{id:"$C1",body:"new"}){issueComment{body editor{login} includesCreatedEdit}}}`,
			`{"updateIssueComment":{"issueComment":{"body":"new","editor":{"login":"wes"},"includesCreatedEdit":true}}}`,
		},
		{
			`mutation{deleteIssueComment(input:{id:"$C1"}){clientMutationId}}`,
			`{"deleteIssueComment":{"clientMutationId":null}}`,
		},
		{
			`mutation{addReaction(input:{subjectId:"$C1",content:THUMBS_UP}){reaction{content user{login}}}}`,
			`{"addReaction":{"reaction":{"content":"THUMBS_UP","user":{"login":"wes"}}}}`,
		},
		{
			`mutation{c:convertPullRequestToDraft(input:{pullRequestId:"$P4"}){pullRequest{isDraft}}
			m:markPullRequestReadyForReview(input:{pullRequestId:"$P4"}){pullRequest{isDraft}}}`,
			`{"c":{"pullRequest":{"isDraft":true}},"m":{"pullRequest":{"isDraft":false}}}`,
		},
		{
			`mutation{convertPullRequestToDraft(input:{pullRequestId:"$P4"}){pullRequest{timelineItems(first:9,itemTypes:[CONVERT_TO_DRAFT_EVENT]){filteredCount}}}
			again:convertPullRequestToDraft(input:{pullRequestId:"$P4"}){pullRequest{timelineItems(first:9,itemTypes:[CONVERT_TO_DRAFT_EVENT]){filteredCount}}}}`,
			`{"convertPullRequestToDraft":{"pullRequest":{"timelineItems":{"filteredCount":1}}},"again":{"pullRequest":{"timelineItems":{"filteredCount":1}}}}`,
		},
		{
			`mutation{c:closeIssue(input:{issueId:"$I2",stateReason:NOT_PLANNED}){issue{state stateReason}} r:reopenIssue(input:{issueId:"$I2"}){issue{state stateReason}}}`,
			`{"c":{"issue":{"state":"CLOSED","stateReason":"NOT_PLANNED"}},"r":{"issue":{"state":"OPEN","stateReason":"REOPENED"}}}`,
		},
	} {
		s := newServer(t)
		got := query(t, s, "tok-wes", expand(t, s, c.query))
		var want any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}

		if a, b := fmt.Sprint(got["data"]), fmt.Sprint(want); a != b || got["errors"] != nil {
			t.Errorf("%s\n got %s %v\nwant %s", c.query, a, got["errors"], b)
		}

		if log := s.Requests(); !log[len(log)-1].Writes() || log[0].Writes() {
			t.Errorf("request log does not tell mutations from queries: %+v", log)
		}
	}
}

// TestRefusedMutations: the request log tells a mutation of which nothing was carried out from one
// that changed something.
func TestRefusedMutations(t *testing.T) {
	const (
		may = `reopenIssue(input:{issueId:"$I2"}){issue{state}}`
		not = `addComment(input:{subjectId:"I_none",body:"x"}){clientMutationId}`
	)

	for _, c := range []struct {
		query string
		want  bool
	}{
		{`mutation{` + may + `}`, false},
		{`mutation{` + not + `}`, true},
		{`mutation{a:` + not + ` b:` + not + `}`, true},
		{`mutation{a:` + not + ` b:` + may + `}`, false},
		{`mutation{nothing}`, true},
		{`{viewer{none}}`, false},
	} {
		s := newServer(t)
		got := query(t, s, "tok-wes", expand(t, s, c.query))
		if log := s.Requests(); log[len(log)-1].Refused != c.want {
			t.Errorf("%s: refused: %v, want %v: %v", c.query, !c.want, c.want, got)
		}
	}
}

// TestCursors pages through three issues one by one, forwards and backwards.
func TestCursors(t *testing.T) {
	s := newServer(t)
	for _, c := range []struct{ size, next, turn, want string }{
		{"first", "after", "endCursor", "1 2 3"}, {"last", "before", "startCursor", "3 2 1"},
	} {
		var got []string
		for cursor := ""; ; {
			data := query(t, s, "tok-wes", `{`+app+`{issues(`+c.size+`:1`+cursor+
				`){edges{cursor node{number}} pageInfo{startCursor endCursor}}}}`)
			edges, _ := field(data, "data.repository.issues.edges").([]any)
			if len(edges) == 0 {
				break
			}

			got = append(got, fmt.Sprint(field(edges[0].(map[string]any), "node.number")))
			cursor = fmt.Sprintf(",%s:%q", c.next, field(data, "data.repository.issues.pageInfo."+c.turn))
		}

		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", c.size, got, c.want)
		}
	}
}

func TestGraphQLDoors(t *testing.T) {
	s := newServer(t)
	if got := send(t, s, "", "POST /graphql", `{"query":"{viewer{login}}"}`); got.status != 401 {
		t.Errorf("anonymous: %d", got.status)
	}

	if got := send(t, s, "tok-wes", "POST /api/graphql", `{"query":"query Q($n:Int!){`+
		strings.ReplaceAll(app, `"`, `\"`)+
		`{issue(number:$n){number}}}","variables":{"n":2},"operationName":"Q"}`); !strings.Contains(got.text, `"number":2`) {
		t.Errorf("variables: %s", got.text)
	}

	if log := s.Requests(); log[1].GraphQL != "query Q" {
		t.Errorf("log: %+v", log[1])
	}
	s.SetRateLimit("wes", "graphql", 0)
	got := send(t, s, "tok-wes", "POST /graphql", `{"query":"{viewer{login}}"}`)
	if got.status != 200 || !strings.Contains(got.text, `"type":"RATE_LIMIT","code":"graphql_rate_limit"`) ||
		got.header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("rate limited: %d %s", got.status, got.text)
	}

	off := newServer(t)
	off.GraphQLOff = true
	if got := send(t, off, "tok-wes", "POST /graphql", `{"query":"{viewer{login}}"}`); got.status != 404 {
		t.Errorf("switched off: %d", got.status)
	}
}

// TestExecution: what the language has beyond fields and arguments.
func TestExecution(t *testing.T) {
	const issue = `{repository(owner:"acme",name:"app"){issue(number:1)`
	for _, c := range []struct{ name, query, operation, variables, want string }{
		{
			"fields of one key are merged", issue + `{number} issue(number:1){title ... on Issue{number state}}}}`, "", "",
			`{"repository":{"issue":{"number":1,"title":"Retry the upload","state":"OPEN"}}}`,
		},
		{
			"directives", `query($no:Boolean!){viewer{login @include(if:$no) ... @skip(if:$no){kind:__typename}}}`, "", `{"no":false}`,
			`{"viewer":{"kind":"User"}}`,
		},
		{
			"fragments on an interface", `{repository(owner:"acme",name:"app"){issueOrPullRequest(number:2){...O}}} fragment O on Node{id ... on PullRequest{title} ... on Issue{number}}`, "", "",
			`{"repository":{"issueOrPullRequest":{"id":"$I2","number":2}}}`,
		},
		{
			"one value for a list", issue + `{timelineItems(first:1,itemTypes:CLOSED_EVENT){totalCount filteredCount}}}}`, "", "",
			`{"repository":{"issue":{"timelineItems":{"totalCount":3,"filteredCount":0}}}}`,
		},
		{
			"one variable for a list", `query($id:[ID!]!){nodes(ids:$id){id}}`, "", `{"id":"$I2"}`,
			`{"nodes":[{"id":"$I2"}]}`,
		},
		{
			"a variable without a value", `query($number:Int=2){repository(owner:"acme",name:"app"){issue(number:$number){number}}}`, "", "",
			`{"repository":{"issue":{"number":2}}}`,
		},
		{
			"null for what has another value without it", `query($number:Int=2){repository(owner:"acme",name:"app"){issue(number:$number){number}}}`, "", `{"number":null}`,
			`{"repository":{"issue":null}} Argument 'number' on Field 'issue' has an invalid value (null). Expected type 'Int!'.`,
		},
		{
			"a number of JSON", `query($number:Int!){repository(owner:"acme",name:"app"){issue(number:$number){number}}}`, "", `{"number":2}`,
			`{"repository":{"issue":{"number":2}}}`,
		},
		{
			"a number too large", issue + `{labels(first:3000000000){totalCount}}}}`, "", "",
			` Expected value of type "Int", found 3000000000.`,
		},
		{
			"null goes up to what can be null", issue + `{comments(first:101){totalCount}} other:issue(number:2){number}}}`, "", "",
			`{"repository":{"issue":null,"other":{"number":2}}} Requesting 101 records on the ` + "`comments`" + ` connection exceeds the ` + "`first`" + ` limit of 100 records.`,
		},
		{
			"one of two operations", `query a{viewer{login}} query b{viewer{kind:__typename}}`, "b", "",
			`{"viewer":{"kind":"User"}}`,
		},
		{
			"no such operation", `query a{viewer{login}} query b{viewer{login}}`, "c", "",
			` No operation named "c"`,
		},
		{
			"a variable of another type", `query($number:Int!){repository(owner:"acme",name:"app"){issue(number:$number){number}}}`, "", `{"number":"two"}`,
			` Variable $number of type Int! was provided invalid value`,
		},
		{
			"a variable that holds a number as text", `query($number:Int!){repository(owner:"acme",name:"app"){issue(number:$number){number}}}`, "", `{"number":"2"}`,
			` Variable $number of type Int! was provided invalid value`,
		},
		{
			"a variable that is too large", `query($n:Int)` + issue + `{labels(first:$n){totalCount}}}}`, "", `{"n":3000000000}`,
			` Variable $n of type Int was provided invalid value`,
		},
		{
			"a variable with a value of an enum in lower case", `query($by:LabelOrder)` + issue + `{labels(first:1,orderBy:$by){totalCount}}}}`, "",
			`{"by":{"field":"NAME","direction":"desc"}}`,
			` Variable $by of type LabelOrder was provided invalid value`,
		},
		{
			"a variable with such a value in a list", `query($of:[IssueState!]){repository(owner:"acme",name:"app"){issues(first:1,states:$of){totalCount}}}`, "",
			`{"of":["OPEN","closed"]}`,
			` Variable $of of type [IssueState!] was provided invalid value`,
		},
		{
			"a variable of a scalar of GitHub's", `query($since:DateTime)` + issue + `{timelineItems(first:1,since:$since){totalCount}}}}`, "", `{"since":5}`,
			` Variable $since of type DateTime was provided invalid value`,
		},
		{
			"a number for a scalar of GitHub's", issue + `{timelineItems(first:1,since:99999999999999999999){totalCount}}}}`, "", "",
			` Expected value of type "DateTime", found 99999999999999999999.`,
		},
		{
			"a list for a scalar of GitHub's", issue + `{timelineItems(first:1,since:["a"]){totalCount}}}}`, "", "",
			` Expected value of type "DateTime", found ["a"].`,
		},
		{
			"a variable that is required", `query($id:ID!){node(id:$id){id}}`, "", "",
			` must be defined`,
		},
		{"no document", `{viewer{login}`, "", "", ` Expected Name, found <EOF>`},
		{"a type", `{a:__type(name:"UpdateRefsInput"){kind name} b:__type(name:"None"){name}}`, "", "", `{"a":{"kind":"INPUT_OBJECT","name":"UpdateRefsInput"},"b":null}`},
		{
			"what a type has", `{a:__type(name:"UserContentEdit"){fields(includeDeprecated:true){name} enumValues{name} inputFields{name}} b:__type(name:"LockReason"){name} ` +
				`c:__type(name:"ReportedContentClassifiers"){enumValues{name}} d:__type(name:"ReopenIssueInput"){inputFields{name} fields{name}}}`, "", "",
			`{"a":{"fields":[{"name":"id"},{"name":"createdAt"},{"name":"deletedAt"},{"name":"editedAt"},{"name":"editor"},{"name":"updatedAt"}],"enumValues":null,"inputFields":null},"b":null,` +
				`"c":{"enumValues":[{"name":"ABUSE"},{"name":"DUPLICATE"},{"name":"OFF_TOPIC"},{"name":"OUTDATED"},{"name":"RESOLVED"},{"name":"SPAM"}]},` +
				`"d":{"inputFields":[{"name":"clientMutationId"},{"name":"issueId"}],"fields":null}}`,
		},
		{"what is not told of a type", `{__type(name:"Issue"){interfaces{name}}}`, "", "", `{"__type":{"interfaces":null}} the embedded GitHub does not tell that`},
	} {
		s := newServer(t)
		body := map[string]any{"query": c.query, "operationName": c.operation}
		if c.variables != "" {
			body["variables"] = json.RawMessage(expand(t, s, c.variables))
		}
		sent, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}

		var got struct {
			Data   json.RawMessage
			Errors []struct{ Message string }
		}
		answer := send(t, s, "tok-wes", "POST /graphql", string(sent))
		if err := json.Unmarshal([]byte(answer.text), &got); err != nil {
			t.Fatalf("%s: %s: %v", c.name, answer.text, err)
		}

		text := string(got.Data)
		for _, e := range got.Errors {
			text += " " + e.Message
		}
		if want := expand(t, s, c.want); text != want {
			t.Errorf("%s\n got %s\nwant %s", c.name, text, want)
		}
	}
}
