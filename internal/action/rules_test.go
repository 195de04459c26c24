package action

import (
	"context"
	"errors"
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

// unread is a hub with one issue that cannot be read, and unasked a store that nobody may ask.
type (
	unread  struct{ Hub }
	unasked struct{ lease.Store }
)

func (unread) FactsOf(context.Context, []claim.Issue) []lifecycle.Snapshot {
	return []lifecycle.Snapshot{{Err: barred{}}, {Facts: lifecycle.Facts{Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 1}}}}
}

// TestJudgedWithoutSecrets: a run that gets no secrets reads by the log where a store decides.
func TestJudgedWithoutSecrets(t *testing.T) {
	s := Step{Event: Event{Name: "pull_request", Sender: Account{Login: "dependabot[bot]"}}}
	l := ledger.New(nil, nil, nil, ledger.DefaultSettings()).Strict(unasked{}, "redis")
	got := s.Judged(unread{}, l, claim.Repo{Owner: "acme", Name: "app"}).FactsOf(t.Context(), nil)
	if len(got) != 2 || !errors.Is(got[0].Err, barred{}) || got[1].Err != nil {
		t.Errorf("%+v", got)
	}
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
