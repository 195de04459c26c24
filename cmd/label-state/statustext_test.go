package main

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestStanding: the state of things in one sentence, for every kind of it.
func TestStanding(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	held := func(ago time.Duration, change func(*claim.Claim)) []claim.Claim {
		c := claim.Claim{
			Record:  claim.Record{Kind: claim.KindClaim, Worker: claim.Worker{Codename: "lucius", FiringID: "l1"}, Held: true, TTL: 4 * time.Hour},
			Created: now.Add(-ago), Updated: now.Add(-ago),
		}
		change(&c)
		return []claim.Claim{c}
	}
	as := func(*claim.Claim) {}
	for _, c := range []struct {
		want  string
		facts lifecycle.Facts
	}{
		{"It is free: nobody holds it.", lifecycle.Facts{}},
		{"lucius holds it for another 3h.", lifecycle.Facts{Log: claim.State{Claims: held(time.Hour, as)}}},
		{"lucius holds it, without an end.", lifecycle.Facts{Log: claim.State{Claims: held(time.Hour, func(c *claim.Claim) { c.Record.TTL = claim.NoExpiry })}}},
		{"lucius is claiming it just now.", lifecycle.Facts{Log: claim.State{Claims: held(time.Second, func(c *claim.Claim) { c.Record.Held = false; c.Record.Nonce = "n" })}}},
		{"lucius holds it and was asked to stop; the lease runs for another 3h.", lifecycle.Facts{Log: claim.State{Claims: held(time.Hour, func(c *claim.Claim) { c.Revoked = &claim.Release{} })}}},
		{"The plan of lucius waits for a yes or a no; without one, its hold ends in 23h.", lifecycle.Facts{Log: claim.State{Claims: held(2*time.Hour, func(c *claim.Claim) { c.Plan = &claim.Plan{At: now.Add(-time.Hour)} })}}},
		{"It may be taken: the lease of lucius ran out 1h ago, and the next claim or sweep ends its hold.", lifecycle.Facts{Log: claim.State{Claims: held(5*time.Hour, as)}}},
		{"lucius holds it for another 3h. Also in the way: label wip keeps it out.", lifecycle.Facts{Labels: []string{"wip"}, Log: claim.State{Claims: held(time.Hour, as)}}},
		{"It is not to be taken: label wip keeps it out.", lifecycle.Facts{Labels: []string{"wip"}}},
		{"Nobody can tell whether it may be taken: page 2 of the comments.", lifecycle.Facts{Missing: []string{"page 2 of the comments"}}},
		{"It is closed.", lifecycle.Facts{URL: "closed"}},
	} {
		f := c.facts
		f.Open, f.Now, f.BlockersRead = f.URL != "closed", now, true
		r := lifecycle.DefaultRules()
		if got := standing(r.Terms, f, r.Verdict(f, lifecycle.Seeker{})); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestDeeds: every kind of record and outcome in words.
func TestDeeds(t *testing.T) {
	const begun, at = "2026-05-04T10:00:00Z", "2026-05-04T12:30:00Z"
	for _, c := range []struct {
		entry entryView
		want  string
	}{
		{entryView{Kind: "claim", State: "asked"}, "asked for it"},
		{entryView{Kind: "claim", State: "held"}, "claimed it"},
		{entryView{Kind: "claim", State: "held, renewed 1 time"}, "claimed it, renewed once"},
		{entryView{Kind: "claim", State: "held, renewed 3 times"}, "claimed it, renewed 3 times"},
		{entryView{Kind: "release", Outcome: "success", PR: "https://x/pull/3"}, "delivered it after 2h 30m: success, https://x/pull/3"},
		{entryView{Kind: "release", Outcome: "success", By: "pull-request-event"}, "delivered it after 2h 30m: success by pull-request-event"},
		{entryView{Kind: "release", Outcome: "failure", Reason: "tests do not build"}, "gave it back after 2h 30m: failure, because tests do not build"},
		{entryView{Kind: "release"}, "gave it back after 2h 30m: no outcome told"},
		{entryView{Kind: "release", Outcome: "stale-swept", By: "sweep-1"}, "lost it after 2h 30m without a sign of life: stale-swept by sweep-1"},
		{entryView{Kind: "release", Outcome: "forced", By: "olga"}, "lost it after 2h 30m: forced by olga"},
		{entryView{Kind: "release", Outcome: "abandoned"}, "gave up its claim: abandoned"},
		{entryView{Kind: "release", Outcome: "race-yielded-to=drake:d1"}, "lost the race to drake:d1"},
		{entryView{Kind: "revoke", By: "olga"}, "was asked to stop by olga"},
		{entryView{Kind: "plan"}, "posted a plan, and waits"},
		{entryView{Kind: "approve", By: "olga"}, "had its plan approved by olga"},
		{entryView{Kind: "reject", By: "olga", Reason: "too big"}, "had its plan rejected by olga, because too big"},
		{entryView{Kind: "reset", By: "olga"}, "attempts are counted anew by olga"},
		{entryView{Kind: "tomorrow"}, "tomorrow"},
		{entryView{Kind: "ignored", Ignored: "no worker"}, "wrote a record that does not count: no worker"},
	} {
		c.entry.At = at
		if got := c.entry.deed(begun); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
