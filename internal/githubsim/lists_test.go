package githubsim_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// numbersOf are the numbers, or the ids, of a list.
func numbersOf(t *testing.T, r result, name string) string {
	t.Helper()
	var list []string
	for _, o := range r.list(t) {
		list = append(list, strings.TrimSuffix(fmt.Sprintf("%.0f", o[name]), ".0"))
	}
	return strings.Join(list, " ")
}

// TestIssueLists runs in a bubble, so that every issue has a second of its own.
func TestIssueLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		began := time.Now().UTC()
		for _, labels := range [][]string{{"bug"}, {"bug", "Ready"}} { // 5 and 6
			time.Sleep(time.Minute)
			if _, err := s.AddIssue("acme/app", "ann", "t", "", labels...); err != nil {
				t.Fatal(err)
			}
		}

		time.Sleep(time.Minute)
		if _, err := s.AddComment("acme/app", 1, "rob", "touch"); err != nil {
			t.Fatal(err)
		}

		for _, c := range []struct{ query, want string }{
			{"", "6 5 4 2 1"},
			{"state=all&direction=asc", "1 2 3 4 5 6"},
			{"state=closed", "3"},
			{"labels=bug", "6 5 2 1"},
			{"labels=BUG,ready", "6 2"},
			{"labels=none", ""},
			{"sort=updated", "1 6 5 4 2"},
			{"sort=updated&direction=asc", "2 4 5 6 1"},
			{"sort=comments", "1 6 5 4 2"},
			{"since=" + url.QueryEscape(began.Add(2*time.Minute).Format(time.RFC3339)), "6 1"},
			{"creator=rob", "1"},
			{"per_page=2", "6 5"},
			{"per_page=2&page=3", "1"},
			{"per_page=2&page=9", ""},
			{"per_page=0", "6 5 4 2 1"},
		} {
			if got := numbersOf(t, send(t, s, "tok-rob", "GET /repos/acme/app/issues?"+c.query, ""),
				"number"); got != c.want {
				t.Errorf("%s: %s, want %s", c.query, got, c.want)
			}
		}
	})
}

var nextPattern = regexp.MustCompile(`<https://api\.github\.com([^>]*)>; rel="next"`)

