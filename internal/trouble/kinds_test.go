package trouble

import (
	"context"
	"fmt"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestReasonHints: whatever keeps an issue from being taken has a next command.
func TestReasonHints(t *testing.T) {
	for _, m := range lifecycle.Meanings() {
		held := &ledger.HeldError{
			Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 7},
			Verdict: lifecycle.Verdict{
				Answer:  lifecycle.Held,
				Reasons: []lifecycle.Reason{{Code: m.Code, URL: "https://x/7"}},
			},
		}
		if m.Where != lifecycle.AmongNotes && len(hintReason(held.Issue, held.Verdict.Reasons[0])) == 0 {
			t.Errorf("reason %s has no hint", m.Code)
		}
	}
}

// TestNext: what is said closest to the cause counts, and nobody is sent to examine a token because
// GitHub fails.
func TestNext(t *testing.T) {
	inner := &answer.Problem{Code: answer.Declined, Next: Then(answer.Advice("inner"))}
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"of two the inner one": {
			&answer.Problem{Next: Then(answer.Advice("outer")), Cause: fmt.Errorf("read: %w", inner)},
			"inner",
		},
		"refused": {&github.StatusError{Status: 422}, "see which request it was"},
		"a bundle was interrupted": {
			&ledger.BundleError{Causes: []error{context.Canceled}, Issues: make([]claim.Issue, 1)},
			"nothing is held; go on with",
		},
		"a hold that nobody confirmed": {
			&ledger.LostError{Worker: claim.Worker{Codename: "ann"}, Err: claim.ErrUnconfirmed},
			"claim it under another run, without LABEL_STATE_FIRING_ID",
		},
		"a hold that nobody confirmed, and somebody else has it": {
			&ledger.LostError{Worker: claim.Worker{Codename: "ann"}, Err: claim.ErrUnconfirmed, Holder: &claim.Claim{}},
			"stop work on it; see who holds it now",
		},
		"archived, and nobody knows what": {
			&github.PermissionError{Message: "Repository was archived so is read-only."},
			"see what the token may do",
		},
		"locked": {
			&answer.Problem{
				Object: "acme/app#6", Cause: &github.PermissionError{Message: "Unable to create comment because issue is locked."},
			},
			"only who may push comments on a locked issue, and may unlock it",
		},
		"GitHub fails": {&github.StatusError{Status: 500}, answer.Server.Meaning().Next[0].When},
	} {
		if next := Of(c.err).Next; next[0].When != c.want {
			t.Errorf("%s: %v", name, next)
		}
	}
}

// TestOwnHints: a person's own hold is theirs to end, and the run that asks has none to end.
func TestOwnHints(t *testing.T) {
	for person, want := range map[string]string{"olga": "it is your own hold; end it with", "": "see what blocks it"} {
		r := lifecycle.Reason{Code: lifecycle.CodeOwn, Claim: &claim.Claim{Person: person}}
		if hint := hintReason(claim.Issue{Owner: "acme", Repo: "app", Number: 7}, r); hint[0].When != want {
			t.Errorf("of %q: %v", person, hint)
		}
	}
}
