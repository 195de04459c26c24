package protocol

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestVisibleReasons: the reason and the pull request of a record stand in the text beside it, and
// none of it is markup, a mention or a link to anywhere else.
func TestVisibleReasons(t *testing.T) {
	w := claim.Worker{Codename: "lucius", FiringID: "run-7"}
	rob := claim.Worker{Codename: "rob", FiringID: "comment-5"}
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	held := lifecycle.Facts{Log: claim.Replay([]claim.Comment{{
		ID:      1,
		Created: at,
		Updated: at,
		Author:  "apps[bot]",
		Trusted: true,
		Body:    "<!-- agent-claim:codename=rob firing_id=comment-5 nonce=n state=held person=rob by=rob ttl=168h -->",
	}})}

	for _, c := range []struct {
		record claim.Record
		want   string
	}{
		{
			claim.Record{
				Kind:    claim.KindRelease,
				Worker:  w,
				Outcome: claim.OutcomeFailure,
				Reason:  "the tests fail",
			},
			"**lucius** failed at the issue and released it: `the tests fail`.",
		},
		{
			claim.Record{
				Kind:    claim.KindRelease,
				Worker:  w,
				Outcome: claim.OutcomeSuccess,
				PR:      "https://github.com/acme/app/pull/9",
			},
			"**lucius** released the issue: success. Pull request: https://github.com/acme/app/pull/9",
		},
		{
			claim.Record{
				Kind:    claim.KindRelease,
				Worker:  w,
				Outcome: claim.OutcomeForced,
				By:      "olga",
				Reason:  "@everyone `x` <b>\n# now",
			},
			"**lucius** lost the issue by force (by **olga**): `@everyone 'x' <b> # now`.",
		},
		{
			claim.Record{
				Kind:    claim.KindRelease,
				Worker:  w,
				Outcome: claim.OutcomeSuccess,
				PR:      "javascript:alert(1)",
			},
			"**lucius** released the issue: success.",
		},
		{
			claim.Record{
				Kind:    claim.KindRelease,
				Worker:  w,
				Outcome: claim.OutcomeSuccess,
				PR:      "https://github.com/a](https://x)",
			},
			"**lucius** released the issue: success.",
		},
		{
			claim.Record{Kind: claim.KindClaim, Worker: w, Held: true, Reason: "@all the parser is done"},
			"**lucius** is working on this issue: `@all the parser is done`.",
		},
		{
			claim.Record{
				Kind:   claim.KindClaim,
				Worker: claim.Worker{Codename: "QA-z/0.9_[b]:AZ@{`"},
				Held:   true,
				TTL:    time.Hour,
			},
			"**QA-z/0.9_[b]:AZ???** is working on this issue; the hold ends 1h after its last sign of life.",
		},
		{
			claim.Record{Kind: claim.KindClaim, Worker: w, Held: true, Person: "rob"},
			"**rob** holds this issue until they release it.",
		},
		{
			claim.Record{Kind: claim.KindRevoke, Worker: w, By: "olga", Reason: "wrong branch"},
			"**lucius** was asked to stop (by **olga**): `wrong branch`.",
		},
		{
			claim.Record{Kind: claim.KindReset, Worker: w, By: "olga", Restart: true, Reason: "flaky runner"},
			"The issue starts again (by **olga**): `flaky runner`. Nothing that was recorded before keeps it from being taken.",
		},
		{
			claim.Record{Kind: claim.KindReset, Worker: w, By: "olga"},
			"Failed attempts and waits are reset (by **olga**).",
		},
		{
			claim.Record{Kind: claim.KindReject, Worker: w, By: "olga", Reason: "too large"},
			"The plan of **lucius** was turned down (by **olga**): `too large`; the issue is free again.",
		},
		{
			claim.Record{Kind: claim.KindUnlink, Worker: w, By: "olga"},
			"The pull request of **lucius** no longer closes this issue.",
		},
		{
			claim.Record{Kind: claim.KindRelease, Worker: rob, Outcome: claim.OutcomeCancelled, By: "rob"},
			"**rob** released the issue.",
		},
		{
			claim.Record{Kind: claim.KindRelease, Worker: rob, Outcome: claim.OutcomeStaleSwept, By: "sweep-1"},
			"**rob** has not been heard from; the issue is free again.",
		},
	} {
		if got := sentence(held, c.record); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}

	for outcome, want := range map[string]string{
		claim.OutcomeAdvanced:         "moved on to stage `review`",
		claim.OutcomeAbandoned:        "gave up before the claim was confirmed",
		claim.OutcomeBundleRolledBack: "released the issue: not all of its bundle could be taken",
		claim.OutcomePlanTimeout:      "waited too long for an answer to the plan",
		claim.OutcomeCancelled:        "released the issue",
		claim.YieldedTo(rob):          "came second and leaves the issue to **rob**",
	} {
		r := claim.Record{Kind: claim.KindRelease, Worker: w, Outcome: outcome, Stage: "review"}
		if got := sentence(held, r); got != "**lucius** "+want+"." {
			t.Errorf("%s: %s", outcome, got)
		}
	}
}
