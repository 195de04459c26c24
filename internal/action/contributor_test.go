package action_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/sample"
)

// commented delivers a comment of somebody's as an event.
func (w *world) commented(n int, login, text string) step {
	w.Helper()
	id, err := w.server.AddComment(app, n, login, text)
	w.must(err)
	time.Sleep(2 * time.Second)
	return w.deliver(tokActions, w.last("issue_comment", "created", fmt.Sprintf(`"id":%d,`, id)))
}

// opensUp lets contributors take every issue.
func (w *world) opensUp() {
	w.contributors = config.Default().Contributors
	w.contributors.Claim = config.ContributorsAll
}

// heldByContributor opens an issue that a login holds since now, as the log shows it.
func (w *world) heldByContributor(login string) {
	w.Helper()
	n := w.issue("Work", "agent:implement", "do-not-pickup")
	_, err := w.server.AddComment(app, n, "github-actions[bot]", fmt.Sprintf("<!-- agent-claim:codename=%s firing_id=comment-%d "+
		"by=%s nonce=%016x ttl=604800 attempt=1 state=held hb=0 person=%s -->", login, n, login, n, login))
	w.must(err)
}

// TestContributorRequests: what contributors cost in requests is as the page says.
func TestContributorRequests(t *testing.T) {
	table := "| step | requests |\n|---|---|\n"
	row := func(step string, requests int) { table += fmt.Sprintf("| %s | %d |\n", step, requests) }
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opensUp()
		said := func(n int, login, words string) int {
			s := w.commented(n, login, words)
			w.said(s, 0, words+" by "+login+" on "+ref(n).String()+"\n")
			return s.requests
		}

		time.Sleep(30 * 365 * 24 * time.Hour)   // accounts are of 2020
		said(w.issue("Work"), "olga", "/claim") // so that the label is there
		member, stranger := said(w.issue("Work"), "tia", "/claim"), said(w.issue("Work"), "stranger", "/claim")
		if stranger > member+2 {
			t.Errorf("a contributor's claim made %d requests, a member's %d", stranger, member)
		}

		row("`/claim` by a member", member)
		row("`/claim` by a contributor", stranger)
		w.contributors.AccountAge = time.Second
		row("the same, with `contributors.account_age`", said(w.issue("Work"), "newcomer", "/claim"))
		row("`/release` by a contributor", said(3, "stranger", "/release"))
		w.contributors.Hourly = 1
		row("a command of a contributor that waits for the sweep", w.commented(w.issue("Work"), "rob", "/claim").requests)
	})

	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opensUp()
		for range 800 {
			w.issue("Work")
		}
		for n := range 200 {
			w.heldByContributor([]string{"stranger", "newcomer"}[n%2])
		}

		s := w.sweep()
		w.said(s, 0, "1000 examined")
		if s.requests > 20 {
			t.Errorf("a sweep made %d requests", s.requests)
		}

		row("a sweep of 1,000 issues, of which contributors hold 200 and 800 are ready", s.requests)
		w.contributors.Limit = 1000
		row("`/claim` by a contributor beside 200 holds", w.commented(w.issue("Work"), "rob", "/claim").requests)
	})

	golden.Section(t, "../../docs/scale.md", "contributors", table)
}

// TestLimitUnread: where what a contributor holds cannot be read, they get no more.
func TestLimitUnread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opensUp()
		n := w.issue("Work")
		w.server.Fault = func(r *http.Request) *githubsim.Fault {
			body, err := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			w.must(err)
			if bytes.Contains(body, []byte("orderBy")) {
				return &githubsim.Fault{Status: http.StatusBadGateway}
			}
			return nil
		}

		w.said(w.commented(n, "stranger", "/claim"), 3, "502")
	})
}

// TestHourlyAuthors: a sweep gives the authors of pull requests no more holds than
// contributors.hourly.
func TestHourlyAuthors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opensUp()
		w.contributors.PullRequests, w.contributors.Hourly = config.PullsClaim, 1
		for _, login := range []string{"stranger", "newcomer"} {
			body := fmt.Sprint("Closes #", w.issue("Work"))
			_, err := w.server.OpenPull(app, login, githubsim.Pull{Title: "Work", Body: body, Head: login})
			w.must(err)
		}

		w.said(w.sweep(), 0, "stranger holds acme/app#1")
		w.said(w.sweep(), 0, "newcomer holds acme/app#3")
	})
}

// TestMostOfOnePull: a sweep gives the author of a pull request all that it closes by its title, as long
// as those are no more than one may move.
func TestMostOfOnePull(t *testing.T) {
	for closes, want := range map[int]int{lifecycle.MostIssues: lifecycle.MostIssues, lifecycle.MostIssues + 1: 0} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.opensUp()
			w.contributors.PullRequests, w.contributors.Hourly, w.contributors.Limit = config.PullsClaim, 100, 100
			var title []string
			for range closes {
				title = append(title, fmt.Sprint("fix #", w.issue("Work")))
			}

			_, err := w.server.OpenPull(app, "stranger", githubsim.Pull{Title: strings.Join(title, " "), Head: "stranger"})
			w.must(err)
			got := w.sweep()
			if n := strings.Count(got.all(), "\nstranger holds "); n != want {
				t.Errorf("of %d issues the author got %d, want %d:\n%s", closes, n, want, got.short())
			}
		})
	}
}

