package action_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/sample"
)

// held is an issue that a worker has held since the beginning, with so many comments of talk.
func held(title string, talk int) githubsim.SeedIssue {
	claim := fmt.Sprintf("<!-- agent-claim:codename=lucius firing_id=run-%s nonce=7f3a9c1e ttl=14400 state=held hb=0 -->", title)
	issue := githubsim.SeedIssue{
		Title:    "Work " + title,
		Author:   "olga",
		Labels:   []string{"agent:in-flight"},
		Comments: []githubsim.SeedComment{{Author: "agents", Body: claim}},
	}

	for range talk {
		issue.Comments = append(issue.Comments, githubsim.SeedComment{Author: "stranger", Body: "Any news?"})
	}

	return issue
}

// many is a repository with so many held issues.
func many(name string, n, talk int) githubsim.SeedRepo {
	r := githubsim.SeedRepo{Name: name, DefaultBranch: "main"}
	for k := range n {
		r.Issues = append(r.Issues, held(fmt.Sprint(k+1), talk))
	}
	return r
}

// planted is a world of these repositories; the first is acme/app.
func planted(t *testing.T, repos ...githubsim.SeedRepo) *world {
	t.Helper()
	users := people()
	for k := range users {
		for _, r := range repos {
			if role := users[k].Permissions[app]; role != "" {
				users[k].Permissions[r.Name] = role
			}
		}
	}

	server, err := githubsim.New(githubsim.Seed{Users: users, Repos: repos}, githubsim.Options{})
	w := &world{
		T:      t,
		server: server,
		set:    ledger.DefaultSettings(),
		guard:  "fail",
		holds:  map[string]ledger.Hold{},
	}
	w.must(err)

	return w
}

var endOfRun = regexp.MustCompile(`agent-release:codename=lucius firing_id=run-(\d+) `)

// ends returns which run's hold, of those that held makes, a request ends with a comment, and
// whether it does so by GraphQL. run is empty for every other request.
func (w *world) ends(r *http.Request) (run string, queries bool) {
	body, err := io.ReadAll(r.Body)
	w.must(err)
	found := endOfRun.FindSubmatch(body)
	queries = bytes.Contains(body, []byte("addComment("))
	if found == nil || r.Method != http.MethodPost || !queries && !strings.HasSuffix(r.URL.Path, "/comments") {
		return "", false
	}

	return string(found[1]), queries
}

// inState counts the issues of a repository that have a label.
func (w *world) inState(label string, of int) int {
	n := 0
	for k := range of {
		if strings.Contains(w.labels(k+1), label) {
			n++
		}
	}

	return n
}

// TestSweepAThousand: with nothing to change, a page of a hundred issues is one request.
func TestSweepAThousand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := planted(t, many(app, 1001, 0))
		s := w.sweep()
		w.said(s, 0, "1001 examined, 0 released, 0 repaired, 0 failed, 0 not examined")
		if want := 11 + 3; s.requests > want || s.writes > 0 {
			t.Errorf("%d requests, %d writes; want at most %d and none", s.requests, s.writes, want)
		}
	})
}

// TestSweepReleasesHundreds: each released issue takes its snapshot, one comment and the two
// labels, paced under GitHub's limits, and nothing is left over.
func TestSweepReleasesHundreds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := sample.Size(60, 120)
		w := planted(t, many(app, n, 0))
		time.Sleep(5 * time.Hour)
		s := w.sweep()
		w.said(s, 0, fmt.Sprintf("%d released, %d repaired, 0 failed", n, n))
		if perIssue := float64(s.writes) / float64(n); perIssue > 3.1 {
			t.Errorf("%.1f writes for an issue, want 3", perIssue)
		}

		if got := w.inState("agent:implement", n); got != n {
			t.Errorf("%d of %d are free", got, n)
		}
	})
}

