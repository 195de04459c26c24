package app

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestStanding: the state of things in one sentence, for every kind of it.
func TestStanding(t *testing.T) {
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	held := func(ago time.Duration, change func(*claim.Claim)) []claim.Claim {
		c := claim.Claim{
			Record: claim.Record{
				Kind:   claim.KindClaim,
				Worker: claim.Worker{Codename: "lucius", FiringID: "l1"},
				Held:   true,
				TTL:    4 * time.Hour,
			},
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
		{
			"lucius holds it, without a time limit.",
			lifecycle.Facts{Log: claim.State{Claims: held(time.Hour,
				func(c *claim.Claim) { c.Record.TTL = claim.NoExpiry })}},
		},
		{
			"lucius is claiming it just now.",
			lifecycle.Facts{Log: claim.State{Claims: held(time.Second,
				func(c *claim.Claim) { c.Record.Held = false; c.Record.Nonce = "n" })}},
		},
		{
			"lucius holds it and was asked to stop; the lease runs for another 3h.",
			lifecycle.Facts{Log: claim.State{Claims: held(time.Hour,
				func(c *claim.Claim) { c.Revoked = &claim.Release{} })}},
		},
		{
			"The plan of lucius is waiting for /approve or /reject; without an answer, its hold ends in 23h.",
			lifecycle.Facts{Log: claim.State{Claims: held(2*time.Hour,
				func(c *claim.Claim) { c.Plan = &claim.Plan{At: now.Add(-time.Hour)} })}},
		},
		{
			"The lease of lucius expired 20s ago; the issue is free in 40s.",
			lifecycle.Facts{Log: claim.State{Claims: held(4*time.Hour+20*time.Second, as)}},
		},
		{
			"lucius holds it: the lease store has not ended its lease, which by GitHub's clock expired 1h ago.",
			lifecycle.Facts{Log: claim.State{Claims: held(5*time.Hour,
				func(c *claim.Claim) { c.Stored = true })}},
		},
		{
			"lucius holds it: the lease store has not ended its lease, which by GitHub's clock expired 20s ago.",
			lifecycle.Facts{Log: claim.State{Claims: held(4*time.Hour+20*time.Second,
				func(c *claim.Claim) { c.Stored = true })}},
		},
		{
			"lucius holds it for another 1s.",
			lifecycle.Facts{Log: claim.State{Claims: held(4*time.Hour, as)}},
		},
		{
			"The lease of lucius expired 1h ago, and the next claim or sweep ends its hold. It cannot be claimed now: it backs off for 1m41s once the end of its expired hold is recorded.",
			lifecycle.Facts{Log: claim.State{Claims: held(5*time.Hour, as)}},
		},
		{
			"rex holds it for another 3h.",
			lifecycle.Facts{Log: claim.State{Claims: append(held(5*time.Hour, as),
				held(time.Hour, func(c *claim.Claim) { c.Record.Worker.Codename = "rex" })...)}},
		},
		{
			"lucius holds it for another 3h. Also in the way: label wip keeps it out.",
			lifecycle.Facts{Labels: []string{"wip"}, Log: claim.State{Claims: held(time.Hour, as)}},
		},
		{"It cannot be claimed: label wip keeps it out.", lifecycle.Facts{Labels: []string{"wip"}}},
		{
			"Whether it is free is unknown: page 2 of the comments.",
			lifecycle.Facts{Missing: []string{"page 2 of the comments"}},
		},
		{"It is closed.", lifecycle.Facts{URL: "closed"}},
	} {
		f := c.facts
		f.Open, f.Now, f.BlockersRead = f.URL != "closed", now, true
		r := lifecycle.DefaultRules()
		if got := cli.Standing(r, f, r.Verdict(f, lifecycle.Seeker{})); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}

	f := lifecycle.Facts{
		Open:         true,
		Now:          now,
		BlockersRead: true,
		Log:          claim.State{Claims: held(5*time.Hour, as)},
	}
	r := lifecycle.DefaultRules()
	own := lifecycle.Facts{
		Open:         true,
		Now:          now,
		BlockersRead: true,
		Log:          claim.State{Claims: held(time.Hour, as)},
	}
	mine := r.Verdict(own, lifecycle.Seeker{Worker: own.Log.Claims[0].Record.Worker})
	if got, want := cli.Standing(r, own, mine), "lucius holds it for another 3h."; got != want {
		t.Errorf("to the holder %q, want %q", got, want)
	}

	r.Rest = nil // no back-off
	if got, want := cli.Standing(r, f,
		r.Verdict(f, lifecycle.Seeker{})), "It is free: the lease of lucius expired 1h ago, and the next claim or sweep ends its hold."; got != want {
		t.Errorf("without back-off %q, want %q", got, want)
	}
}

// TestDeeds: every kind of record and outcome in words.
func TestDeeds(t *testing.T) {
	begun := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		entry cli.EntryView
		want  string
	}{
		{cli.EntryView{Kind: "claim", State: "asked"}, "asked for it"},
		{cli.EntryView{Kind: "claim", State: "held"}, "claimed it"},
		{cli.EntryView{Kind: "claim", State: "held, renewed 1 time"}, "claimed it, renewed once"},
		{cli.EntryView{Kind: "claim", State: "held, renewed 3 times"}, "claimed it, renewed 3 times"},
		{
			cli.EntryView{Kind: "release", Outcome: "success", PR: "https://x/pull/3"},
			"delivered it after 2h30m: success, https://x/pull/3",
		},
		{
			cli.EntryView{Kind: "release", Outcome: "success", By: "pull-request-event"},
			"delivered it after 2h30m: success by pull-request-event",
		},
		{
			cli.EntryView{Kind: "release", Outcome: "failure", Reason: "tests do not build"},
			"released it after 2h30m: failure, because tests do not build",
		},
		{cli.EntryView{Kind: "release"}, "released it after 2h30m: no outcome given"},
		{
			cli.EntryView{Kind: "release", Outcome: "stale-swept", By: "sweep-1"},
			"lost it after 2h30m without a heartbeat: stale-swept by sweep-1",
		},
		{cli.EntryView{Kind: "release", Outcome: "forced", By: "olga"}, "lost it after 2h30m: forced by olga"},
		{cli.EntryView{Kind: "release", Outcome: "abandoned"}, "gave up its claim: abandoned"},
		{cli.EntryView{Kind: "release", Outcome: "race-yielded-to=drake:d1"}, "lost the race to drake:d1"},
		{cli.EntryView{Kind: "revoke", By: "olga"}, "was asked to stop by olga"},
		{cli.EntryView{Kind: "plan"}, "posted a plan, and waits"},
		{cli.EntryView{Kind: "approve", By: "olga"}, "had its plan approved by olga"},
		{
			cli.EntryView{Kind: "reject", By: "olga", Reason: "too big"},
			"had its plan rejected by olga, because too big",
		},
		{cli.EntryView{Kind: "reset", By: "olga"}, "had its failed attempts and waits reset by olga"},
		{
			cli.EntryView{Kind: "unlink", By: "olga", PR: "https://x/pull/3"},
			"had its pull request unlinked by olga, https://x/pull/3",
		},
		{cli.EntryView{Kind: "tomorrow"}, "tomorrow"},
		{cli.EntryView{Kind: "ignored", Ignored: "no worker"}, "wrote a record that does not count: no worker"},
	} {
		c.entry.Begun, c.entry.At = begun, begun.Add(150*time.Minute)
		if got := c.entry.Deed(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}

	for _, k := range claim.Kinds() {
		if got := (cli.EntryView{Kind: k}).Deed(); got == string(k) {
			t.Errorf("kind %s has no words", k)
		}
	}
}