// TestLateClaim: a release ends the hold of a claim that was written before it and carried out after
// it was written.
func TestLateClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opensUp()
		n := w.issue("Work")

		for _, text := range []string{"/claim", "/release"} {
			_, err := w.server.AddComment(app, n, "stranger", text)
			w.must(err)
			time.Sleep(time.Minute)
		}

		for _, text := range []string{"/claim", "/release"} {
			w.said(w.deliver(tokActions, w.last("issue_comment", "created", `"body":"`+text)), 0, text+" by stranger")
		}
		if got := w.labels(n); got != "agent:implement" {
			t.Errorf("labels %s", got)
		}
	})
}

// TestCrowd: of a hundred commands in an hour so many are carried out as the repository allows;
// each of the others costs four requests at most and writes nothing. All of them get one reply.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opensUp()
		n := w.issue("Work")

		answered := 0
		for range 40 {
			s := w.commented(n, "stranger", "/release nothing @everyone")
			switch {
			case s.writes > 0:
				answered++
			case s.requests > 4:
				t.Errorf("a command that waits made %d requests", s.requests)
			}
		}

		if answered != w.contributors.Hourly {
			t.Errorf("%d commands were answered, want %d", answered, w.contributors.Hourly)
		}

		time.Sleep(2 * time.Hour)
		w.said(w.sweep(), 0)
		var ours []string
		for _, c := range w.thread(n) {
			if c.Author != "stranger" {
				ours = append(ours, c.Body)
			}
		}
		if len(ours) != 1 || !strings.Contains(ours[0], "you do not hold this issue") {
			t.Errorf("we wrote %q, want one reply", ours)
		}
	})
}

// TestHostileLogins: whatever a login looks like, its claim is its own or none, nothing of it is
// markup, a mention or a record, and the next sweep is green.
func TestHostileLogins(t *testing.T) {
	for _, login := range []string{
		"a-->b", "<img src=x>", "@everyone", "[x](https://evil.example)", "x person=olga", "x by=olga nonce=0", "*c*", "a\nb",
		"-", strings.Repeat("x", 300), "x`y", "ann\u202e", "agent-claim", "none",
	} {
		t.Run(login[:min(len(login), 20)], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.opensUp()
				w.contributors.PullRequests = config.PullsClaim
				n, taken := w.issue("Work", "agent:implement"), w.issue("Work", "agent:implement")
				w.said(w.commented(taken, "olga", "/claim"), 0)
				for _, i := range []int{n, taken} {
					if s := w.commented(i, login, "/claim"); s.code == 0 {
						continue
					} else if strings.Contains(s.all(), "panic") {
						t.Error(s.all())
					}
				}
				_, err := w.server.OpenPull(app, login, githubsim.Pull{Title: "Fix", Body: fmt.Sprint("Closes #", n), Head: "fix"})
				w.must(err)
				w.said(w.sweep(), 0)

				l, client := w.ledger(tokActions)
				for _, i := range []int{n, taken} {
					f, err := client.Facts(w.Context(), ref(i))
					w.must(err)
					c, held := l.Rules().Holder(f)
					if held && (i == taken) != c.IsOf("olga") || !held && i == taken {
						t.Errorf("#%d is held by %q", i, c.Person)
					}

					for _, o := range w.thread(i) {
						shown := hidden.ReplaceAllString(o.Body, "")
						bare := regexp.MustCompile("`[^`]*`").ReplaceAllString(shown, "")
						bad := slices.ContainsFunc([]string{"<img", "[x](", "@everyone", "*c*", "-->"},
							func(s string) bool { return strings.Contains(bare, s) })
						if o.Author == "github-actions[bot]" && bad {
							t.Errorf("we show %s", shown)
						}
					}
				}
			})
		})
	}
}

