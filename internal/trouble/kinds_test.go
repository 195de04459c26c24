package trouble

import (
	"testing"

	"github.com/label-state/label-state/internal/claim"
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
