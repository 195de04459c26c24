package lifecycle_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// moment draws a time around noon, or none.
func moment() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		if rapid.IntRange(0, 3).Draw(t, "absent") == 0 {
			return time.Time{}
		}
		return noon.Add(time.Duration(rapid.IntRange(-300, 5).Draw(t, "minutes")) * time.Minute)
	})
}

func comments() *rapid.Generator[[]claim.Comment] {
	ends := []string{
		"outcome=success", "outcome=failure", "outcome=already-implemented", "outcome=cancelled",
		"outcome=stale-swept by=s", "outcome=failure not_before=2026-05-01T13:00:00Z",
	}
	line := rapid.Custom(func(t *rapid.T) string {
		kind := rapid.SampledFrom(append(claim.Kinds(), claim.KindClaim, claim.KindClaim,
			claim.KindRelease)).Draw(t, "kind")
		fields := "by=ann"
		switch kind {
		case claim.KindClaim:
			fields = rapid.SampledFrom([]string{
				"nonce=n ttl=1800 state=held branch=work", "nonce=n ttl=1800", "",
				"nonce=n state=held ttl=none", "nonce=n state=held ttl=none person=bot", "nonce=n ttl=none person=bot",
			}).Draw(t, "claim")
		case claim.KindRelease:
			fields = rapid.SampledFrom(ends).Draw(t, "end")
		}

		return fmt.Sprintf("<!-- agent-%s:codename=a firing_id=%d %s -->", kind,
			rapid.IntRange(1, 4).Draw(t, "run"), fields)
	})

	return rapid.Custom(func(t *rapid.T) []claim.Comment {
		var out []claim.Comment
		for i := range rapid.IntRange(0, 9).Draw(t, "comments") {
			at := noon.Add(time.Duration(rapid.IntRange(-300, 0).Draw(t, "minutes")) * time.Minute)
			out = append(out, claim.Comment{
				ID:      int64(i + 1),
				Created: at,
				Updated: at,
				Author:  "bot",
				Trusted: true,
				Body:    line.Draw(t, "record"),
			})
		}

		return out
	})
}

func pulls() *rapid.Generator[[]lifecycle.PR] {
	one := rapid.Custom(func(t *rapid.T) lifecycle.PR {
		state := rapid.SampledFrom([]lifecycle.PRState{
			lifecycle.PROpened, lifecycle.PRClosed, lifecycle.PRMerged,
			lifecycle.PRUnreadable,
		})
		return lifecycle.PR{
			Repo:        "o/r",
			HeadRepo:    rapid.SampledFrom([]string{"o/r", "eve/r", ""}).Draw(t, "head repository"),
			State:       state.Draw(t, "state"),
			Head:        rapid.SampledFrom([]string{"work", "other"}).Draw(t, "head"),
			DefaultBase: rapid.Bool().Draw(t, "into the default branch"),
			Recorded:    rapid.Bool().Draw(t, "recorded"),
			MergedAt:    moment().Draw(t, "merged"),
			Author:      "bot",
		}
	})

	return rapid.Custom(func(t *rapid.T) []lifecycle.PR {
		out := rapid.SliceOfN(one, 0, 3).Draw(t, "pulls")
		for i := range out {
			out[i].Number = 10 + i
			if out[i].State != lifecycle.PRUnreadable && rapid.Bool().Draw(t, "in a chain") {
				out[i].Chain = rapid.SampledFrom([]string{"x", "x", "y"}).Draw(t, "chain")
				out[i].Sibling = !out[i].Recorded && rapid.Bool().Draw(t, "closes nothing itself")
			}
		}

		return out
	})
}

var peoplesLabels = []string{"bug", "do-not-pickup", "needs:human-scope", "wip", "agent:large-feature", "agent:blocked"}