// TestPaging follows the Link header through 250 comments, and looks at the four relations.
func TestPaging(t *testing.T) {
	s := newServer(t)
	for i := range 250 {
		if _, err := s.AddComment("acme/app", 2, "wes", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}

	seen, last := 0, 0.0
	for path, pages := comments+"?per_page=1000", 0; path != ""; pages++ {
		got := send(t, s, "tok-wes", "GET "+path, "")
		for _, o := range got.list(t) {
			if id, _ := o["id"].(float64); id <= last || id < 1<<31 {
				t.Fatalf("id %f after %f", id, last)
			} else {
				last = id
			}
			seen++
		}

		path = ""
		if m := nextPattern.FindStringSubmatch(got.header.Get("Link")); m != nil {
			path = m[1]
		}

		if pages > 3 {
			t.Fatal("does not end")
		}
	}

	if seen != 250 {
		t.Errorf("saw %d comments", seen)
	}
	middle := send(t, s, "tok-wes", "GET "+comments+"?page=2", "").header.Get("Link")
	for _, rel := range []string{
		`page=1>; rel="prev"`, `page=3>; rel="next"`, `page=9>; rel="last"`,
		`page=1>; rel="first"`,
	} {
		if !strings.Contains(middle, rel) {
			t.Errorf("Link %s lacks %s", middle, rel)
		}
	}

	if only := send(t, s, "tok-wes", "GET /repos/acme/app/labels", "").header.Get("Link"); strings.Contains(only,
		"page") {
		t.Errorf("one page has a Link: %s", only)
	}
}

// TestCommentLists: an issue's comments come by id whatever is asked; the repository's can be
// sorted. Both know since.
func TestCommentLists(t *testing.T) {
	s := newServer(t)
	one := "/repos/acme/app/issues/1/comments"
	for _, c := range []struct{ path, want string }{
		{one, "2200000001 2200000002"},
		{one + "?sort=updated&direction=desc", "2200000001 2200000002"},
		{one + "?since=2026-05-02T00:00:00Z", "2200000002"},
		{one + "?since=2026-05-02T00:00:01Z", ""},
		{"/repos/acme/app/issues/comments", "2200000001 2200000002"},
		{"/repos/acme/app/issues/comments?sort=updated&direction=desc", "2200000002 2200000001"},
		{"/repos/acme/app/issues/comments?sort=created&direction=asc", "2200000001 2200000002"},
	} {
		if got := numbersOf(t, send(t, s, "tok-rob", "GET "+c.path, ""), "id"); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

// TestTimes: one second of resolution, created_at and updated_at equal until the edit.
func TestTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		time.Sleep(1500 * time.Millisecond)
		made := send(t, s, "tok-wes", "POST "+comments, `{"body":"a"}`).json(t)
		time.Sleep(time.Minute)
		path := fmt.Sprintf("PATCH /repos/acme/app/issues/comments/%.0f", made["id"])
		edited := send(t, s, "tok-wes", path, `{"body":"b"}`).json(t)
		if made["created_at"] != "2000-01-01T00:00:01Z" || made["updated_at"] != made["created_at"] ||
			edited["created_at"] != made["created_at"] || edited["updated_at"] != "2000-01-01T00:01:01Z" {
			t.Errorf("made %v %v, edited %v %v", made["created_at"], made["updated_at"], edited["created_at"],
				edited["updated_at"])
		}

		if got := send(t, s, "tok-wes", "GET /repos/acme/app/issues/2",
			"").json(t)["updated_at"]; got != "2000-01-01T00:01:01Z" {
			t.Errorf("the issue was updated at %v", got)
		}
	})
}

// TestConditional: an unchanged answer is 304 and free; another token's tag does not count.
func TestConditional(t *testing.T) {
	s := newServer(t)
	line := "GET /repos/acme/app/issues/1"
	first := send(t, s, "tok-wes", line, "")
	tag := first.header.Get("ETag")
	again := send(t, s, "tok-wes", line, "", "If-None-Match", tag)
	if again.status != 304 || again.text != "" ||
		again.header.Get("X-RateLimit-Used") != first.header.Get("X-RateLimit-Used") {
		t.Errorf("unchanged: %d, used %s after %s", again.status, again.header.Get("X-RateLimit-Used"),
			first.header.Get("X-RateLimit-Used"))
	}

	if other := send(t, s, "tok-tia", line, "", "If-None-Match", tag); other.status != 200 {
		t.Errorf("another token: %d", other.status)
	}

	if err := s.AddLabels("acme/app", 1, "wes", "ready"); err != nil {
		t.Fatal(err)
	}

	if changed := send(t, s, "tok-wes", line, "", "If-None-Match", tag); changed.status != 200 {
		t.Errorf("changed: %d", changed.status)
	}
}

// TestRateLimit: the headers count down, the limit is a 403 with remaining 0, and an hour later it
// is fresh.
func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t)
		s.SetRateLimit("wes", "core", 1)
		last := send(t, s, "tok-wes", "GET /repos/acme/app", "")
		over := send(t, s, "tok-wes", "GET /repos/acme/app", "")
		if last.status != 200 || over.status != 403 || over.header.Get("X-RateLimit-Remaining") != "0" ||
			over.header.Get("X-RateLimit-Resource") != "core" ||
			!strings.Contains(over.text, "API rate limit exceeded for user ID") {
			t.Errorf("%d, then %d %s %v", last.status, over.status, over.text, over.header)
		}

		if free := send(t, s, "tok-wes", "GET /rate_limit", ""); field(free.json(t),
			"resources.core.remaining") != 0.0 {
			t.Errorf("rate limit: %s", free.text)
		}

		if other := send(t, s, "tok-tia", "GET /repos/acme/app", ""); other.status != 200 {
			t.Errorf("another token: %d", other.status)
		}
		time.Sleep(time.Hour)
		if fresh := send(t, s, "tok-wes", "GET /repos/acme/app", ""); fresh.status != 200 {
			t.Errorf("an hour later: %d", fresh.status)
		}
	})
}

