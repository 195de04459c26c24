package app

import (
	"strings"
	"testing"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli/operate"
)

// TestFindingLine: a finding shows the lifecycle labels before and after, unless there are none and
// another label changes.
func TestFindingLine(t *testing.T) {
	for want, f := range map[string]answer.Finding{
		"acme/app#1: agent:in-flight -> (no lifecycle label): closed\n": {
			Issue: "acme/app#1",
			Was:   []string{"agent:in-flight"}, Why: "closed",
		},
		"acme/app#1: agent:implement, now with agent:blocked, now without x: blocked\n": {
			Issue: "acme/app#1",
			Was:   []string{"agent:implement"},
			Is:    []string{"agent:implement"},
			Why:   "blocked",
			Came:  []string{"agent:blocked"},
			Went:  []string{"x"},
		},
		// of a snapshot that was stale
		"acme/app#1: agent:implement, now without agent:in-flight: free\n": {
			Issue: "acme/app#1",
			Was:   []string{"agent:implement"},
			Is:    []string{"agent:implement"},
			Why:   "free",
			Came:  []string{"agent:implement"},
			Went:  []string{"agent:in-flight", "agent:implement"},
		},
		"acme/app#1: 3 attempts failed\n": {
			Issue: "acme/app#1",
			Why:   "3 attempts failed",
		},
		"acme/app#1: would record the hold of a:1; would release the hold of b:2, c:3; free\n": {
			Issue: "acme/app#1",
			Added: "a:1", Ended: []string{"b:2", "c:3"}, Why: "free",
		},
		"acme/app#1: recorded the hold of a:1; failed: HTTP 502\n": {
			Issue: "acme/app#1", Was: []string{"agent:implement"},
			Added: "a:1", Why: "free", Error: "HTTP 502",
		},
	} {
		if got := operate.FindingLine(f, !strings.Contains(want, "recorded")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
