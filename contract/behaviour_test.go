package contract

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A behaviour is something that GitHub does and that no description tells.
type behaviour struct {
	name string
	test func(*testing.T, *forge)
}

var behaviours = []behaviour{
	{"comments", comments},
	{"edit", edit},
	{"comment-refusals", commentRefusals},
	{"labels", issueLabels},
	{"unknown-label", unknownLabel},
	{"label-refusals", labelRefusals},
	{"state", state},
	{"refs", refs},
	{"ref-race", refRace},
	{"credentials", credentials},
	{"hidden", hidden},
	{"pages", pages},
	{"conditional", conditional},
	{"budget", budget},
	{"dependencies", dependencies},
	{"pull-request", pullRequest},
	{"graphql", bothAPIs},
	{"graphql-parts", parts},
	{"update-refs", updateRefs},
}

// TestBehaviour examines the simulator behind both of its doors, and whatever LABEL_STATE_CONTRACT_URL names.
func TestBehaviour(t *testing.T) {
	for door, open := range map[string]func(*testing.T) *forge{"transport": simulated, "loopback": listening} {
		for _, b := range behaviours {
			t.Run(door+"/"+b.name, func(t *testing.T) {
				t.Parallel()
				b.test(t, open(t))
			})
		}
	}
	if f := elsewhere(t); f != nil {
		for _, b := range behaviours {
			t.Run("elsewhere/"+b.name, func(t *testing.T) { b.test(t, f) }) // one after the other, as GitHub asks
		}
	}
}

// TestDescribed holds what the behaviours send and get against the descriptions.
func TestDescribed(t *testing.T) {
	judge := newJudge(t)
	meant := append([]exception{{"query", "noSuchField", "to see what the answer is"}}, documentExceptions...)
	for _, b := range behaviours {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			f := simulated(t)
			tape := &recorder{next: f.next}
			f.next = tape
			b.test(t, f)
			byREST, documents := judge.all(tape.take())
			report(t, byREST, restExceptions)
			report(t, documents, meant)
		})
	}
}

type object = map[string]any

// comments are listed by ascending id, whoever wrote them when; since looks at the last change.
func comments(t *testing.T, f *forge) {
	path := "~/issues/" + f.issue(t) + "/comments"
	var ids []string
	for _, body := range []string{"one", "two", "three"} {
		ids = append(ids, f.send(t, "POST "+path, object{"body": body}).is(t, 201).the("id"))
	}
	want := strings.Join(ids, " ")
	all := f.eventually(t, "GET "+path, func(r reply) bool { return r.each("id") == want })
	if got := all.each("body"); got != "one two three" {
		t.Errorf("bodies are %q", got)
	}
	f.send(t, "GET "+path+"?since=2100-01-01T00:00:00Z", nil).is(t, 200, "[]")
	f.send(t, "DELETE ~/issues/comments/"+ids[1], nil).is(t, 204)
	f.eventually(t, "GET "+path, func(r reply) bool { return r.each("id") == ids[0]+" "+ids[2] })
	f.send(t, "GET ~/issues/comments/"+ids[1], nil).is(t, 404, "Not Found")
}

