package contract

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func credentials(t *testing.T, f *forge) {
	for _, line := range []string{"GET ~", "GET /user", "GET /rate_limit", "POST ~/issues"} {
		r := f.send(t, line, nil, "Authorization: Bearer nobody-has-this-token").is(t, 401, "Bad credentials")
		if r.at("documentation_url") == nil {
			t.Errorf("%s: no documentation_url in %s", r.line, r.text)
		}
	}
}

// hidden: what one may not see is not there.
func hidden(t *testing.T, f *forge) {
	for _, path := range []string{"", "/issues", "/issues/1", "/labels", "/git/ref/heads/main", "/collaborators/ghost/permission"} {
		f.send(t, "GET /repos/"+f.hidden+path, nil).is(t, 404, "Not Found")
	}
	f.send(t, "POST /repos/"+f.hidden+"/issues", object{"title": "Mine"}).is(t, 404, "Not Found")
}

var linkPattern = regexp.MustCompile(`<([^>]+)>; rel="([a-z]+)"`)

// links are the addresses in the Link header.
func (r reply) links() map[string]string {
	found := map[string]string{}
	for _, m := range linkPattern.FindAllStringSubmatch(r.header.Get("Link"), -1) {
		found[m[2]] = m[1]
	}
	return found
}

// pages are followed by the Link header; the last has no next, and one page alone has no links to others.
func pages(t *testing.T, f *forge) {
	path := "~/issues/" + f.issue(t) + "/comments"
	var want []string
	for n := range 5 {
		want = append(want, f.send(t, "POST "+path, object{"body": strconv.Itoa(n)}).is(t, 201).the("id"))
	}
	all := f.eventually(t, "GET "+path+"?per_page=100", func(r reply) bool { return r.each("id") == strings.Join(want, " ") })
	if links := all.links(); links["next"] != "" || links["last"] != "" {
		t.Errorf("one page has Link %q", all.header.Get("Link"))
	}
	page := f.send(t, "GET "+path+"?per_page=2", nil).is(t, 200)
	got := page.each("id")
	for range 2 {
		next := page.links()["next"]
		if next == "" || page.links()["last"] == "" {
			t.Fatalf("no way on from %s: Link is %q", page.line, page.header.Get("Link"))
		}
		page = f.request(t, "GET", next, nil).is(t, 200)
		got += " " + page.each("id")
	}
	if links := page.links(); links["next"] != "" || links["first"] == "" || links["prev"] == "" {
		t.Errorf("the last page has Link %q", page.header.Get("Link"))
	}
	if got != strings.Join(want, " ") {
		t.Errorf("pages have %s, want %s", got, want)
	}
	f.send(t, "GET "+path+"?page=9", nil).is(t, 200, "[]")
}

// conditional requests cost nothing when nothing changed.
func conditional(t *testing.T, f *forge) {
	path := "~/issues/" + f.issue(t)
	first := f.eventually(t, "GET "+path, func(r reply) bool { return r.status == 200 })
	tag := first.header.Get("ETag")
	if tag == "" {
		t.Fatal("no ETag")
	}
	again := f.send(t, "GET "+path, nil, "If-None-Match: "+tag).is(t, 304)
	if len(again.text) > 0 || again.header.Get("X-RateLimit-Remaining") != first.header.Get("X-RateLimit-Remaining") {
		t.Errorf("304 with %q left of %q, and %q", again.header.Get("X-RateLimit-Remaining"), first.header.Get("X-RateLimit-Remaining"), again.text)
	}
	f.send(t, "PATCH "+path, object{"title": "Changed"}).is(t, 200)
	f.eventually(t, "GET "+path, func(r reply) bool { return r.the("title") == "Changed" })
	f.send(t, "GET "+path, nil, "If-None-Match: "+tag).is(t, 200, "Changed")
}

// budget: every answer tells what is left, and to ask for it is free.
func budget(t *testing.T, f *forge) {
	one := f.send(t, "GET ~", nil).is(t, 200)
	for _, name := range []string{"Limit", "Remaining", "Used", "Reset"} {
		if _, err := strconv.ParseInt(one.header.Get("X-RateLimit-"+name), 10, 64); err != nil {
			t.Errorf("X-RateLimit-%s: %v", name, err)
		}
	}
	if one.header.Get("X-RateLimit-Resource") != "core" {
		t.Errorf("resource is %q", one.header.Get("X-RateLimit-Resource"))
	}
	before := f.send(t, "GET /rate_limit", nil).is(t, 200).the("resources.core.used")
	if after := f.send(t, "GET /rate_limit", nil).is(t, 200).the("resources.core.used"); f.sim != nil && after != before {
		t.Errorf("asking took the budget from %s to %s", before, after)
	}
}

