package ledger_test

import (
	"context"
	"errors"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// An overtaken forge lets somebody else be faster than its next comment.
type overtaken struct {
	*forge
	by func()
}

func (f *overtaken) Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error) {
	if by := f.by; by != nil {
		f.by = nil
		by()
	}
	return f.forge.Comment(ctx, i, body)
}

// TestOvertakenAnswer: an answer to a plan that came too late is not told as one that counts.
func TestOvertakenAnswer(t *testing.T) {
	release := claim.Record{Kind: claim.KindRelease, Outcome: claim.OutcomeCancelled}
	approve := claim.Record{Kind: claim.KindApprove, By: "vera"}
	reject := claim.Record{Kind: claim.KindReject, By: "vera"}
	for name, c := range map[string]struct {
		answer, first claim.Record
		want          error
	}{
		"approved, released":          {approve, release, claim.ErrEnded},
		"rejected, released":          {reject, release, claim.ErrEnded},
		"approved, rejected first":    {approve, reject, claim.ErrEnded},
		"rejected, approved first":    {reject, approve, claim.ErrNoPlan},
		"approved by two":             {approve, approve, nil},
		"rejected by two, either way": {reject, reject, nil},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t, func(t *testing.T, w *world) {
				l, f := w.ledger(nil)
				h := take(t, l, "ann")
				post(t, f, claim.Record{Kind: claim.KindPlan, Worker: h.Record.Worker})
				slow := &overtaken{forge: f, by: func() {
					first := c.first
					first.Worker = h.Record.Worker
					post(t, f, first)
				}}
				l = ledger.New(over(slow), virtual{}, w.words(), ledger.DefaultSettings())
				_, err := l.Answer(t.Context(), issue, ledger.Answer{Kind: c.answer.Kind, By: "olga", Reason: "too large"})

				if !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
			})
		})
	}
}
