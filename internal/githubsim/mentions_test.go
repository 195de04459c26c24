package githubsim_test

import (
	"fmt"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestCrossReferences: which descriptions put a line into the timeline of acme/app#1.
func TestCrossReferences(t *testing.T) {
	for body, want := range map[string]int{
		"See #1":                                 1,
		"Closes acme/app#1.":                     1,
		"ACME/APP#1":                             1,
		"(https://github.com/acme/app/issues/1)": 1,
		"http://github.com/acme/app/pull/1#anything": 1,
		"#1 and #1":          1,
		"#11, #1x, x#1, ##1": 0,
		"acme/other#1":       0,
		"acme/app/1":         0,
		"`#1`":               0,
		"```\n#1\n```":       0,
		"<!-- #1 -->":        0,
	} {
		s := newServer(t)
		if _, err := s.OpenPull("acme/app", "wes", githubsim.Pull{Title: "t", Body: body, Head: "x"}); err != nil {
			t.Fatal(err)
		}

		got := 0
		for _, line := range send(t, s, "tok-wes", "GET /repos/acme/app/issues/1/timeline", "").list(t) {
			if line["event"] == "cross-referenced" && field(line, "source.issue.body") == body {
				got++
			}
		}

		if got != want {
			t.Errorf("%q: %d lines, want %d", body, got, want)
		}
	}
}

// TestChecks: the newest run of a name and the newest status of a context are what counts.
func TestChecks(t *testing.T) {
	s := newServer(t)
	number, err := s.OpenPull("acme/app", "wes", githubsim.Pull{Title: "t", Head: "x"})
	if err != nil {
		t.Fatal(err)
	}

	pull := send(t, s, "tok-wes", fmt.Sprintf("GET /repos/acme/app/pulls/%d", number), "").json(t)
	at := fmt.Sprintf("GET /repos/acme/app/commits/%s/", field(pull, "head.sha"))
	for _, c := range []struct{ run, conclusion, context, state, want string }{
		{"", "", "", "", "pending 0 0"},
		{"build", "failure", "ci", "success", "success 1 1"},
		{"build", "success", "ci", "failure", "failure 1 1"},
		{"lint", "", "docs", "pending", "failure 2 2"},
		{"lint", "success", "ci", "success", "pending 2 2"},
	} {
		if c.run != "" {
			status := "completed"
			if c.conclusion == "" {
				status = "in_progress"
			}

			if err := s.SetCheck("acme/app", number, "ann", c.run, status, c.conclusion); err != nil {
				t.Fatal(err)
			}

			if err := s.SetStatus("acme/app", number, "ann", c.context, c.state); err != nil {
				t.Fatal(err)
			}
		}

		statuses := send(t, s, "tok-wes", at+"status", "").json(t)
		runs := send(t, s, "tok-wes", at+"check-runs", "").json(t)
		if got := fmt.Sprint(statuses["state"], " ", statuses["total_count"], " ", runs["total_count"]); got != c.want {
			t.Errorf("after %v: %s, want %s", c, got, c.want)
		}
	}

	if err := s.SetStatus("acme/app", number, "rob", "ci", "success"); err == nil {
		t.Error("a reader has set a status")
	}
}
