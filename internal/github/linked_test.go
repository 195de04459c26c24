package github

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/prchain"
)

// part is what the body of a part of acme/app's chain for issue 1 says; the numbers are those of
// its pull requests.
func part(n int, numbers ...int) string {
	r := prchain.Region{
		Feature: "retry",
		Parent:  issue("app", 1),
		Closes:  len(numbers),
		Part:    n,
	}

	for _, number := range numbers {
		r.PRs = append(r.PRs, issue("app", number))
	}

	return r.String()
}

// chained is a server with pull requests 2, 3 … of acme/app, each "AUTHOR: BODY".
func chained(t *testing.T, pulls ...string) *githubsim.Server {
	t.Helper()
	seed := world()
	app := &seed.Repos[0]
	app.Issues, app.Pulls = app.Issues[:1], nil

	for n, text := range pulls {
		author, body, _ := strings.Cut(text, ": ")
		app.Pulls = append(app.Pulls, githubsim.SeedPull{
			SeedIssue: githubsim.SeedIssue{
				Number: n + 2,
				Title:  "Part",
				Body:   body,
				Author: author,
			}, Head: fmt.Sprint("part-", n+2), Base: "main",
		})
	}

	s, err := githubsim.New(seed, githubsim.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// TestClosingAndRecorded: a pull request that the log names is recorded, once, however the log spells its address and
// whether or not it closes the issue by a keyword as well, and others besides.
func TestClosingAndRecorded(t *testing.T) {
	const excessive = "mal: Closes #1, closes #21, closes #22, closes #23"
	for _, body := range []string{"tia: Closes #1", "tia: for the first", excessive} {
		server := chained(t, body)
		c, tia := connect(t, server.Transport()), connect(t, server.Transport(), as("tok-tia"))
		for n, pull := range []string{"https://github.com/acme/app/pull/2", "https://github.com/Acme/App/pull/2/files"} {
			w := claim.Worker{Codename: "lucius", FiringID: fmt.Sprint("f", n)}
			for _, r := range []claim.Record{
				{Kind: claim.KindClaim, Worker: w, Nonce: "n", Held: true, TTL: time.Hour},
				{Kind: claim.KindRelease, Worker: w, Outcome: claim.OutcomeSuccess, PR: pull},
			} {
				body, err := claim.Body(r, "")
				if err == nil {
					_, err = tia.Comment(t.Context(), issue("app", 1), body)
				}

				if err != nil {
					t.Fatal(err)
				}
			}
		}

		f, err := c.Facts(t.Context(), issue("app", 1))
		if err != nil || len(f.PRs) != 1 || !f.PRs[0].Recorded {
			t.Errorf("%s: %+v, %v, want one that is recorded", body, f.PRs, err)
		}

		fresh := connect(t, server.Transport()) // that knows nobody's role
		f = fresh.HoldersOf(t.Context(), []claim.Issue{issue("app", 1)})[0].Facts
		if body != excessive && len(f.PRs) != 1 {
			t.Errorf("%s: for a look at who holds it %+v, want it", body, f.PRs)
		}
	}
}

// TestSiblings: a part of a chain counts if both sides say so and both authors are trusted on the
// issue.
func TestSiblings(t *testing.T) {
	const closer = "\n\nCloses #1"
	for _, c := range []struct {
		name  string
		pulls []string
		want  string // the issue's pull requests: number, and the chain of those in one, "+" for siblings
	}{
		{"two parts", []string{"tia: " + part(1, 2, 3), "tia: " + part(2, 2, 3)}, "3retry 2retry+"},
		{"of two people", []string{"tia: " + part(1, 2, 3), "bot: " + part(2, 2, 3)}, "3retry 2retry+"},
		{"opened a moment ago", []string{"tia: " + part(1, 2, 0), "tia: " + part(2, 2, 0)}, "3retry 2retry+"},
		{"both close it", []string{"tia: " + part(1, 2, 3) + closer, "tia: " + part(2, 2, 3)}, "2retry 3retry"},
		{
			"three parts, one of which has lost its region",
			[]string{"tia: " + part(1, 2, 3, 4), "tia: text", "tia: " + part(3, 2, 3, 4)},
			"4retry 2retry+",
		},
		{"a stranger's sibling", []string{"mal: " + part(1, 2, 3), "tia: " + part(2, 2, 3)}, "3"},
		{"a reader's sibling", []string{"rob: " + part(1, 2, 3), "tia: " + part(2, 2, 3)}, "3"},
		{"a stranger's closing part", []string{"tia: " + part(1, 2, 3), "mal: " + part(2, 2, 3)}, "3"},
		{
			"a copy",
			[]string{"tia: " + part(1, 2, 3), "tia: " + part(2, 2, 3), "tia: " + part(2, 2, 3)},
			"3retry 4 2retry+",
		},
		{
			"a copy while the others do not know",
			[]string{"tia: " + part(1, 2, 0), "tia: " + part(2, 2, 3), "tia: " + part(2, 2, 3)},
			"3retry 4 2retry+",
		},
		{"named and does not know", []string{"tia: text", "tia: " + part(2, 2, 3)}, "3"},
		{"not named back", []string{"tia: " + part(1, 2, 9), "tia: " + part(2, 2, 3)}, "3"},
		{"damaged", []string{"tia: " + part(1, 2, 3) + "\n<!-- label-state:chain", "tia: " + part(2, 2, 3)}, "3"},
		{"of another feature", []string{"tia: " + strings.Replace(part(1, 2, 3), "retry", "other", 1), "tia: " +
			part(2, 2, 3)}, "3"},
		{"for another issue", []string{"tia: " + strings.ReplaceAll(part(1, 2, 3), "app#1 ", "app#9 "), "tia: " +
			strings.ReplaceAll(part(2, 2, 3), "app#1 ", "app#9 ")}, "3"},
		{"of one that is not there", []string{"tia: " + part(2, 77, 2)}, "2"},
	} {
		f, err := connect(t, chained(t, c.pulls...).Transport()).Facts(t.Context(), issue("app", 1))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}

		got := map[string]bool{}
		for _, p := range f.PRs {
			text := fmt.Sprint(p.Number, p.Chain)
			if p.Sibling {
				text += "+"
			}
			got[strings.ReplaceAll(text, " ", "")] = true
		}

		for _, w := range strings.Fields(c.want) {
			if !got[w] {
				t.Errorf("%s: %v, want %s", c.name, got, c.want)
			}
		}

		if len(got) != len(strings.Fields(c.want)) {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// TestSiblingUnread: a part that could not be read just now makes the issue unknown, never free or
// done.
func TestSiblingUnread(t *testing.T) {
	server := chained(t, "tia: "+part(1, 2, 3), "tia: "+part(2, 2, 3))
	server.Fault = func(r *http.Request) *githubsim.Fault {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "n0: repository") {
			return &githubsim.Fault{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>"}
		}
		return nil
	}

	if f, err := connect(t, server.Transport()).Facts(t.Context(), issue("app", 1)); err == nil {
		t.Errorf("facts %+v, want an error", f.PRs)
	}
}

// TestChecks: runs and statuses, the newest of each, all pages; what does not add up is an error.
func TestChecks(t *testing.T) {
	server := chained(t, "tia: text")
	for n := range 130 {
		if err := server.SetCheck("acme/app", 2, "bot", fmt.Sprint("run ", n), "completed", "success"); err != nil {
			t.Fatal(err)
		}
		if err := server.SetStatus("acme/app", 2, "bot", fmt.Sprint("status ", n), "pending"); err != nil {
			t.Fatal(err)
		}
	}

	for _, again := range []string{"failure", "success"} {
		if err := server.SetStatus("acme/app", 2, "bot", "status 7", again); err != nil {
			t.Fatal(err)
		}
	}

	client := connect(t, server.Transport())
	p, err := client.ReadPull(t.Context(), issue("app", 2))
	if err != nil {
		t.Fatal(err)
	}

	checks, err := client.Checks(t.Context(), "acme/app", p.SHA)
	count := map[string]int{}
	for _, c := range checks {
		count[c.State]++
	}

	if err != nil || len(checks) != 260 || count["success"] != 131 || count["pending"] != 129 {
		t.Errorf("%d checks, %v, %v", len(checks), count, err)
	}

	if _, err := client.Checks(t.Context(), "acme/app", "main/../x"); err == nil {
		t.Error("a commit with another name than an id was asked for")
	}

	for _, body := range []string{`{}`, `{"total_count": 2, "check_runs": []}`, `[]`, `{"check_runs": []}`} {
		server.Fault = func(r *http.Request) *githubsim.Fault {
			return &githubsim.Fault{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
		}
		if got, err := client.Checks(t.Context(), "acme/app", p.SHA); err == nil {
			t.Errorf("%s: %v, want an error", body, got)
		}
	}
}