func anyFacts() *rapid.Generator[lifecycle.Facts] {
	return rapid.Custom(func(t *rapid.T) lifecycle.Facts {
		names := append(labels.Agent().Lifecycle(), peoplesLabels...)
		f := lifecycle.Facts{
			Issue:        issue,
			Open:         rapid.IntRange(0, 3).Draw(t, "closed") > 0,
			PullRequest:  rapid.IntRange(0, 19).Draw(t, "pull request") == 0,
			StateReason:  rapid.SampledFrom([]string{"", "completed", "not_planned", "reopened"}).Draw(t, "reason"),
			ReopenedAt:   moment().Draw(t, "reopened"),
			ClaimedAt:    moment().Draw(t, "claimed label"),
			Labels:       rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 5, rapid.ID[string]).Draw(t, "labels"),
			Log:          claim.Replay(comments().Draw(t, "log")),
			PRs:          pulls().Draw(t, "pulls"),
			Now:          noon,
			Viewer:       "bot",
			BlockersRead: rapid.Bool().Draw(t, "blockers read"),
			HoldAt:       moment().Draw(t, "hold label"),
			Assignees:    rapid.SampledFrom([][]string{nil, nil, nil, {"olga"}, {"olga", "BOT"}}).Draw(t, "assignees"),
		}

		if f.BlockersRead {
			f.Blockers = rapid.SliceOfN(rapid.Map(rapid.Bool(),
				func(open bool) lifecycle.Blocker { return lifecycle.Blocker{Open: open} }), 0, 2).Draw(t, "blockers")
		}

		if rapid.IntRange(0, 9).Draw(t, "paused") == 0 {
			f.Pause = &lifecycle.Pause{By: "ann"}
		}

		return f
	})
}

func anyRules() *rapid.Generator[lifecycle.Rules] {
	return rapid.Custom(func(t *rapid.T) lifecycle.Rules {
		r := lifecycle.DefaultRules()
		r.Requeue = rapid.Bool().Draw(t, "requeue")
		r.Unassigned = rapid.Bool().Draw(t, "ignore assignees")
		r.MaxAttempts = rapid.IntRange(0, 3).Draw(t, "attempts")
		return r
	})
}

func anySeeker() *rapid.Generator[lifecycle.Seeker] {
	return rapid.SampledFrom([]lifecycle.Seeker{
		{},
		{Worker: claim.Worker{Codename: "a", FiringID: "1"}},
		{Worker: claim.Worker{Codename: "z", FiringID: "9"}},
		{Repo: "o/r", Branch: "work"},
		{Repo: "eve/r", Branch: "work"},
	})
}

func apply(have []string, c labels.Change) []string {
	out := slices.DeleteFunc(slices.Clone(have), func(h string) bool { return labels.Has(c.Remove, h) })
	return append(out, c.Add...)
}

// TestLabelIsAFixedPoint: after one change there is nothing left to change.
func TestLabelIsAFixedPoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := anyRules().Draw(t, "rules"), anyFacts().Draw(t, "facts")
		projection, why := r.Label(f)
		f.Labels = apply(f.Labels, r.Scheme.Change(f.Labels, projection))
		again, whyAgain := r.Label(f)
		if c := r.Scheme.Change(f.Labels, again); !c.Empty() {
			t.Fatalf("%+v (%s), then %+v (%s) still changes %+v", projection, why, again, whyAgain, c)
		}
	})
}

