package board_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/board"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestDeal: where an issue is put, and what is marked on it.
func TestDeal(t *testing.T) {
	with := func(f lifecycle.Facts, change func(*lifecycle.Facts)) lifecycle.Facts { change(&f); return f }
	label := func(names ...string) func(*lifecycle.Facts) {
		return func(f *lifecycle.Facts) { f.Labels = names }
	}

	free := issue(t, 1, "x", "agent:implement")
	held := issue(t, 1, "x", "agent:in-flight", holds(time.Hour, "lucius"))
	left := issue(t, 1, "x", "agent:implement", holds(time.Hour, "a").as(func(r *claim.Record) {
		r.Person = "agents"
	}), says(time.Minute, claim.KindRelease, "a", "cancelled"))
	left.Labels, left.HoldAt, left.HoldBy = append(left.Labels, "do-not-pickup"), now.Add(-time.Hour), "agents"
	failing := []event{
		holds(9*time.Hour, "a"), says(8*time.Hour, claim.KindRelease, "a", "failure"), holds(7*time.Hour, "b"),
		says(6*time.Hour, claim.KindRelease, "b", "error"),
		holds(5*time.Hour, "c"), says(4*time.Hour, claim.KindRelease, "c", "max-turns"),
	}

	for _, c := range []struct {
		name, want string
		facts      lifecycle.Facts
	}{
		{"free", "available []", free},
		{"held", "claimed []", held},
		{
			"half the lease is gone", "claimed [late]",
			issue(t, 1, "x", "agent:in-flight", holds(121*time.Minute, "lucius")),
		},
		{
			"exactly half of it", "claimed []",
			issue(t, 1, "x", "agent:in-flight", holds(120*time.Minute, "lucius")),
		},
		{
			"renewed since", "claimed []",
			with(issue(t, 1, "x", "agent:in-flight", holds(121*time.Minute, "lucius")),
				func(f *lifecycle.Facts) { f.Log.Claims[0].Updated = f.Now.Add(-time.Minute) }),
		},
		{
			"lease and grace are over", "claimed [!expired backing off 2m]",
			issue(t, 1, "x", "agent:in-flight", holds(5*time.Hour, "lucius")),
		},
		{
			"not confirmed", "claimed [asking]",
			issue(t, 1, "x", "agent:in-flight",
				holds(time.Second, "lucius").as(func(r *claim.Record) { r.Held = false })),
		},
		{
			"paused, which keeps nobody from what is held", "claimed []",
			with(held, func(f *lifecycle.Facts) { f.Pause = &lifecycle.Pause{} }),
		},
		{"labels lie", "available [drift]", with(free, label("agent:pr-open", "agent:implement"))},
		{"a person's", "people [a person's]", with(free, label("agent:implement", "do-not-pickup"))},
		{"what a person's hold left behind", "available [drift]", left},
		{"a person's, outside the lifecycle", "people [a person's]", with(free, label("bug", "do-not-pickup"))},
		{
			"closed, with the label of a person's hold", "",
			with(free, func(f *lifecycle.Facts) { f.Open, f.Labels = false, []string{"do-not-pickup"} }),
		},
		{"outside the lifecycle, too vague", "", with(free, label("bug", "needs:human-scope"))},
		{"a person's and a worker's", "claimed [a person's]", with(held, label("agent:in-flight", "do-not-pickup"))},
		{"too vague", "people [!needs scope]", with(free, label("agent:implement", "needs:human-scope"))},
		{"failed too often", "people [!3 failed drift]", issue(t, 1, "x", "agent:implement", failing...)},
		{
			"failed once", "available [backing off 2m 1 failed]",
			issue(t, 1, "x", "agent:implement", holds(9*time.Minute, "a"), says(0, claim.KindRelease, "a", "failure")),
		},
		{"excluded", "available [excluded]", with(free, label("agent:implement", "wip"))},
		{"not read", "available [!not read]", with(free, func(f *lifecycle.Facts) { f.Missing = []string{"page 2"} })},
		{"closed", "done []", issue(t, 1, "x", "agent:done")},
		{
			"closed without being done", "",
			with(free, func(f *lifecycle.Facts) { f.Open, f.StateReason = false, "not_planned" }),
		},
		{"no part of the lifecycle", "", with(free, label("bug"))},
		{
			"a pull request that somebody holds", "pr-open []",
			with(held, func(f *lifecycle.Facts) { f.PullRequest = true }),
		},
		{"a pull request", "", with(free, func(f *lifecycle.Facts) { f.PullRequest = true })},
	} {
		got := ""
		for _, card := range board.Deal(lifecycle.DefaultRules(), []lifecycle.Facts{c.facts}) {
			var marks []string
			for _, m := range card.Marks {
				text := m.Text
				if m.Alert {
					text = "!" + text
				}

				if strings.HasPrefix(text, "backing off") {
					text = "backing off 2m" // drawn from the log, ± 25 %
				}
				marks = append(marks, text)
			}

			got = fmt.Sprintf("%s %v", card.Lane, marks)
		}

		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}

	patient := lifecycle.DefaultRules()
	patient.MaxAttempts = 0 // no number of failures asks for a person
	for _, m := range board.Deal(patient, []lifecycle.Facts{issue(t, 1, "x", "agent:implement", failing...)})[0].Marks {
		if m.Alert {
			t.Errorf("%q calls for a person, with max_attempts 0", m.Text)
		}
	}
}

