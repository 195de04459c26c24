package action_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
)

// hostile is a title or a reason that must show as text.
const hostile = "x --> <img src=x> @everyone #1 `a` [b](https://evil.example) | *c*"

// machineWords are what belongs into the hidden record alone.
var machineWords = regexp.MustCompile(`\d{8}-\d{6}-[0-9a-f]+|sweep-|-event|[^e]comment-\d|pull-\d|firing|nonce|token|cancelled|stale-swept`)

var hidden = regexp.MustCompile(`(?s)<!--.*?-->`)

// lastOf is the newest comment on an issue by somebody.
func (w *world) lastOf(n int, author string) string {
	w.Helper()
	all := w.thread(n)
	for k := len(all) - 1; k >= 0; k-- {
		if all[k].Author == author {
			return all[k].Body
		}
	}
	w.Fatalf("%s wrote nothing on #%d", author, n)
	return ""
}

// TestNotifications: what a life of an issue costs its readers, in comments that notify; an edit
// notifies nobody.
func TestNotifications(t *testing.T) {
	table := "| what happens to an issue | comments |\n|---|---|\n"
	row := func(what string, most int, play func(w *world, n int)) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.opensUp()
			n := w.issue("Work")
			play(w, n)
			w.said(w.sweep(), 0)
			ours := 0
			for _, c := range w.thread(n) {
				if c.Author == "agents" || c.Author == "github-actions[bot]" {
					ours++
				}
			}

			table += fmt.Sprintf("| %s | %d |\n", what, ours)
			if ours > most {
				t.Errorf("%s: %d comments, at most %d", what, ours, most)
			}
		})
	}
	try := func(w *world, n int, outcome string) {
		h := w.claim(n, "agents", "lucius", "fix")
		l, _ := w.ledger("tok-agents")
		for range 5 {
			time.Sleep(time.Hour)
			_, err := l.Renew(w.Context(), ref(n), h.Record.Worker, h.Token)
			w.must(err)
		}

		pull, err := w.server.OpenPull(app, "agents", githubsim.Pull{Title: "Work", Body: fmt.Sprint("Closes #", n), Head: "fix"})
		w.must(err)
		_, err = l.Release(w.Context(), ref(n), ledger.Ending{Worker: h.Record.Worker, Outcome: outcome})
		w.must(err)
		if outcome == claim.OutcomeFailure {
			w.must(w.server.Close(app, pull, "agents"))
		} else {
			w.must(w.server.MergePull(app, pull, "olga"))
		}
		time.Sleep(3 * time.Hour)
	}

	row("a worker claims it, renews five times, opens a pull request, releases; it is merged", 2, func(w *world, n int) {
		try(w, n, claim.OutcomeSuccess)
	})
	row("three attempts fail, and a person is asked", 7, func(w *world, n int) {
		for range 3 {
			try(w, n, claim.OutcomeFailure)
		}
	})
	row("a worker crashes, and its lease runs out", 2, func(w *world, n int) {
		w.claim(n, "agents", "lucius", "fix")
		time.Sleep(5 * time.Hour)
	})
	row("a contributor claims it, is reminded once and loses it after a week", 3, func(w *world, n int) {
		w.commented(n, "stranger", "/claim")
		for range 8 {
			time.Sleep(24 * time.Hour)
			w.sweep()
		}
	})
	row("a contributor claims it, opens a pull request; it is merged", 2, func(w *world, n int) {
		w.commented(n, "stranger", "/claim")
		pull, err := w.server.OpenPull(app, "stranger", githubsim.Pull{Title: "Work", Body: fmt.Sprint("Closes #", n), Head: "fix"})
		w.must(err)
		time.Sleep(24 * time.Hour)
		w.must(w.server.MergePull(app, pull, "olga"))
		time.Sleep(time.Hour)
	})
	row("an agent in the cloud is assigned and does nothing", 1, func(w *world, n int) {
		w.must(w.server.Assign(app, n, "olga", "copilot-swe-agent[bot]"))
		time.Sleep(3 * time.Hour)
	})
	golden.Section(t, "../../docs/action.md", "comments", table)
}