// TestLabelTouchesOnlyItsOwn: people's labels are never removed, and at most one lifecycle label is
// shown, beside which a plan label that nobody's plan put there stays.
func TestLabelTouchesOnlyItsOwn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := anyRules().Draw(t, "rules"), anyFacts().Draw(t, "facts")
		projection, why := r.Label(f)
		c := r.Scheme.Change(f.Labels, projection)
		for _, name := range c.Remove {
			_, ours := r.Scheme.Parse(name)
			last, ended := f.Log.LastPerson()
			left := labels.Same(name, r.Scheme.Hold) && ended && !f.HoldAt.IsZero() && f.HoldAt.Before(last.End.At)
			if !ours && !labels.Same(name, r.Scheme.Blocked) && !left {
				t.Fatalf("removes %s: %s", name, why)
			}
		}

		for _, name := range c.Add {
			_, ours := r.Scheme.Parse(name)
			h, held := f.Log.Holder()
			mirrors := name == r.Scheme.Hold && held && h.Person != ""
			if !ours && name != r.Scheme.Blocked && name != r.Scheme.NeedsScope && !mirrors {
				t.Fatalf("adds %s: %s", name, why)
			}
		}

		shown, most := r.Scheme.Of(apply(f.Labels, c)), 1
		if projection.Gate {
			most = 2
		}

		if !projection.Keep && len(shown) > most {
			t.Fatalf("shows %v: %s", shown, why)
		}

		if projection.Gate && (slices.Contains(c.Remove, r.Scheme.PlanPending) ||
			!slices.Contains(shown, labels.PlanPending)) {
			t.Fatalf("takes the plan label off: %s", why)
		}

		ours := f.Log.Records > 0 || len(r.Scheme.Of(f.Labels)) > 0
		if f.Log.Lasting().Records == 0 && len(r.Scheme.Of(f.Labels)) == 0 && len(r.Scheme.Of(apply(f.Labels, c))) > 0 {
			t.Fatalf("a person's hold gave it a lifecycle label: %+v (%s)", c, why)
		}

		if !ours && !c.Empty() {
			t.Fatalf("changes an issue that is not ours: %+v (%s)", c, why)
		}

		for _, name := range slices.Concat(c.Add, c.Remove) {
			if f.PullRequest && name != r.Scheme.Claimed && name != r.Scheme.Hold {
				t.Fatalf("changes %s of a pull request: %s", name, why)
			}
		}
	})
}

// TestLabelDoesNotDependOnOrder: neither the order of labels nor that of pull requests matters.
func TestLabelDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := anyRules().Draw(t, "rules"), anyFacts().Draw(t, "facts")
		want, _ := r.Label(f)
		again, _ := r.Label(f)
		f.Labels, f.PRs = slices.Clone(f.Labels), slices.Clone(f.PRs)
		slices.Reverse(f.Labels)
		slices.Reverse(f.PRs)
		got, _ := r.Label(f)
		if !reflect.DeepEqual(want, again) || !reflect.DeepEqual(want, got) {
			t.Fatalf("first %+v, then %+v, turned round %+v", want, again, got)
		}
	})
}

// TestLabelShowsTheHolder: while a worker's claim lives, an open issue is claimed or waits for its
// plan's answer; while a person's does, it has the label of a person's hold.
func TestLabelShowsTheHolder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := anyRules().Draw(t, "rules"), anyFacts().Draw(t, "facts")
		h, held := f.Log.Holder()
		got, why := r.Label(f)
		want := labels.Claimed
		if h.Person != "" {
			if shown := apply(f.Labels, r.Scheme.Change(f.Labels, got)); f.Open && !labels.Has(shown, r.Scheme.Hold) {
				t.Fatalf("shows %v (%s) without %s", shown, why, r.Scheme.Hold)
			}
			return
		}
		if f.PullRequest {
			shown := apply(f.Labels, r.Scheme.Change(f.Labels, got))
			if held && f.Open != labels.Has(shown, r.Scheme.Claimed) && !f.ClaimedAt.After(f.Log.Last) {
				t.Fatalf("shows %v (%s) of a pull request that is held", shown, why)
			}
			return
		}

		if h.Plan.Pending() {
			want = labels.PlanPending
		}

		if held && f.Open && (got.Keep || got.State != want) {
			t.Fatalf("shows %+v (%s), want %s", got, why, want)
		}

		if !held && !got.Keep && got.State == labels.PlanPending {
			t.Fatalf("shows a plan of nobody: %s", why)
		}
	})
}

func TestMissingFactsDecideNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f := anyRules().Draw(t, "rules"), anyFacts().Draw(t, "facts")
		f.Missing = rapid.SliceOfN(rapid.String(), 1, 3).Draw(t, "missing")
		if v := r.Verdict(f, anySeeker().Draw(t, "seeker")); v.Answer != lifecycle.Unknown || len(v.Reasons) == 0 ||
			len(v.Expired) > 0 {
			t.Fatalf("verdict %s with %d expired claims, want unknown", v, len(v.Expired))
		}

		projection, why := r.Label(f)
		if c := r.Scheme.Change(f.Labels, projection); !c.Empty() {
			t.Fatalf("changes %+v: %s", c, why)
		}
	})
}