// dependencies are set by the database id of the other issue, once, and counted in the issue.
func dependencies(t *testing.T, f *forge) {
	waits, first := f.issue(t), f.issue(t)
	id := f.send(t, "GET ~/issues/"+first, nil).is(t, 200).at("id")
	path := "~/issues/" + waits + "/dependencies/blocked_by"
	f.send(t, "POST "+path, object{"issue_id": id}).is(t, 201)
	f.send(t, "POST "+path, object{"issue_id": id}).is(t, 422)
	f.eventually(t, "GET "+path, func(r reply) bool { return r.each("number") == first })
	f.eventually(t, "GET ~/issues/"+first+"/dependencies/blocking", func(r reply) bool { return r.each("number") == waits })
	count := func(want string) func(reply) bool {
		return func(r reply) bool { return r.the("issue_dependencies_summary.blocked_by") == want }
	}
	f.eventually(t, "GET ~/issues/"+waits, count("1"))
	f.send(t, "PATCH ~/issues/"+first, object{"state": "closed"}).is(t, 200)
	f.eventually(t, "GET ~/issues/"+waits, count("0"))
	f.send(t, "DELETE "+path+"/"+f.send(t, "GET ~/issues/"+first, nil).the("id"), nil).is(t, 200)
	f.eventually(t, "GET "+path, func(r reply) bool { return r.each("number") == "" })
}

// pullRequest: it is an issue too, and there can be only one for a branch.
func pullRequest(t *testing.T, f *forge) {
	base := f.send(t, "GET ~", nil).is(t, 200).the("default_branch")
	tip := f.eventually(t, "GET ~/git/ref/heads/"+base, func(r reply) bool { return r.status == 200 }).the("object.sha")
	branch := f.name(t)
	f.send(t, "POST ~/git/refs", object{"ref": "refs/heads/" + branch, "sha": f.commit(t, "change", tip)}).is(t, 201)
	t.Cleanup(func() { f.tidy("DELETE", "/git/refs/heads/"+branch, "") })
	sent := object{"title": "Contract: a pull request", "head": branch, "base": base, "body": "For one test."}
	made := f.send(t, "POST ~/pulls", sent).is(t, 201)
	number := made.the("number")
	t.Cleanup(func() { f.tidy("PATCH", "/pulls/"+number, `{"state":"closed"}`) })
	f.send(t, "POST ~/pulls", sent).is(t, 422, "A pull request already exists")
	if made.the("head.ref") != branch || made.the("state") != "open" || made.the("merged") != "false" {
		t.Errorf("it was made as %s", made.text)
	}
	asIssue := f.eventually(t, "GET ~/issues/"+number, func(r reply) bool { return r.status == 200 })
	if asIssue.at("pull_request.url") == nil {
		t.Errorf("the issue does not say that it is one: %s", asIssue.text)
	}
	f.eventually(t, "GET ~/issues?state=open&per_page=100", func(r reply) bool {
		return strings.Contains(" "+r.each("number")+" ", " "+number+" ")
	})
	f.send(t, "GET ~/pulls/"+f.issue(t), nil).is(t, 404, "Not Found")
	f.send(t, "GET ~/pulls/"+number+"/merge", nil).is(t, 404)
	closed := f.send(t, "PATCH ~/issues/"+number, object{"state": "closed"}).is(t, 200)
	if closed.the("state") != "closed" || closed.at("pull_request.merged_at") != nil {
		t.Errorf("closed as %s", closed.text)
	}
}

func (f *forge) ownerAndName() (owner, name string) {
	owner, name, _ = strings.Cut(f.repo, "/")
	return owner, name
}

