package lifecycle_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

var (
	claimedAt = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	lucius    = claim.Worker{Codename: "lucius", FiringID: "f1"}
)

// logOf is a log of these records, written by agents, a second apart.
func logOf(records ...string) claim.State {
	var all []claim.Comment
	for n, text := range records {
		at := claimedAt.Add(time.Duration(n) * time.Second)
		all = append(all, claim.Comment{
			ID:      int64(n + 1),
			Created: at,
			Updated: at,
			Author:  "agents",
			Trusted: true,
			Body:    text,
		})
	}

	return claim.Replay(all)
}

const (
	luciusClaims   = "<!-- agent-claim:codename=lucius firing_id=f1 nonce=7f3a9c1e ttl=1800 state=held hb=0 -->"
	luciusSucceeds = "<!-- agent-release:codename=lucius firing_id=f1 outcome=success -->"
	foxClaims      = "<!-- agent-claim:codename=fox firing_id=x1 nonce=7f3a9c1f ttl=1800 state=held hb=0 -->"
)

// TestUnproven: a success is shown by a pull request, named or open, or by a closed issue; without
// any the issue is ready again.
func TestUnproven(t *testing.T) {
	success := claim.Record{Kind: claim.KindRelease, Worker: lucius, Outcome: claim.OutcomeSuccess}
	with := func(change func(*claim.Record)) claim.Record {
		r := success
		change(&r)
		return r
	}

	open := lifecycle.PR{
		Repo:        "acme/app",
		Number:      2,
		State:       lifecycle.PROpened,
		Head:        "fix",
		HeadRepo:    "acme/app",
		Base:        "main",
		DefaultBase: true,
	}

	for name, c := range map[string]struct {
		release claim.Record
		log     []string
		change  func(*lifecycle.Facts)
		want    bool
	}{
		"nothing shows it": {success, []string{luciusClaims}, nil, true},
		"recorded already": {success, []string{luciusClaims, luciusSucceeds}, nil, true},
		"it names a pull request": {
			with(func(r *claim.Record) { r.PR = "https://github.com/acme/app/pull/2" }),
			[]string{luciusClaims},
			nil, false,
		},
		"a pull request is open": {
			success,
			[]string{luciusClaims},
			func(f *lifecycle.Facts) { f.PRs = []lifecycle.PR{open} }, false,
		},
		"the issue is closed": {
			success,
			[]string{luciusClaims},
			func(f *lifecycle.Facts) { f.Open, f.StateReason = false, "completed" }, false,
		},
		"its label came a second later": {
			success,
			[]string{luciusClaims},
			func(f *lifecycle.Facts) { f.ClaimedAt = claimedAt.Add(time.Second) }, true,
		},
		"another outcome": {
			with(func(r *claim.Record) { r.Outcome = claim.OutcomeCancelled }),
			[]string{luciusClaims},
			nil, false,
		},
		"somebody else records it": {
			with(func(r *claim.Record) { r.By = "event" }),
			[]string{luciusClaims},
			nil, false,
		},
		"somebody else claims behind it": {success, []string{luciusClaims, foxClaims}, nil, false},
		"of a pull request that was held": {
			success,
			[]string{luciusClaims},
			func(f *lifecycle.Facts) { f.PullRequest = true }, false,
		},
		"of a worker without a claim": {success, nil, nil, false},
		"something could not be read": {
			success,
			[]string{luciusClaims},
			func(f *lifecycle.Facts) { f.Missing = []string{"comments"} }, false,
		},
	} {
		f := lifecycle.Facts{
			Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: 1},
			Open:   true,
			Now:    claimedAt.Add(time.Minute),
			Viewer: "agents",
		}
		f.Labels, f.Log = []string{"agent:in-flight"}, logOf(c.log...)
		if c.change != nil {
			c.change(&f)
		}

		if got := lifecycle.DefaultRules().Unproven(f, c.release); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestUnprovenUntil: who has called an issue a success without showing it is not offered it for the
// first back-off.
func TestUnprovenUntil(t *testing.T) {
	ended := claimedAt.Add(time.Second) // of the release, the second record
	first := ended.Add(2 * time.Minute)

	for name, c := range map[string]struct {
		codename string
		log      []string
		change   func(*lifecycle.Facts)
		want     time.Time
	}{
		"the same kind of worker": {"lucius", []string{luciusClaims, luciusSucceeds}, nil, first},
		"another kind":            {"fox", []string{luciusClaims, luciusSucceeds}, nil, time.Time{}},
		"another login": {
			"lucius",
			[]string{luciusClaims, luciusSucceeds},
			func(f *lifecycle.Facts) { f.Viewer = "others" },
			time.Time{},
		},
		"another outcome": {
			"lucius",
			[]string{luciusClaims, "<!-- agent-release:codename=lucius firing_id=f1 outcome=cancelled -->"},
			nil,
			time.Time{},
		},
		"with a pull request": {
			"lucius",
			[]string{luciusClaims, "<!-- agent-release:codename=lucius firing_id=f1 outcome=success pr=https://github.com/acme/app/pull/2 -->"},
			nil,
			time.Time{},
		},
		"somebody else said so": {
			"lucius",
			[]string{luciusClaims, "<!-- agent-release:codename=lucius firing_id=f1 outcome=success by=olga -->"},
			nil,
			time.Time{},
		},
		"reopened since": {
			"lucius",
			[]string{luciusClaims, luciusSucceeds},
			func(f *lifecycle.Facts) { f.ReopenedAt = ended.Add(time.Second) },
			time.Time{},
		},
		"reopened before": {
			"lucius",
			[]string{luciusClaims, luciusSucceeds},
			func(f *lifecycle.Facts) { f.ReopenedAt = claimedAt }, first,
		},
		"begun again since": {
			"lucius",
			[]string{
				luciusClaims, luciusSucceeds,
				"<!-- agent-reset:codename=by-hand firing_id=r1 by=olga restart=yes -->",
			},
			nil,
			time.Time{},
		},
		"the last one counts": {
			"lucius",
			[]string{
				luciusClaims, luciusSucceeds,
				"<!-- agent-claim:codename=lucius firing_id=f2 nonce=7f3a9c1d ttl=1800 state=held hb=0 -->",
				"<!-- agent-release:codename=lucius firing_id=f2 outcome=success -->",
			},
			nil, first.Add(2 * time.Second),
		},
	} {
		f := lifecycle.Facts{
			Issue:  claim.Issue{Owner: "acme", Repo: "app", Number: 1},
			Open:   true,
			Now:    claimedAt.Add(time.Minute),
			Viewer: "agents",
			Log:    logOf(c.log...),
		}

		if c.change != nil {
			c.change(&f)
		}

		if got := lifecycle.DefaultRules().UnprovenUntil(f, c.codename); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}

	none := lifecycle.DefaultRules()
	none.Rest = nil
	if got := none.UnprovenUntil(lifecycle.Facts{Log: logOf(luciusClaims, luciusSucceeds)}, "lucius"); !got.IsZero() {
		t.Errorf("without back-off: %v", got)
	}
}