func TestVerdictWithoutServerTimeIsUnknown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFacts().Draw(t, "facts")
		f.Now = time.Time{}
		if v := lifecycle.DefaultRules().Verdict(f, anySeeker().Draw(t, "seeker")); v.Answer != lifecycle.Unknown {
			t.Fatalf("verdict %s, want unknown", v)
		}
	})
}

// TestFreeMeansFree: the answer free leaves no obstacle, and held names at least one.
func TestFreeMeansFree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r, f, who := anyRules().Draw(t, "rules"), anyFacts().Draw(t, "facts"), anySeeker().Draw(t, "seeker")
		v := r.Verdict(f, who)
		if (v.Answer == lifecycle.Free) != (len(v.Reasons) == 0) {
			t.Fatalf("%s with %d reasons", v.Answer, len(v.Reasons))
		}

		if why := obstacle(r, f, who); (why != "") != (v.Answer == lifecycle.Held) {
			t.Fatalf("verdict %s, but obstacle %q", v, why)
		}
	})
}

// obstacle is spec-writing.md#claim, written down once more.
func obstacle(r lifecycle.Rules, f lifecycle.Facts, who lifecycle.Seeker) string {
	for _, c := range f.Log.Live() {
		if end, limited := c.Until(r.Terms); !limited || f.Now.Before(end.Add(r.Terms.Grace)) {
			return "a live claim"
		}
	}

	if f.PullRequest {
		return pullObstacle(f)
	}

	own := func(p lifecycle.PR) bool {
		return p.State == lifecycle.PROpened && who.Branch != "" && p.Head == who.Branch && p.HeadRepo == who.Repo
	}

	for _, p := range f.PRs {
		own := own(p) || p.Chain != "" &&
			slices.ContainsFunc(f.PRs, func(o lifecycle.PR) bool { return o.Chain == p.Chain && own(o) })
		switch counts := p.DefaultBase || p.Recorded || p.Sibling; {
		case p.Sibling && p.State != lifecycle.PROpened:
			continue
		case p.State == lifecycle.PROpened && counts && !own, p.State == lifecycle.PRUnreadable && p.Recorded:
			return "a pull request"
		case p.State == lifecycle.PRMerged && p.DefaultBase && f.Open &&
			(f.ReopenedAt.IsZero() || p.MergedAt.After(f.ReopenedAt)):
			return "a merge"
		case p.State == lifecycle.PRMerged && p.Recorded && !p.DefaultBase && !own:
			return "a merge that has not shipped"
		}
	}

	over, swept := 0, 0
	for _, c := range f.Log.Live() { // each of them expired, and a claim would record its end
		if c.Held() && !c.Provisional() {
			over++
			if f.Open && !c.Plan.Pending() {
				swept++
			}
		}
	}

	if last, ended := f.Log.Lasting().LastEnded(claim.Claim.Held); over == 0 && ended && f.Open &&
		last.End.Outcome == claim.OutcomeAlreadyImplemented && !f.ReopenedAt.After(last.End.At) {
		return "implemented already"
	}

	closed := !f.Open
	hold := slices.Contains(f.Labels, "do-not-pickup")
	if last, ended := f.Log.LastPerson(); ended && !f.HoldAt.IsZero() && f.HoldAt.Before(last.End.At) {
		hold = false // what that hold left behind
	}

	persons := hold || slices.ContainsFunc(f.Labels,
		func(l string) bool { return l == "needs:human-scope" || l == "wip" })
	if !r.Unassigned && len(f.Assignees) > 0 && !slices.Contains(f.Assignees, "BOT") {
		return "somebody is assigned"
	}

	blocked := slices.ContainsFunc(f.Blockers, func(b lifecycle.Blocker) bool { return b.Open })
	failed := len(f.Log.Attempts) + swept
	tried := r.MaxAttempts > 0 && failed >= r.MaxAttempts
	if swept > 0 && len(r.Rest) > 0 && r.Rest[min(failed, len(r.Rest))-1] > 0 {
		return "a rest after the end of an expired hold"
	}
	if labels.Has(f.Labels, r.Scheme.Done) && len(r.Scheme.Of(f.Labels)) > 1 && f.Open &&
		f.Log.Lasting().Records == 0 && f.ReopenedAt.IsZero() && f.StateReason != "reopened" {
		return "labelled done"
	}

	planned := slices.ContainsFunc(f.Log.Claims, func(c claim.Claim) bool { return c.Plan != nil })
	if labels.Has(f.Labels, r.Scheme.PlanPending) && f.Open && !planned {
		return "a plan label without a plan"
	}
	if closed || persons || blocked || tried || f.Pause != nil || r.RestUntil(f.Log).After(f.Now) {
		return "closed, a person, a blocker, a pause, attempts or a rest"
	}

	return ""
}

