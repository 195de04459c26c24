package githubsim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/githubsim"
)

// TestClosingReferences: what a description closes when it is merged into the default branch, as
// GitHub's own answer to closingIssuesReferences.
func TestClosingReferences(t *testing.T) {
	for body, want := range map[string]string{
		"Closes #1":                                  "1",
		"close #1, CLOSED #2":                        "1 2",
		"Fix: #1 fixes #2 fixed #3":                  "1 2 3",
		"resolve #1\nResolves: #2":                   "1 2",
		"resolved acme/app#1":                        "1",
		"fixes https://github.com/acme/app/issues/2": "2",
		"Closes acme/other#1":                        "",
		"Closes #1 and #2":                           "1",
		"Closes #1 closes #1":                        "1",
		"discloses #1, prefix #2":                    "",
		"closes#1":                                   "",
		"Closes #1x":                                 "",
		"no-close: #1":                               "1",
		"does not close #1":                          "1",
		"`Closes #1` and closes #2":                  "2",
		"closes `#1`":                                "",
		"```\nCloses #1\n```\nCloses #2":             "2",
		"~~~~\nCloses #1\n~~~\n~~~~\nfixes #2":       "2",
		"```\nCloses #1":                             "",
		"a\n\n    Closes #1\n":                       "",
		"<!-- Closes #1 -->Closes #2":                "2",
		"<!-- Closes #1":                             "",
		"Closes #4":                                  "", // a pull request
		"Closes #99 closes #0":                       "",
	} {
		s := newServer(t)
		n, err := s.OpenPull("acme/app", "wes", githubsim.Pull{Title: "t", Body: body, Head: "x"})
		if err != nil {
			t.Fatal(err)
		}

		data := query(t, s, "tok-wes",
			fmt.Sprintf(`{%s{pullRequest(number:%d){closingIssuesReferences(first:9){nodes{number}}}}}`, app, n))
		nodes, _ := field(data, "data.repository.pullRequest.closingIssuesReferences.nodes").([]any)
		var got []string
		for _, node := range nodes {
			got = append(got, fmt.Sprint(field(node.(map[string]any), "number")))
		}

		if strings.Join(got, " ") != want {
			t.Errorf("%q closes %v, want %q", body, got, want)
		}
	}
}

// TestMerge: merging closes the issue, another base branch does not, an edited description counts
// as it is then.
func TestMerge(t *testing.T) {
	for _, c := range []struct {
		name, base, body, edit string
		closed                 bool
	}{
		{"default branch", "main", "Closes #2", "", true},
		{"other branch", "dev", "Closes #2", "", false},
		{"edited away", "main", "Closes #2", "nothing", false},
		{"edited in", "main", "", "fixes #2", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newServer(t)
			opened := send(t, s, "tok-rob", "POST /repos/acme/app/pulls",
				fmt.Sprintf(`{"title":"t","head":"x","base":%q,"body":%q}`, c.base, c.body))
			if opened.status != 201 {
				t.Fatal(opened.text)
			}

			path := fmt.Sprintf("/repos/acme/app/pulls/%.0f", opened.json(t)["number"])
			if c.edit != "" {
				send(t, s, "tok-rob", "PATCH "+path, fmt.Sprintf(`{"body":%q}`, c.edit))
			}

			if got := send(t, s, "tok-wes", "PUT "+path+"/merge", ""); got.status != 200 ||
				got.json(t)["merged"] != true {
				t.Fatalf("%d %s", got.status, got.text)
			}

			issue := send(t, s, "tok-wes", "GET /repos/acme/app/issues/2", "").json(t)
			if (issue["state"] == "closed") != c.closed ||
				(c.closed && (issue["state_reason"] != "completed" || field(issue, "closed_by.login") != "wes")) {
				t.Errorf("issue: %v %v %v", issue["state"], issue["state_reason"], issue["closed_by"])
			}

			pull := send(t, s, "tok-wes", "GET "+path, "").json(t)
			if pull["state"] != "closed" || pull["merged"] != true || field(pull, "merged_by.login") != "wes" ||
				pull["merged_at"] == nil {
				t.Errorf("pull request: %v", pull)
			}

			if again := send(t, s, "tok-wes", "PUT "+path+"/merge", ""); again.status != 405 {
				t.Errorf("merging twice: %d", again.status)
			}

			if got := send(t, s, "tok-wes", "PATCH "+path, `{"state":"open"}`); got.status != 422 {
				t.Errorf("reopening a merged one: %d", got.status)
			}
		})
	}
}

// TestPullLists: the filters of the list, and that lists of issues have pull requests in them.
func TestPullLists(t *testing.T) {
	s := newServer(t)
	// 5 and 6
	for _, p := range []githubsim.Pull{{Title: "a", Head: "a", Base: "dev"}, {Title: "b", Head: "b", Draft: true}} {
		if _, err := s.OpenPull("acme/app", "wes", p); err != nil {
			t.Fatal(err)
		}
	}

	if err := s.Close("acme/app", 5, "wes"); err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct{ query, want string }{
		{"", "6 4"},
		{"state=all", "6 5 4"},
		{"state=closed", "5"},
		{"head=acme:fix", "4"},
		{"head=rob:fix", ""},
		{"base=dev&state=all", "5"},
		{"per_page=1&page=2", "4"},
	} {
		if got := numbersOf(t, send(t, s, "tok-rob", "GET /repos/acme/app/pulls?"+c.query, ""),
			"number"); got != c.want {
			t.Errorf("%s: %s, want %s", c.query, got, c.want)
		}
	}

	for _, o := range send(t, s, "tok-rob", "GET /repos/acme/app/issues?state=all", "").list(t) {
		if _, isPull := o["pull_request"]; isPull != (o["number"].(float64) >= 4) {
			t.Errorf("#%v: pull_request %v", o["number"], o["pull_request"])
		}
	}

	if got := send(t, s, "tok-wes", "PUT /repos/acme/app/pulls/6/merge", ""); got.status != 405 ||
		!strings.Contains(got.text, "draft") {
		t.Errorf("merging a draft: %d %s", got.status, got.text)
	}
}