// TestRelations: dependencies and sub-issues by id, and the summaries in the issue.
func TestRelations(t *testing.T) {
	s := newServer(t)
	blocker := send(t, s, "tok-tia", "GET /repos/acme/app/issues/2", "").json(t)
	id := fmt.Sprintf("%.0f", blocker["id"])
	path := "/repos/acme/app/issues/1/"
	if got := send(t, s, "tok-tia", "POST "+path+"dependencies/blocked_by", `{"issue_id":`+id+`}`); got.status != 201 {
		t.Fatalf("%d %s", got.status, got.text)
	}

	if got := send(t, s, "tok-tia", "POST "+path+"dependencies/blocked_by", `{"issue_id":`+id+`}`); got.status != 422 {
		t.Errorf("twice: %d", got.status)
	}

	if got := send(t, s, "tok-tia", "POST "+path+"sub_issues", `{"sub_issue_id":`+id+`}`); got.status != 201 {
		t.Errorf("sub-issue: %d %s", got.status, got.text)
	}

	if got := send(t, s, "tok-tia", "GET /repos/acme/app/issues/2/parent", "").json(t)["number"]; got != 1.0 {
		t.Errorf("parent %v", got)
	}

	for _, c := range []struct{ number, name, want string }{
		{"1", "issue_dependencies_summary", "map[blocked_by:1 blocking:0 total_blocked_by:1 total_blocking:0]"},
		{"2", "issue_dependencies_summary", "map[blocked_by:0 blocking:1 total_blocked_by:0 total_blocking:1]"},
		{"1", "sub_issues_summary", "map[completed:0 percent_completed:0 total:1]"},
	} {
		if got := fmt.Sprint(send(t, s, "tok-tia", "GET /repos/acme/app/issues/"+c.number,
			"").json(t)[c.name]); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.name, c.number, got, c.want)
		}
	}

	if err := s.Close("acme/app", 2, "ann"); err != nil {
		t.Fatal(err)
	}
	closed := send(t, s, "tok-tia", "GET /repos/acme/app/issues/1", "").json(t)
	if got := fmt.Sprint(closed["issue_dependencies_summary"]); got != "map[blocked_by:0 blocking:0 total_blocked_by:1 total_blocking:0]" {
		t.Errorf("blocker closed: %s", got)
	}

	if got := send(t, s, "tok-tia", "DELETE "+path+"dependencies/blocked_by/"+id, ""); got.status != 200 {
		t.Errorf("delete: %d", got.status)
	}

	if got := send(t, s, "tok-tia", "GET "+path+"dependencies/blocked_by", ""); got.text != "[]" {
		t.Errorf("left: %s", got.text)
	}
}

// TestTimeline: who did what, in order.
func TestTimeline(t *testing.T) {
	s := newServer(t)
	for _, err := range []error{
		s.AddLabels("acme/app", 2, "tia", "fresh"), s.RemoveLabel("acme/app", 2, "wes", "bug"),
		s.Close("acme/app", 2, "ann"), s.Reopen("acme/app", 2, "tia"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}

	send(t, s, "tok-ann", "PATCH /repos/acme/app/issues/2", `{"title":"New"}`)
	var got []string
	for _, o := range send(t, s, "tok-rob", "GET /repos/acme/app/issues/2/events", "").list(t) {
		got = append(got, fmt.Sprintf("%v:%v:%v", o["event"], field(o, "actor.login"), field(o, "label.name")))
	}

	want := "labeled:ann:bug labeled:ann:ready labeled:tia:fresh unlabeled:wes:bug closed:ann:<nil> reopened:tia:<nil> renamed:ann:<nil>"
	if strings.Join(got, " ") != want {
		t.Errorf("events %v\nwant %s", got, want)
	}
}
