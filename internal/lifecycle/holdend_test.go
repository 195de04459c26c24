package lifecycle_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestEndOf: what became of a hold, by what is recorded behind its claim and by GitHub's own facts.
func TestEndOf(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const claimed = "<!-- agent-claim:codename=lucius firing_id=f1 nonce=7f3a9c1e ttl=1800 branch=fix state=held hb=0 -->"
	const key = "codename=lucius firing_id=f1"
	const pr = "https://github.com/acme/app/pull/2"
	work := lifecycle.PR{
		Repo:        "acme/app",
		Number:      2,
		URL:         pr,
		State:       lifecycle.PROpened,
		Head:        "fix",
		HeadRepo:    "acme/app",
		Base:        "main",
		DefaultBase: true,
	}

	for name, c := range map[string]struct {
		log   []string
		after time.Duration // since the claim
		facts lifecycle.Facts
		want  lifecycle.HoldEnd
	}{
		"never claimed":      {nil, 0, lifecycle.Facts{}, lifecycle.HoldLost},
		"it stands":          {[]string{claimed}, 0, lifecycle.Facts{}, lifecycle.HoldStands},
		"overdue, not taken": {[]string{claimed}, 30 * time.Minute, lifecycle.Facts{}, lifecycle.HoldStands},
		"expired":            {[]string{claimed}, time.Hour, lifecycle.Facts{}, lifecycle.HoldExpired},
		"expired, and a label says that a person has it": {
			[]string{claimed},
			time.Hour,
			lifecycle.Facts{Labels: []string{"do-not-pickup"}},
			lifecycle.HoldLost,
		},
		"expired, and asked to stop before": {
			[]string{claimed, "<!-- agent-revoke:" + key + " by=olga -->"},
			time.Hour,
			lifecycle.Facts{},
			lifecycle.HoldLost,
		},
		"expired, and somebody else has it": {
			[]string{
				claimed, "<!-- agent-release:" + key + " outcome=stale-swept by=fox -->",
				"<!-- agent-claim:codename=fox firing_id=x1 -->",
			},
			0,
			lifecycle.Facts{},
			lifecycle.HoldLost,
		},
		"its plan had no answer in time": {
			[]string{claimed, "<!-- agent-release:" + key + " outcome=plan-timeout by=sweep-1 -->"},
			0,
			lifecycle.Facts{},
			lifecycle.HoldExpired,
		},

		"released as a failure": {
			[]string{claimed, "<!-- agent-release:" + key + " outcome=failure -->"},
			0,
			lifecycle.Facts{},
			lifecycle.HoldReleased,
		},
		"released as cancelled": {
			[]string{claimed, "<!-- agent-release:" + key + " outcome=cancelled -->"},
			0,
			lifecycle.Facts{},
			lifecycle.HoldReleased,
		},
		"released as success": {
			[]string{claimed, "<!-- agent-release:" + key + " outcome=success -->"},
			0,
			lifecycle.Facts{},
			lifecycle.HoldDelivered,
		},
		"moved to the next stage": {[]string{claimed, "<!-- agent-release:" + key +
			" outcome=advanced stage=test -->"}, 0, lifecycle.Facts{}, lifecycle.HoldDelivered},
		"ended by its own tool": {
			[]string{claimed, "<!-- agent-release:" + key + " outcome=stale-swept -->"},
			0,
			lifecycle.Facts{},
			lifecycle.HoldExpired,
		},
		"given up before confirmed": {
			[]string{claimed, "<!-- agent-release:" + key + " outcome=abandoned -->"},
			0,
			lifecycle.Facts{},
			lifecycle.HoldLost,
		},

		"by force": {[]string{claimed, "<!-- agent-release:" + key +
			" outcome=forced by=olga -->"}, 0, lifecycle.Facts{}, lifecycle.HoldLost},
		"swept": {[]string{claimed, "<!-- agent-release:" + key +
			" outcome=stale-swept by=sweep-1 -->"}, 0, lifecycle.Facts{}, lifecycle.HoldExpired},
		"somebody else calls it a success": {[]string{claimed, "<!-- agent-release:" + key +
			" outcome=success by=olga -->"}, 0, lifecycle.Facts{}, lifecycle.HoldLost},
		"handed over with its pull request": {[]string{claimed, "<!-- agent-release:" + key + " outcome=success pr=" +
			pr + " by=event -->"}, 0, lifecycle.Facts{}, lifecycle.HoldDelivered},
		"handed over, and unlinked since": {
			[]string{
				claimed, "<!-- agent-release:" + key + " outcome=success pr=" + pr + " by=event -->",
				"<!-- agent-unlink:" + key + " pr=" + pr + " by=olga -->",
			},
			0,
			lifecycle.Facts{},
			lifecycle.HoldLost,
		},
		"its pull request is open": {
			[]string{claimed},
			0,
			lifecycle.Facts{PRs: []lifecycle.PR{work}},
			lifecycle.HoldDelivered,
		},
		"the pull request that it held, merged": {
			[]string{claimed},
			0,
			lifecycle.Facts{PullRequest: true, StateReason: "merged"},
			lifecycle.HoldDelivered,
		},
		"the same, and somebody has recorded it": {
			[]string{claimed, "<!-- agent-release:" + key +
				" outcome=success by=event -->"},
			0,
			lifecycle.Facts{PullRequest: true, StateReason: "merged"},
			lifecycle.HoldDelivered,
		},
		"somebody else's claim comes before it": {
			[]string{"<!-- agent-claim:codename=fox firing_id=x1 -->", claimed},
			0,
			lifecycle.Facts{},
			lifecycle.HoldLost,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log []claim.Comment
			for n, text := range c.log {
				log = append(log, claim.Comment{
					ID:      int64(n + 1),
					Created: now,
					Updated: now,
					Author:  "agents",
					Trusted: true,
					Body:    text,
				})
			}

			f := c.facts
			f.Issue, f.Open, f.Now = claim.Issue{
				Owner: "acme", Repo: "app",
				Number: 1,
			}, f.StateReason != "merged", now.Add(c.after)
			f.Log, f.Viewer = claim.Replay(log), "agents"

			if got := lifecycle.DefaultRules().EndOf(f,
				claim.Worker{Codename: "lucius", FiringID: "f1"}); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

// TestIs: a pull request is known by its number and its repository, in any case.
func TestIs(t *testing.T) {
	one := lifecycle.PR{Repo: "acme/app", Number: 7, Title: "one"}
	for _, c := range []struct {
		other lifecycle.PR
		want  bool
	}{
		{lifecycle.PR{Repo: "acme/app", Number: 7}, true},
		{lifecycle.PR{Repo: "Acme/App", Number: 7}, true},
		{lifecycle.PR{Repo: "acme/app", Number: 8}, false},
		{lifecycle.PR{Repo: "acme/lib", Number: 7}, false},
	} {
		if got := one.Is(c.other); got != c.want {
			t.Errorf("%s is %s: %v", one, c.other, got)
		}
	}
}
