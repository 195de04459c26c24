package githubsim_test

import (
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestTransferred: the old address is 301 for every method, and what it points at answers.
func TestTransferred(t *testing.T) {
	s := newServer(t)
	number, err := s.TransferIssue("acme/app", 1, "ann", "acme/other")
	if err != nil || number != 1 {
		t.Fatal(number, err)
	}

	for _, line := range []string{
		"GET /repos/acme/app/issues/1", "POST /repos/acme/app/issues/1/comments",
		"GET /repos/acme/app/issues/1/comments?per_page=1",
	} {
		got := send(t, s, "tok-wes", line, `{"body":"x"}`)
		to := strings.TrimPrefix(got.header.Get("Location"), "https://api.github.com")
		if got.status != 301 || !strings.Contains(got.text, "Moved Permanently") ||
			got.json(t)["url"] != got.header.Get("Location") {
			t.Fatalf("%s: %d %s", line, got.status, got.text)
		}

		if _, query, ok := strings.Cut(line, "?"); ok && !strings.HasSuffix(to, "?"+query) {
			t.Errorf("%s lost its query: %s", line, to)
		}
		method, _, _ := strings.Cut(line, " ")
		if there := send(t, s, "tok-wes", method+" "+to, `{"body":"x"}`); there.status > 201 {
			t.Errorf("%s %s: %d %s", method, to, there.status, there.text)
		}
	}

	if list, err := s.Comments("acme/other", 1); err != nil || len(list) != 3 {
		t.Errorf("comments that moved, and one more: %d %v", len(list), err)
	}

	if got := send(t, s, "tok-wes", "GET /repos/acme/app/issues/comments", ""); got.text != "[]" {
		t.Errorf("comments left behind: %s", got.text)
	}
}

func TestRenamedRepository(t *testing.T) {
	s := newServer(t)
	if err := s.RenameRepo("acme/app", "tool"); err != nil {
		t.Fatal(err)
	}

	got := send(t, s, "tok-wes", "POST /repos/acme/app/issues/2/labels", `{"labels":["ready"]}`)
	to := got.header.Get("Location")
	if got.status != 307 || !strings.HasSuffix(to, "/issues/2/labels") || !strings.Contains(to, "/repositories/") {
		t.Fatalf("%d %s", got.status, to)
	}

	if there := send(t, s, "tok-wes", "GET "+strings.TrimPrefix(to, "https://api.github.com"),
		""); there.status != 200 {
		t.Errorf("new address: %d %s", there.status, there.text)
	}

	data := query(t, s, "tok-wes", `{a:`+app+
		`{nameWithOwner} b:repository(owner:"acme",name:"app",followRenames:false){name}}`)
	if field(data, "data.a.nameWithOwner") != "acme/tool" || field(data, "data.b") != nil {
		t.Errorf("GraphQL: %v", data)
	}
}

func TestDeletedIssue(t *testing.T) {
	s := newServer(t)
	if err := s.DeleteIssue("acme/app", 2, "wes"); err == nil {
		t.Error("write may not delete issues")
	}

	if err := s.DeleteIssue("acme/app", 2, "ann"); err != nil {
		t.Fatal(err)
	}

	if got := send(t, s, "tok-wes", "GET /repos/acme/app/issues/2", ""); got.status != 410 {
		t.Errorf("%d %s", got.status, got.text)
	}

	if got := numbersOf(t, send(t, s, "tok-wes", "GET /repos/acme/app/issues?state=all", ""),
		"number"); got != "4 3 1" {
		t.Errorf("list: %s", got)
	}
}

func TestArchivedAndDisabled(t *testing.T) {
	off := false
	s, err := githubsim.New(githubsim.Seed{
		Users: []githubsim.SeedUser{{
			Login: "ann", Token: "tok",
			Permissions: map[string]string{"a/old": "admin", "a/mute": "admin"},
		}},
		Repos: []githubsim.SeedRepo{
			{Name: "a/old", Archived: true, Issues: []githubsim.SeedIssue{{Title: "t"}}},
			{Name: "a/mute", HasIssues: &off},
		},
	}, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if got := send(t, s, "tok", "POST /repos/a/old/issues/1/comments", `{"body":"x"}`); got.status != 403 ||
		!strings.Contains(got.text, "read-only") {
		t.Errorf("archived: %d %s", got.status, got.text)
	}

	if got := send(t, s, "tok", "GET /repos/a/mute/issues", ""); got.status != 410 ||
		!strings.Contains(got.text, "disabled") {
		t.Errorf("no issues: %d %s", got.status, got.text)
	}
}