// bothAPIs see the same comment, though only one of them can name its id as a number.
func bothAPIs(t *testing.T, f *forge) {
	number := f.issue(t)
	n, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	owner, name := f.ownerAndName()
	subject := f.send(t, "GET ~/issues/"+number, nil).is(t, 200).the("node_id")
	byGraphQL := f.query(t, `mutation($s: ID!, $b: String!) { addComment(input: {subjectId: $s, body: $b}) {
		commentEdge { node { fullDatabaseId body lastEditedAt author { login } } } } }`, object{"s": subject, "b": "by GraphQL"}).is(t, 200)
	id := byGraphQL.the("data.addComment.commentEdge.node.fullDatabaseId")
	if got := f.send(t, "GET ~/issues/comments/"+id, nil).is(t, 200); got.the("body") != "by GraphQL" {
		t.Errorf("REST has %s", got.text)
	}
	byREST := f.send(t, "POST ~/issues/"+number+"/comments", object{"body": "by REST"}).is(t, 201)
	both := f.query(t, `query($o: String!, $n: String!, $i: Int!) { repository(owner: $o, name: $n) { issue(number: $i) {
		comments(last: 10) { totalCount nodes { fullDatabaseId body } } } } }`, object{"o": owner, "n": name, "i": n})
	both.is(t, 200, `"`+id+`"`, `"`+byREST.the("id")+`"`)
	if got := both.the("data.repository.issue.comments.totalCount"); got != "2" {
		t.Errorf("%s comments: %s", got, both.text)
	}
}

// parts of a query fail on their own: the answer is 200, the part null, and the error says where.
func parts(t *testing.T, f *forge) {
	owner, name := f.ownerAndName()
	n, err := strconv.Atoi(f.issue(t))
	if err != nil {
		t.Fatal(err)
	}
	r := f.query(t, `query($o: String!, $n: String!, $i: Int!) { repository(owner: $o, name: $n) {
		here: issue(number: $i) { state } gone: issue(number: 999999) { state } } }`, object{"o": owner, "n": name, "i": n})
	r.is(t, 200, `"NOT_FOUND"`, "Could not resolve to an Issue with the number of 999999.", `"gone"`)
	if r.the("data.repository.here.state") != "OPEN" || r.at("data.repository.gone") != nil {
		t.Errorf("data is %s", r.text)
	}
	f.query(t, `{ repository(owner: "`+owner+`", name: "`+name+`") { noSuchField } }`, nil).is(t, 200, `"errors"`, "noSuchField")
	f.query(t, `{ viewer { login } }`, nil).is(t, 200, `"login"`)
	f.request(t, "POST", f.graphQL, object{"query": "{ viewer { login } }"}, "Authorization: Bearer nobody-has-this-token").
		is(t, 401, "Bad credentials")
}

const zeroOID = "0000000000000000000000000000000000000000"

// updateRefs compares before it swaps, and does all or nothing.
func updateRefs(t *testing.T, f *forge) {
	repo := f.send(t, "GET ~", nil).is(t, 200).the("node_id")
	one, other := f.commit(t, "one"), f.commit(t, "other")
	name := "refs/label-state/" + f.name(t)
	t.Cleanup(func() { f.tidy("DELETE", "/git/"+name, "") })
	update := func(updates ...object) reply {
		return f.query(t, `mutation($r: ID!, $u: [RefUpdate!]!) { updateRefs(input: {repositoryId: $r, refUpdates: $u}) {
			clientMutationId } }`, object{"r": repo, "u": updates}).is(t, 200)
	}
	step := func(name, before, after string) object {
		return object{"name": name, "beforeOid": before, "afterOid": after, "force": true}
	}
	for _, c := range []struct {
		updates []object
		refused bool
		at      string // where the reference is then; empty: nowhere
	}{
		{[]object{step(name, one, other)}, true, ""},
		{[]object{step(name, zeroOID, one)}, false, one},
		{[]object{step(name, zeroOID, other)}, true, one},
		{[]object{step(name, one, other), step(name+"-second", one, other)}, true, one},
		{[]object{step(name, one, other)}, false, other},
		{[]object{step(name, one, zeroOID)}, true, other},
		{[]object{step(name, other, zeroOID)}, false, ""},
	} {
		if r := update(c.updates...); strings.Contains(string(r.text), `"errors"`) != c.refused {
			t.Errorf("%v: %s", c.updates, r.text)
		}
		f.eventually(t, "GET ~/git/ref/"+strings.TrimPrefix(name, "refs/"), func(r reply) bool {
			return c.at == "" && r.status == 404 || r.the("object.sha") == c.at
		})
	}
}
