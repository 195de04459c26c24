package githubsim_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestEvents: a day in a repository, and the deliveries that it makes, each with what its kind
// promises.
func TestEvents(t *testing.T) {
	s := newServer(t)
	id, err := s.AddComment("acme/app", 2, "rob", "first")
	must(t, err)
	must(t, s.EditComment("acme/app", id, "rob", "second"))
	must(t, s.DeleteComment("acme/app", id, "ann"))
	must(t, s.AddLabels("acme/app", 2, "tia", "fresh"))
	must(t, s.RemoveLabel("acme/app", 2, "tia", "fresh"))
	n, err := s.OpenPull("acme/app", "wes", githubsim.Pull{Title: "p", Body: "Closes #2", Head: "x"})
	must(t, err)
	send(t, s, "tok-wes", "PATCH /repos/acme/app/pulls/5", `{"title":"q","body":"Closes #2."}`)
	must(t, s.MergePull("acme/app", n, "wes"))
	must(t, s.Reopen("acme/app", 2, "ann"))
	must(t, s.Lock("acme/app", 2, "ann"))
	must(t, s.Lock("acme/app", 2, "ann")) // nothing new
	send(t, s, "tok-ann", "DELETE /repos/acme/app/issues/2/lock", "")

	events, err := s.Events()
	must(t, err)
	var got []string
	for _, e := range events {
		got = append(got, e.Name+"."+e.Action)
		var p map[string]any
		must(t, json.Unmarshal(e.Payload, &p))
		if p["action"] != e.Action || field(p, "repository.full_name") != "acme/app" ||
			field(p, "sender.login") == nil || field(p, "organization.login") != "acme" {
			t.Errorf("%s.%s: %s", e.Name, e.Action, e.Payload)
		}
	}

	want := "issue_comment.created issue_comment.edited issue_comment.deleted label.created issues.labeled issues.unlabeled " +
		"pull_request.opened pull_request.edited pull_request.closed issues.closed issues.reopened issues.locked issues.unlocked"
	if strings.Join(got, " ") != want {
		t.Fatalf("events %v\nwant %s", got, want)
	}

	for i, c := range map[int]struct {
		path string
		want any
	}{
		0: {"comment.body", "first"}, // as it was then
		1: {"changes.body.from", "first"},
		4: {"label.name", "fresh"},
		6: {"pull_request.merged", false},
		7: {"changes.title.from", "p"},
		8: {"pull_request.merged", true},
		9: {"issue.state_reason", "completed"},

		11: {"issue.locked", true},
	} {
		var p map[string]any
		must(t, json.Unmarshal(events[i].Payload, &p))
		if field(p, c.path) != c.want {
			t.Errorf("%s: %s is %v, want %v", got[i], c.path, field(p, c.path), c.want)
		}
	}

	if later, err := s.EventsSince(len(events) - 1); err != nil || len(later) != 1 || later[0].Action != "unlocked" {
		t.Errorf("since: %v %v", later, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