// TestCards: what a card says, a person's and a contributor's among them.
func TestCards(t *testing.T) {
	facts := busy(t)
	left := issue(t, 20, "Left behind", "agent:implement", holds(time.Hour, "a").as(func(r *claim.Record) {
		r.Person = "agents"
	}), says(time.Minute, claim.KindRelease, "a", "cancelled"))
	left.Labels, left.HoldAt, left.HoldBy = append(left.Labels, "do-not-pickup"), now.Add(-time.Hour), "agents"
	kept := issue(t, 12, "Kept", "agent:implement")
	kept.Labels = append(kept.Labels, "do-not-pickup")
	kept.HoldBy, kept.HoldAt = "ann", now.Add(-time.Hour)
	person := func(number int, ttl time.Duration) lifecycle.Facts {
		return issue(t, number, "A person's", "agent:implement", holds(time.Hour, "Olga").as(func(r *claim.Record) {
			r.Person, r.TTL = "Olga", ttl
		}))
	}
	written := person(18, time.Hour) // a contributor's, by the Action with Olga's token
	written.Log.Claims[0].Person = "ann"
	assigned := issue(t, 15, "Assigned", "agent:implement")
	assigned.Assignees = []string{"OLGA"}
	unknown, done := kept, kept // nobody knows whose hold it is, nor who looks; and closed since
	unknown.Issue.Number, unknown.HoldBy, unknown.Viewer = 16, "", ""
	done.Issue.Number, done.Open, done.StateReason = 17, false, "completed"
	done.Labels = []string{"agent:done", "do-not-pickup"}
	text := ""
	for _, c := range board.Deal(lifecycle.DefaultRules(), append(facts, kept, person(13, claim.NoExpiry),
		person(14, time.Hour), written, assigned, unknown, done, left)) {
		text += fmt.Sprintf("%s %q %s: %s\n  holder=%q worker=%q login=%q branch=%q\n", c.Issue, c.Title, c.Lane, c.Why,
			c.Holder, c.Worker, c.Login, c.Branch)
		text += fmt.Sprintf("  since=%s seen=%s until=%s ends=%q\n", at(c.Since), at(c.Seen), at(c.Until), c.Ends)
		text += fmt.Sprintf("  expired=%t plan=%t person=%t mine=%t request=%t free=%t stranded=%t %v %v\n", c.Expired,
			c.Plan, c.Person, c.Mine, c.Request, c.Free, c.Stranded, c.Marks, c.Pulls)
	}
	golden.Check(t, "testdata/cards.txt", text)
}

func at(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Format("15:04")
}

// TestMarkCycles: what is part of a dependency cycle is marked for a person, whichever repositories
// it goes through; what only waits is not.
func TestMarkCycles(t *testing.T) {
	waits := func(number int, on ...claim.Issue) lifecycle.Facts {
		f := issue(t, number, "x", "agent:implement")
		f.Labels = append(f.Labels, "agent:blocked")
		for _, i := range on {
			f.Blockers = append(f.Blockers, lifecycle.Blocker{Issue: i, Open: true})
		}
		return f
	}

	in := func(repo string, number int) claim.Issue {
		return claim.Issue{Owner: "ACME", Repo: repo, Number: number}
	}
	web := waits(1, in("app", 2))
	web.Issue.Repo = "web"
	snapshots := []lifecycle.Facts{
		waits(1, in("app", 3)), waits(2, in("web", 1)), web, waits(3, in("app", 4)),
		waits(4),
	}
	cards := board.Deal(lifecycle.DefaultRules(), snapshots)
	if got := fmt.Sprint(board.MarkCycles(cards, snapshots)); got != "[[acme/app#2 acme/web#1]]" {
		t.Errorf("cycles %s", got)
	}

	want := map[string]string{
		"acme/app#1": "[{blocked false}] false []", "acme/app#3": "[{blocked false}] false []",
		"acme/app#2": "[{dependency cycle true}] true [acme/app#2 acme/web#1 acme/app#2]",
		"acme/web#1": "[{dependency cycle true}] true [acme/app#2 acme/web#1 acme/app#2]",
	}

	for _, c := range cards {
		if got := fmt.Sprint(c.Marks, c.Stranded, c.Cycle); c.Issue.Number != 4 && got != want[c.Issue.String()] {
			t.Errorf("%s: %s, want %s", c.Issue, got, want[c.Issue.String()])
		}
	}

	snapshots[1].Open = false
	if rings := board.MarkCycles(nil, snapshots); len(rings) > 0 {
		t.Errorf("closed: %v", rings)
	}
}

// TestTable: whole where nobody knows how wide the terminal is, else no wider than that.
func TestTable(t *testing.T) {
	cards := board.Deal(lifecycle.DefaultRules(), busy(t))
	if row := board.Rows([]board.Card{{Holder: "a", Until: now}}, now, 0)[1]; !strings.HasSuffix(row[3], " left") {
		t.Errorf("at the very end of the hold: %s", row[3])
	}

	for width, name := range map[int]string{0: "", 80: "-80"} {
		golden.Check(t, "testdata/table"+name+".txt", cli.Columns(board.Rows(cards, now, width)))
	}
}