// pullObstacle is what is left of it for a pull request's number.
func pullObstacle(f lifecycle.Facts) string {
	hold := slices.Contains(f.Labels, "do-not-pickup")
	if last, ended := f.Log.LastPerson(); ended && !f.HoldAt.IsZero() && f.HoldAt.Before(last.End.At) {
		hold = false
	}

	switch {
	case !f.Open, f.Pause != nil:
		return "ended, or a pause"
	case hold, slices.ContainsFunc(f.Labels,
		func(l string) bool { return l == "needs:human-scope" || l == "wip" || l == "blocked" }):
		return "a person's label"
	}

	return ""
}

// TestVerdictReads: the reasons are sentences about the facts, and strangers' text cannot panic
// them.
func TestVerdictReads(t *testing.T) {
	f := lifecycle.Facts{
		Issue:  issue,
		Open:   true,
		Now:    noon,
		Labels: []string{"do-not-pickup"},
		Log: claim.Replay([]claim.Comment{{
			ID:      1,
			Created: noon,
			Updated: noon,
			Author:  "bot",
			Trusted: true,
			URL:     "https://h/1",
			Body:    "<!-- agent-claim:codename=lucius firing_id=r1 nonce=n ttl=1800 state=held -->",
		}}),
		PRs: []lifecycle.PR{
			{
				Repo:        "o/r",
				Number:      12,
				State:       lifecycle.PROpened,
				DefaultBase: true,
			},
			{Repo: "x/y", Number: 13, State: lifecycle.PRUnreadable, Recorded: true},
		},
		Pause: &lifecycle.Pause{Since: noon, By: "ann", Reason: "%s%!d(MISSING)\x1b[31m"},
	}

	want := "held: held by lucius (run r1) since 2026-05-01 12:00 UTC, lease until 2026-05-01 12:30 UTC; " +
		"pull request o/r#12 is open for it; pull request x/y#13 cannot be read and counts as open for it; " +
		"o/r is paused since 2026-05-01 12:00 UTC by ann: %s%!d(MISSING)\x1b[31m; a person holds it (label do-not-pickup)"
	v := lifecycle.DefaultRules().Verdict(f, lifecycle.Seeker{})
	if v.String() != want {
		t.Errorf("verdict\n got %s\nwant %s", v, want)
	}

	if !v.Has(lifecycle.CodePaused) || v.Has(lifecycle.CodeClosed) || v.Reasons[0].URL != "https://h/1" {
		t.Errorf("reasons %+v", v.Reasons)
	}

	if free := lifecycle.DefaultRules().Verdict(lifecycle.Facts{Open: true, Now: noon},
		lifecycle.Seeker{}); free.String() != "free" {
		t.Errorf("verdict %s, want free", free)
	}

	if !strings.HasPrefix((lifecycle.Verdict{}).String(), "unknown") {
		t.Error("the zero verdict is not unknown")
	}
}

// TestVerdictOfPauses: what is not known of a pause is left out.
func TestVerdictOfPauses(t *testing.T) {
	for want, p := range map[string]lifecycle.Pause{
		"is paused": {},
		"is paused since 2026-05-01 12:00 UTC: back on Monday": {Since: noon, Reason: "back on Monday"},
		"is paused on this host by ann":                        {By: "ann", Here: true},
	} {
		f := lifecycle.Facts{Issue: claim.Issue{Owner: "o", Repo: "r", Number: 7}, Open: true, Now: noon, Pause: &p}
		if got := lifecycle.DefaultRules().Verdict(f, lifecycle.Seeker{}).String(); got != "held: o/r "+want {
			t.Errorf("verdict %q, want %q", got, want)
		}
	}
}
