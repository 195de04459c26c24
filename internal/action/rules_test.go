package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// barred is the answer to a token that may not write.
type barred struct{}

func (barred) Error() string { return "no" }
func (barred) Denied() bool  { return true }

// TestFinal: a token that may not write in one repository may write in the next; without a budget
// nothing goes on.
func TestFinal(t *testing.T) {
	if final(nil) || final(barred{}) || !final(errors.New("the budget is used up")) {
		t.Errorf("final: %v without an error, %v when denied, %v else", final(nil), final(barred{}),
			final(errors.New("")))
	}
}

// seen is a hub that has read these issues, empty a store without a lease, and unasked one that
// nobody may ask.
type (
	seen struct {
		Hub
		all []lifecycle.Snapshot
	}
	empty   struct{ lease.Store }
	unasked struct{ lease.Store }
)

func (s seen) FactsOf(context.Context, []claim.Issue) []lifecycle.Snapshot {
	return slices.Clone(s.all)
}

func (empty) Look(context.Context, claim.Issue) (lease.Lease, bool, error) {
	return lease.Lease{}, false, nil
}

// TestJudged: what the log shows as held is so only if a store that decides says it, of its own
// repository and where a run gets the secrets to ask.
func TestJudged(t *testing.T) {
	hub := seen{all: []lifecycle.Snapshot{{Err: barred{}}}}
	for _, repo := range []string{"app", "lib"} {
		one := logged(claim.Claim{Record: claim.Record{Worker: claim.Worker{Codename: "lucius"}, Held: true, Lease: "redis", Token: 1}})
		one.Facts.Issue = claim.Issue{Owner: "acme", Repo: repo, Number: 1}
		hub.all = append(hub.all, one)
	}

	l := ledger.New(nil, nil, nil, ledger.DefaultSettings())
	for name, c := range map[string]struct {
		ledger *ledger.Ledger
		by     string
		want   string // of which repositories an issue is held
	}{
		"the log decides":            {l, "olga", "app lib"},
		"the store decides":          {l.Strict(empty{}, "redis"), "olga", "lib"},
		"a run that gets no secrets": {l.Strict(unasked{}, "redis"), "dependabot[bot]", "app lib"},
	} {
		s := Step{Event: Event{Name: "pull_request", Sender: Account{Login: c.by}}}
		got := s.Judged(hub, c.ledger, claim.Repo{Owner: "ACME", Name: "App"}).FactsOf(t.Context(), nil)
		var held []string
		for _, one := range got[1:] {
			if len(one.Facts.Log.Live()) == 1 && one.Err == nil {
				held = append(held, one.Facts.Issue.Repo)
			}
		}
		if strings.Join(held, " ") != c.want || !errors.Is(got[0].Err, barred{}) {
			t.Errorf("%s: held in %q, want %s", name, held, c.want)
		}
	}
}

// TestClaimedBefore: who has claimed an issue by the same comment before is told what became of it.
func TestClaimedBefore(t *testing.T) {
	o := order{by: "olga", run: "comment-7"}
	record := claim.Record{Worker: o.worker()}
	confirmed := record
	confirmed.Held = true
	ended := func(outcome string) *claim.Release { return &claim.Release{Outcome: outcome} }
	for want, c := range map[string]lifecycle.Snapshot{
		"":   logged(claim.Claim{Record: confirmed, End: ended(claim.OutcomeForced)}),
		"no": {Err: barred{}},
		"it could not be claimed; comment /claim again": logged(claim.Claim{Record: record}),
		"drake was faster": logged(claim.Claim{Record: record, End: ended(claim.YieldedTo(claim.Worker{Codename: "drake", FiringID: "d1"}))}),
		"the claim was given up before it was confirmed; comment /claim again": logged(claim.Claim{Record: record, End: ended(claim.OutcomeAbandoned)}),
	} {
		cm := &commands{Step: &Step{Place: Place{Hub: seen{all: []lifecycle.Snapshot{c}}}}}
		if err := cm.claimedBefore(t.Context(), o, o.worker()); fmt.Sprint(err) != cmp.Or(want, "<nil>") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestHeldText: who may end another's hold, or take a label off, is told by which comment; a
// contributor is told why alone.
func TestHeldText(t *testing.T) {
	labelled := lifecycle.Reason{Code: lifecycle.CodeHold, Text: "a person holds it"}
	worked := lifecycle.Reason{Code: lifecycle.CodeInFlight, Text: "held by drake", Claim: &claim.Claim{}}
	for _, c := range []struct {
		why     lifecycle.Reason
		outside bool
		want    string
	}{
		{labelled, false, "a person holds it; comment /unhold first to take it off"},
		{labelled, true, "a person holds it"},
		{worked, false, "held by drake; comment /release first to take it over"},
		{worked, true, "held by drake"},
	} {
		no := lifecycle.Verdict{Answer: lifecycle.Held, Reasons: []lifecycle.Reason{c.why}}
		if got := heldText(&ledger.HeldError{Verdict: no}, c.outside); got != c.want {
			t.Errorf("outside %v: %q, want %q", c.outside, got, c.want)
		}
	}
}

// logged is a snapshot of an issue whose log has one claim.
func logged(c claim.Claim) lifecycle.Snapshot {
	return lifecycle.Snapshot{Facts: lifecycle.Facts{Log: claim.State{Claims: []claim.Claim{c}}}}
}

// TestSettled: an answer to a plan is what a comment asked for if its author gave it, that way, and
// not before the comment.
func TestSettled(t *testing.T) {
	asked := time.Date(2026, 5, 1, 14, 0, 0, 0, time.UTC)

	for _, c := range []struct {
		name string
		plan claim.Plan
		want bool
	}{
		{"this very answer", claim.Plan{Approved: true, By: "Olga", AnsweredAt: asked.Add(time.Second)}, true},
		{"in the comment's second", claim.Plan{Approved: true, By: "olga", AnsweredAt: asked}, true},
		{"an earlier one", claim.Plan{Approved: true, By: "olga", AnsweredAt: asked.Add(-time.Second)}, false},
		{"somebody else's", claim.Plan{Approved: true, By: "tia", AnsweredAt: asked.Add(time.Second)}, false},
		{"the other way", claim.Plan{By: "olga", AnsweredAt: asked.Add(time.Second)}, false},
		{"none yet", claim.Plan{}, false},
	} {
		o := order{
			by:    "olga",
			at:    asked,
			facts: lifecycle.Facts{Log: claim.State{Claims: []claim.Claim{{Plan: &c.plan}}}},
		}

		if got := o.settled(claim.KindApprove); got != c.want {
			t.Errorf("%s: settled: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestNames: a label that cannot be shown as code is shown as text that means nothing.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"agent:done": "`agent:done`", "a`<b>": "a&#96;&#60;b&#62;", "a|b": "a&#124;b", `a\`: "a&#92;", "##[x": "`##" +
			unseen + "[x`",
	} {
		if got := names([]string{name}); got != want {
			t.Errorf("names(%q) = %q, want %q", name, got, want)
		}
	}
}