// TestFlood: a hundred commands or pull requests (12 in a sample), by one account or by a hundred, cost bounded
// requests and comments. Nobody loses a hold, and each account gets what one contributor may have.
func TestFlood(t *testing.T) {
	flood := sample.Size(12, 100)
	alone := func(int) string { return "stranger" }
	crowd := func(n int) string { return fmt.Sprint("account-", n) }
	for _, c := range []struct {
		name     string
		login    func(int) string
		pulls    bool // pull requests, not commands
		each     bool // every one is for an issue of its own, which is free; olga holds the one otherwise
		holds    int
		comments int // of ours: for a hold one, and one that says no to whom has asked
	}{
		{"commands of one", alone, false, false, 0, 1},
		{"commands of many", crowd, false, false, 0, flood},
		{"commands of one, everywhere", alone, false, true, 1, flood},
		{"commands of many, everywhere", crowd, false, true, flood, flood},
		{"pull requests of one", alone, true, true, 1, 1}, // of as many issues as lifecycle.outsider_issues
		{"pull requests of many", crowd, true, true, flood, flood},
		{"pull requests of many for one", crowd, true, false, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.opensUp()
				w.contributors.PullRequests = config.PullsClaim
				taken := w.issue("Work")
				w.said(w.commented(taken, "olga", "/claim"), 0)

				issues := []int{taken}
				for k := range flood {
					n := taken
					if c.each {
						n = w.issue("Work")
						issues = append(issues, n)
					}

					if c.pulls {
						p := githubsim.Pull{Title: "Fix", Body: fmt.Sprint("Closes #", n), Head: fmt.Sprint("fix-", k)}
						_, err := w.server.OpenPull(app, c.login(k), p)
						w.must(err)
					} else if s := w.commented(n, c.login(k), "/claim"); s.code != 0 || s.requests > 20 {
						t.Errorf("command %d: exit %d after %d requests", k, s.code, s.requests)
					}
				}

				for range 6 { // what waits is carried out by and by
					if s := w.sweep(); s.code != 0 || s.requests > 500 {
						t.Errorf("sweep: exit %d after %d requests", s.code, s.requests)
					}
					time.Sleep(time.Hour)
				}

				holds, comments := 0, 0
				for _, n := range issues {
					for _, o := range w.thread(n) {
						if o.Author == "github-actions[bot]" {
							comments++
						}
					}
					if strings.Contains(w.labels(n), "do-not-pickup") {
						holds++
					}
				}

				if holds, comments = holds-1, comments-1; holds != c.holds || comments != c.comments {
					t.Errorf("%d holds and %d comments, want %d and %d", holds, comments, c.holds, c.comments)
				}
				if got := w.thread(taken)[1].Body; !strings.Contains(got, "person=olga") {
					t.Errorf("the log of the issue that olga holds begins with %q", got)
				}
			})
		})
	}
}

// TestRivals: who wants an issue at the same moment, in runs of the Action and on machines of their
// own, finds one winner; everybody else is told, and of two contributors each has what was said.
func TestRivals(t *testing.T) {
	asks := func(login string) func(*world, int) func() {
		return func(w *world, n int) func() {
			id, err := w.server.AddComment(app, n, login, "/claim")
			w.must(err)
			e := w.last("issue_comment", "created", fmt.Sprintf(`"id":%d,`, id))
			return func() { w.said(w.deliver(tokActions, e), 0) }
		}
	}
	opens := func(login string) func(*world, int) func() {
		return func(w *world, n int) func() {
			_, err := w.server.OpenPull(app, login, githubsim.Pull{Title: "Fix", Body: fmt.Sprint("Closes #", n), Head: login})
			w.must(err)
			e := w.last("pull_request", "opened", fmt.Sprintf(`"login":%q`, login))
			return func() { w.deliver(tokActions, e) }
		}
	}
	works := func(w *world, n int) func() {
		return func() {
			l, _ := w.ledger("tok-agents")
			_, _ = l.Claim(w.Context(), ref(n), ledger.Request{Worker: claim.Worker{Codename: "lucius"}}) // the log says who has won
		}
	}

	for name, rivals := range map[string][]func(*world, int) func(){
		"two contributors":                   {asks("stranger"), asks("newcomer")},
		"a contributor and a worker":         {asks("stranger"), works},
		"a contributor and a person":         {asks("stranger"), asks("tia")},
		"a contributor's pull request":       {opens("stranger"), asks("newcomer")},
		"a pull request and a worker":        {opens("stranger"), works},
		"everybody":                          {asks("stranger"), asks("newcomer"), asks("tia"), opens("guest"), works},
		"a command and one that sweeps":      {asks("stranger"), func(w *world, _ int) func() { return func() { w.sweep() } }},
		"two pull requests that a sweep has": {opens("guest"), opens("stranger"), func(w *world, _ int) func() { return func() { w.sweep() } }},
	} {
		for seed := range sample.Size[uint64](2, 40) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.opensUp()
				w.contributors.PullRequests = config.PullsClaim
				n := w.issue("Work")
				w.jitter(seed)

				var begun []func()
				for _, rival := range rivals {
					begun = append(begun, rival(w, n))
				}
				var all sync.WaitGroup
				for _, run := range begun {
					all.Go(run)
				}
				all.Wait()
				w.server.Fault = nil

				l, client := w.ledger(tokActions)
				f, err := client.Facts(w.Context(), ref(n))
				w.must(err)
				live := f.Log.Live()
				if len(live) != 1 || !live[0].Held() {
					t.Fatalf("%s, seed %d: %d claims are live: %v", name, seed, len(live), w.thread(n))
				}

				c, held := l.Rules().Holder(f)
				if !held || slices.ContainsFunc(f.Assignees, func(login string) bool { return login != c.Person }) {
					t.Errorf("%s, seed %d: %s holds it, assigned is %v", name, seed, c.Holder(), f.Assignees)
				}
				w.said(w.sweep(), 0, "0 released")
			})
		}
	}
}