// edit keeps created_at and moves updated_at, by whole seconds.
func edit(t *testing.T, f *forge) {
	path := "~/issues/" + f.issue(t) + "/comments"
	before := f.send(t, "POST "+path, object{"body": "before"}).is(t, 201)
	if before.the("created_at") != before.the("updated_at") {
		t.Errorf("a new comment is already edited: %s", before.text)
	}
	f.pass(2 * time.Second)
	after := f.send(t, "PATCH ~/issues/comments/"+before.the("id"), object{"body": "after"}).is(t, 200)
	for _, field := range []string{"id", "created_at", "user.login", "author_association"} {
		if after.the(field) != before.the(field) {
			t.Errorf("%s was %s and is %s", field, before.the(field), after.the(field))
		}
	}
	if after.the("updated_at") <= before.the("updated_at") || after.the("body") != "after" {
		t.Errorf("%s\nbecame\n%s", before.text, after.text)
	}
	for _, field := range []string{"created_at", "updated_at"} {
		if _, err := time.Parse("2006-01-02T15:04:05Z", after.the(field)); err != nil {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := http.ParseTime(after.header.Get("Date")); err != nil {
		t.Errorf("the server's clock: %v", err)
	}
}

func commentRefusals(t *testing.T, f *forge) {
	path := "~/issues/" + f.issue(t) + "/comments"
	f.send(t, "POST "+path, object{"body": ""}).is(t, 422, "Validation Failed")
	f.send(t, "POST "+path, object{"body": strings.Repeat("x", 262145)}).is(t, 422, "too long")
	f.send(t, "POST ~/issues/999999/comments", object{"body": "hello?"}).is(t, 404, "Not Found")
	f.send(t, "PATCH ~/issues/comments/1", object{"body": "hello?"}).is(t, 404, "Not Found")
}

// issueLabels are added one by one, in any case, and taken off once.
func issueLabels(t *testing.T, f *forge) {
	name := f.label(t)
	path := "~/issues/" + f.issue(t) + "/labels"
	f.send(t, "POST "+path, object{"labels": []string{name}}).is(t, 200, name)
	f.send(t, "POST "+path, object{"labels": []string{strings.ToUpper(name)}}).is(t, 200, name)
	f.eventually(t, "GET "+path, func(r reply) bool { return r.each("name") == name })
	left := f.send(t, "DELETE "+path+"/"+name, nil).is(t, 200)
	if left.each("name") != "" {
		t.Errorf("what is left is %s", left.text)
	}
	f.eventually(t, "GET "+path, func(r reply) bool { return r.each("name") == "" })
	f.send(t, "DELETE "+path+"/"+name, nil).is(t, 404, "Label does not exist")
}

// label makes a label for one test.
func (f *forge) label(t *testing.T) string {
	t.Helper()
	name := f.name(t)
	f.send(t, "POST ~/labels", object{"name": name, "color": "0e8a16", "description": "For one test"}).is(t, 201)
	t.Cleanup(func() { f.tidy("DELETE", "/labels/"+name, "") })
	return name
}

// unknownLabel: to put a label that nobody has made on an issue makes it, in grey.
func unknownLabel(t *testing.T, f *forge) {
	name, path := f.name(t), "~/issues/"+f.issue(t)+"/labels"
	t.Cleanup(func() { f.tidy("DELETE", "/labels/"+name, "") })
	f.send(t, "GET ~/labels/"+name, nil).is(t, 404)
	f.send(t, "POST "+path, object{"labels": []string{name}}).is(t, 200, name)
	made := f.eventually(t, "GET ~/labels/"+name, func(r reply) bool { return r.status == 200 })
	if made.the("color") != "ededed" || made.at("description") != nil {
		t.Errorf("it was made as %s", made.text)
	}
}

func labelRefusals(t *testing.T, f *forge) {
	name := f.label(t)
	f.send(t, "POST ~/labels", object{"name": name, "color": "ededed"}).is(t, 422, "Validation Failed", "already_exists")
	f.send(t, "POST ~/labels", object{"name": strings.ToUpper(name), "color": "ededed"}).is(t, 422, "already_exists")
	f.send(t, "PATCH ~/labels/"+name, object{"color": "reddish"}).is(t, 422, "Validation Failed")
	f.send(t, "GET ~/labels/"+strings.ToUpper(name), nil).is(t, 200, name)
	f.send(t, "DELETE ~/labels/"+name, nil).is(t, 204)
	f.send(t, "DELETE ~/labels/"+name, nil).is(t, 404, "Not Found")
}

// state: a closed issue says why; a reopened one does too.
func state(t *testing.T, f *forge) {
	path := "~/issues/" + f.issue(t)
	closed := f.send(t, "PATCH "+path, object{"state": "closed"}).is(t, 200)
	if closed.the("state_reason") != "completed" || closed.at("closed_at") == nil {
		t.Errorf("closed as %s", closed.text)
	}
	open := f.send(t, "PATCH "+path, object{"state": "open"}).is(t, 200)
	if open.the("state_reason") != "reopened" || open.at("closed_at") != nil {
		t.Errorf("reopened as %s", open.text)
	}
	other := f.send(t, "PATCH "+path, object{"state": "closed", "state_reason": "not_planned"}).is(t, 200)
	if other.the("state_reason") != "not_planned" {
		t.Errorf("closed again as %s", other.text)
	}
}

// emptyTree is the id that git gives the tree with nothing in it.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// commit makes a commit that nothing refers to.
func (f *forge) commit(t *testing.T, message string, parents ...string) string {
	t.Helper()
	sent := object{"message": message + " " + f.name(t), "tree": emptyTree, "parents": append([]string{}, parents...)}
	return f.send(t, "POST ~/git/commits", sent).is(t, 201).the("sha")
}

// refs are made once, moved forward, and taken away by anybody.
func refs(t *testing.T, f *forge) {
	name := "label-state/" + f.name(t)
	t.Cleanup(func() { f.tidy("DELETE", "/git/refs/"+name, "") })
	one, other := f.commit(t, "one"), f.commit(t, "other")
	child := f.commit(t, "child", one)
	at := func(sha string) object { return object{"ref": "refs/" + name, "sha": sha} }
	f.send(t, "POST ~/git/refs", at(strings.Repeat("1", 40))).is(t, 422, "Object does not exist")
	f.send(t, "POST ~/git/refs", at(one)).is(t, 201, one)
	f.send(t, "POST ~/git/refs", at(one)).is(t, 422, "Reference already exists")
	f.send(t, "POST ~/git/refs", at(other)).is(t, 422, "Reference already exists")
	f.send(t, "POST ~/git/refs", object{"ref": name, "sha": one}).is(t, 422)
	f.eventually(t, "GET ~/git/ref/"+name, func(r reply) bool { return r.the("object.sha") == one })
	f.send(t, "PATCH ~/git/refs/"+name, object{"sha": child}).is(t, 200, child)
	f.send(t, "PATCH ~/git/refs/"+name, object{"sha": other, "force": false}).is(t, 200, other) // GitHub checks fast-forward of branches only
	f.send(t, "DELETE ~/git/refs/"+name, nil).is(t, 204)
	f.send(t, "DELETE ~/git/refs/"+name, nil).is(t, 422, "Reference does not exist")
	f.send(t, "PATCH ~/git/refs/"+name, object{"sha": one}).is(t, 422, "Reference does not exist")
	f.eventually(t, "GET ~/git/ref/"+name, func(r reply) bool { return r.status == 404 })
}

// refRace: of many who create the same reference at once, one does.
func refRace(t *testing.T, f *forge) {
	name := "label-state/" + f.name(t)
	t.Cleanup(func() { f.tidy("DELETE", "/git/refs/"+name, "") })
	const racers = 6
	replies, start := make([]reply, racers), sync.WaitGroup{}
	var commits []string
	for n := range racers {
		commits = append(commits, f.commit(t, fmt.Sprint("racer ", n)))
	}
	for n, sha := range commits {
		start.Go(func() { replies[n] = f.send(t, "POST ~/git/refs", object{"ref": "refs/" + name, "sha": sha}) })
	}
	start.Wait()
	var won []string
	for n, r := range replies {
		if r.status == 201 {
			won = append(won, commits[n])
			continue
		}
		r.is(t, 422)
	}
	if len(won) != 1 {
		t.Fatalf("%d of %d created it", len(won), racers)
	}
	f.eventually(t, "GET ~/git/ref/"+name, func(r reply) bool { return r.the("object.sha") == won[0] })
}