// TestSweepLongThread: the claim lies under 2,500 comments.
func TestSweepLongThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := many(app, 2, 0)
		r.Issues[0] = held("1", 2500)
		w := planted(t, r)
		s := w.sweep()
		w.said(s, 0, "2 examined, 0 released, 0 repaired")
		if s.requests > 32 {
			t.Errorf("%d requests, want about one for a hundred comments", s.requests)
		}

		time.Sleep(5 * time.Hour)
		w.said(w.sweep(), 0, "2 released")
	})
}

// TestSweepWhilePeopleWork: labels that come and go between two pages hide no issue.
func TestSweepWhilePeopleWork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 250
		w := planted(t, many(app, n, 0))
		time.Sleep(5 * time.Hour)
		busy, page := true, 0
		w.server.Fault = func(r *http.Request) *githubsim.Fault {
			body, _ := io.ReadAll(r.Body)
			if !busy || !strings.HasSuffix(r.Header.Get("Authorization"), tokActions) ||
				!bytes.Contains(body, []byte("orderBy")) {
				return nil
			}

			page++
			first := page * 20 // issues of pages that were read, which then fall out of the list
			for k := first; k < first+10; k++ {
				w.must(w.server.RemoveLabel(app, k, "olga", "agent:in-flight"))
				w.must(w.server.AddLabels(app, k, "olga", "agent:implement"))
			}

			return nil
		}

		s := w.sweep()
		busy = false
		w.said(s, 0, "250 examined", "250 released")
		if got := w.inState("agent:implement", n); got != n || page < 3 {
			t.Errorf("%d of %d are free after %d pages", got, n, page)
		}
	})
}

// TestSweepGoesOn: one issue that fails is said and does not stop the others; the next run does it.
func TestSweepGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := planted(t, many(app, 5, 0))
		time.Sleep(5 * time.Hour)
		w.server.Fault = func(r *http.Request) *githubsim.Fault {
			if run, _ := w.ends(r); run == "3" {
				return &githubsim.Fault{Status: http.StatusBadGateway}
			}
			return nil
		}

		w.said(w.sweep(), 1, "4 released", "1 failed", "::error::acme/app#3", "failed<<")
		w.said(w.sweep("fail-on-incomplete=false"), 0, "1 failed", "::error::acme/app#3")
		w.server.Fault = nil
		w.said(w.sweep(), 0, "1 released", "0 failed")
	})
}

// TestTenAnnotations: what the runner would drop is in the log as ordinary lines.
func TestTenAnnotations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := planted(t, many(app, 25, 0))
		time.Sleep(5 * time.Hour)
		w.server.Fault = func(r *http.Request) *githubsim.Fault {
			run, queries := w.ends(r)
			switch {
			case run == "":
				return nil
			case queries:
				return &githubsim.Fault{
					Status: http.StatusOK,
					Body:   `{"data":{"post":null},"errors":[{"type":"UNPROCESSABLE","path":["post"],"message":"Validation failed"}]}`,
				}
			}

			return &githubsim.Fault{Status: http.StatusUnprocessableEntity}
		}

		s := w.sweep()
		w.said(s, 1, "25 failed", "::error::sweep: incomplete", "\nerror: acme/app#25")
		if n := strings.Count(s.log, "::error::"); n != 10 {
			t.Errorf("%d annotations, want ten", n)
		}
	})
}

// spent is the answer when the hourly budget is used up.
func spent() *githubsim.Fault {
	return &githubsim.Fault{
		Status: http.StatusForbidden, Body: `{"message":"API rate limit exceeded"}`,
		Header: http.Header{
			"X-Ratelimit-Remaining": {"0"},
			"X-Ratelimit-Reset":     {fmt.Sprint(time.Now().Add(time.Hour).Unix())},
		},
	}
}