// TestComments: each kind of comment, as it is posted. Beside the hidden record it has no word of a
// machine, nothing that others wrote is markup or a mention, and it ends with the same small line.
func TestComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.opensUp()
		const bot = "github-actions[bot]"
		page := "What label-state writes on GitHub, one of each kind. A test compares it with what is posted.\n"
		said := func(kind string, n int, author string) {
			body := w.lastOf(n, author)
			page += fmt.Sprintf("\n## %s\n\n%s\n", kind, strings.TrimSpace(hidden.ReplaceAllString(body, "")))
			if !strings.HasSuffix(body, printable.Footer) {
				t.Errorf("%s ends with %q", kind, body[max(0, len(body)-200):])
			}

			shown := hidden.ReplaceAllString(body, "")
			if found := machineWords.FindString(shown); found != "" {
				t.Errorf("%s shows %q: %s", kind, found, shown)
			}
			for _, bad := range []string{"<img", "[b](", "#1 ", "*c*"} {
				bare := regexp.MustCompile("`[^`]*`").ReplaceAllString(shown, "")
				if strings.Contains(bare, bad) || strings.Contains(bare, "@everyone") {
					t.Errorf("%s shows %q: %s", kind, bad, bare)
				}
			}
		}
		event := func(name, action string) { w.deliver(tokActions, w.last(name, action, "")) }
		command := func(n int, login, text string) { w.said(w.commented(n, login, text), 0) }
		held := func(codename string) int {
			n := w.issue(hostile)
			w.claim(n, "agents", codename, "fix")
			time.Sleep(2 * time.Second)
			return n
		}
		ends := func(codename, outcome string, e ledger.Ending) {
			h := w.holds[codename]
			l, _ := w.ledger("tok-agents")
			e.Worker, e.Outcome = h.Record.Worker, outcome
			_, err := l.Release(w.Context(), h.Issue, e)
			w.must(err)
			time.Sleep(2 * time.Second)
		}

		n := held("lucius")
		said("A worker holds an issue", n, "agents")
		l, _ := w.ledger("tok-agents")
		_, err := l.Revoke(w.Context(), ref(n), "olga", hostile)
		w.must(err)
		said("It is asked to stop", n, "agents")
		ends("lucius", claim.OutcomeFailure, ledger.Ending{Reason: "the tests need a database that I cannot reach"})
		said("It gives up, with a reason", n, "agents")

		n = held("drake")
		_, err = l.Plan(w.Context(), ref(n), w.holds["drake"].Record.Worker, ledger.Draft{Text: "1. Read\n2. Write\n\n```\n" + hostile + "\n```"})
		w.must(err)
		time.Sleep(2 * time.Second)
		said("It has a plan", n, "agents")
		command(n, "olga", "/reject "+hostile)
		said("The plan is turned down", n, bot)

		n = held("fox")
		command(n, "tia", "/release "+hostile)
		said("A person takes the issue from a worker", n, bot)
		command(n, "tia", "/claim")
		said("A person holds it", n, bot)
		command(n, "stranger", "/claim")
		said("Somebody else asks for it", n, bot)
		time.Sleep(15 * 24 * time.Hour)
		w.said(w.sweep(), 0)
		said("The person is asked after two weeks", n, bot)
		w.must(w.server.Close(app, n, "olga"))
		time.Sleep(2 * time.Second)
		event("issues", "closed")
		said("The issue is closed", n, bot)

		n = held("crash")
		time.Sleep(5 * time.Hour)
		w.said(w.sweep(), 0)
		said("A worker's lease has run out", n, bot)

		n = w.issue(hostile)
		for k := range 3 {
			w.claim(n, "agents", fmt.Sprint("try-", k), "fix")
			ends(fmt.Sprint("try-", k), claim.OutcomeFailure, ledger.Ending{Reason: []string{"the build is broken", "no access to staging", hostile}[k]})
			time.Sleep(3 * time.Hour)
		}
		said("It failed three times", n, "agents")

		n = w.issue(hostile)
		command(n, "newcomer", "/claim")
		said("A contributor holds an issue", n, bot)
		command(n, "rob", "/help")
		said("/help", n, bot)
		time.Sleep(5*24*time.Hour + time.Hour)
		w.said(w.sweep(), 0)
		said("The contributor is reminded, once", n, bot)
		time.Sleep(2 * 24 * time.Hour)
		w.said(w.sweep(), 0)
		said("The contributor's hold has run out", n, bot)

		n = w.issue(hostile)
		w.must(w.server.Assign(app, n, "olga", "copilot-swe-agent[bot]"))
		time.Sleep(3 * time.Hour)
		w.said(w.sweep(), 0)
		said("An agent is assigned and does nothing", n, bot)

		n = held("owl")
		pull, err := w.server.OpenPull(app, "olga", githubsim.Pull{Title: hostile, Body: fmt.Sprintf("Closes #%d\n%s", n, hostile), Head: "mine"})
		w.must(err)
		event("pull_request", "opened")
		said("A pull request closes an issue that somebody else holds", pull, bot)
		w.contributors.PullRequests = config.PullsWarn
		n = w.issue(hostile)
		pull, err = w.server.OpenPull(app, "stranger", githubsim.Pull{Title: hostile, Body: fmt.Sprint("Closes #", n), Head: "theirs"})
		w.must(err)
		event("pull_request", "opened")
		said("A contributor's pull request closes what they do not hold", pull, bot)
		command(pull, "tia", "/help")
		command(pull, "newcomer", "/help") // and does not make it an issue's again
		said("/help on a pull request", pull, bot)
		golden.Check(t, "testdata/comments.md", page)
	})
}
