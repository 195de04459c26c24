package action_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/golden"
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
// each of the others costs four requests at most and writes nothing.
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

		thread, err := w.server.Comments(app, n)
		w.must(err)
		for _, c := range thread {
			if c.Author != "stranger" {
				t.Errorf("%s wrote %s", c.Author, c.Body)
			}
		}

		time.Sleep(2 * time.Hour)
		w.said(w.sweep(), 0)
	})
}