// TestSweepOutOfBudget: a sweep without requests left stops cleanly and says what it left; the next
// goes on.
func TestSweepOutOfBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := planted(t, many(app, 60, 0), many("acme/lib", 2, 0))
		time.Sleep(5 * time.Hour)
		asked := w.breakAfter(0, spent)
		w.said(w.sweep("repos=acme/app,acme/lib"), 1, "::warning::stopped early: ", "rate limit reached", "acme/lib: ")
		if asked() > 1 {
			t.Errorf("%d requests though the first had no budget", asked())
		}

		posts, after := 0, 0
		w.server.Fault = func(r *http.Request) *githubsim.Fault {
			if run, _ := w.ends(r); run != "" {
				posts++
			}
			if posts > 10 {
				after++
				return spent()
			}

			return nil
		}

		s := w.sweep("repos=acme/app,acme/lib")
		w.said(s, 1, "60 examined, 10 released", "50 failed, 1 not examined", "::warning::stopped early: rate limit reached", "acme/lib: ",
			"rate limit", "run again soon", "incomplete")
		if n := strings.Count(s.log, "::warning") + strings.Count(s.log, "::error"); n > 10 {
			t.Errorf("%d annotations", n)
		}

		if after > 2 {
			t.Errorf("%d requests after the budget was gone", after)
		}
		w.server.Fault = nil
		time.Sleep(2 * time.Hour)
		w.said(w.sweep("repos=acme/app,acme/lib"), 0, "52 released", "0 not examined")
	})
}

// TestSweepRepositories: several repositories, each by its own names; what is archived or has no
// issues is left alone, and that is not incomplete; what cannot be read is.
func TestSweepRepositories(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		off := false
		ready := githubsim.SeedRepo{Name: "acme/ready", Issues: []githubsim.SeedIssue{held("1", 0)}}
		ready.Issues[0].Labels = []string{"agent-working"}
		w := planted(t, many(app, 2, 0), ready, githubsim.SeedRepo{Name: "acme/old", Archived: true},
			githubsim.SeedRepo{Name: "acme/wiki", HasIssues: &off})
		time.Sleep(5 * time.Hour)
		own := func(s *action.Step) {
			s.Open = func(_ context.Context, repo claim.Repo) (action.Place, error) {
				defer func(set ledger.Settings) { w.set = set }(w.set)
				switch repo.Name {
				case "ready":
					w.set.Rules.Scheme = labels.Ready()
				case "shut":
					return action.Place{}, errors.New("cannot be opened")
				}
				return w.place(tokActions, repo, false), nil
			}
		}

		sweep := func(repos string) step {
			return w.run(t.Context(), run{
				token:  tokActions,
				name:   "schedule",
				event:  []byte("{}"),
				inputs: map[string]string{"repos": repos},
				change: own,
			})
		}

		s := sweep("acme/app, acme/ready\nACME/app acme/old acme/wiki")
		w.said(s, 0, "3 examined, 3 released", "acme/old: archived", "acme/wiki: issues are turned off", "Left alone")
		got, err := w.server.Labels("acme/ready", 1)
		if w.must(err); !slices.Equal(got, []string{"ready"}) {
			t.Errorf("labels = %q", got)
		}

		w.said(sweep("acme/app acme/none"), 1, "not examined: acme/none", "2 examined")
		w.said(sweep("acme/app acme/shut"), 1, "not examined: acme/shut: cannot be opened", "2 examined")
		w.said(sweep("acme/none"), 3, "::error::sweep: acme/none")
		for _, bad := range []string{"acme", "acme/", "/app", "acme/app/x"} {
			w.said(sweep(bad), 2, "input repos", "owner/name")
		}
	})
}

// TestTwoSweeps: two sweeps at the same time release everything once, whatever the interleaving.
func TestTwoSweeps(t *testing.T) {
	for seed := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			const n = 6
			w := planted(t, many(app, n, 0))
			time.Sleep(5 * time.Hour)
			w.jitter(seed)
			done := make(chan step)
			for range 2 {
				go func() { done <- w.sweep() }()
			}

			for range 2 {
				w.said(<-done, 0)
			}
			w.server.Fault = nil

			for k := range n {
				all, err := w.server.Comments(app, k+1)
				w.must(err)
				if len(all) != 2 || w.labels(k+1) != "agent:implement" {
					t.Errorf("seed %d: #%d: %q, %d comments: %v", seed, k+1, w.labels(k+1), len(all), all)
				}
			}
		})
	}
}
