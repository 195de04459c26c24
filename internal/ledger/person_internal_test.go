package ledger

import (
	"slices"
	"testing"

	"github.com/label-state/label-state/internal/lifecycle"
)

// TestPersonStops: what is paused, blocked, too vague or excluded stops agents alone
// (spec.md#people), and the own label stops nobody.
func TestPersonStops(t *testing.T) {
	var all lifecycle.Verdict
	for _, m := range lifecycle.Meanings() {
		if m.Where == lifecycle.AmongReasons {
			all.Reasons = append(all.Reasons, lifecycle.Reason{Code: m.Code})
		}
	}

	all.Answer = lifecycle.Held
	for by, want := range map[string][]lifecycle.Code{
		"ann": {
			lifecycle.CodeClosed, lifecycle.CodeInFlight, lifecycle.CodeOwn, lifecycle.CodePROpen,
			lifecycle.CodeHold, lifecycle.CodeLimit, lifecycle.CodeAssigned,
		},
		"bot": {
			lifecycle.CodeClosed, lifecycle.CodeInFlight, lifecycle.CodeOwn, lifecycle.CodePROpen,
			lifecycle.CodeLimit, lifecycle.CodeAssigned,
		},
	} {
		var got []lifecycle.Code
		for _, r := range PersonStops(lifecycle.Facts{Viewer: "bot", HoldBy: by}, all).Reasons {
			got = append(got, r.Code)
		}

		if !slices.Equal(got, want) {
			t.Errorf("of a label by %s, what stops is %v, want %v", by, got, want)
		}
	}
}
