package app

import (
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/cli/operate"
	"github.com/label-state/label-state/internal/labels"
)

// TestFindingLine: a finding shows the lifecycle labels before and after, unless there are none and
// another label changes.
func TestFindingLine(t *testing.T) {
	for want, f := range map[string]operate.FindingView{
		"acme/app#1: agent:in-flight -> (no lifecycle label): closed\n": {
			Issue: "acme/app#1",
			Was:   []string{"agent:in-flight"}, Why: "closed",
		},
		"acme/app#1: agent:implement, now with agent:blocked, now without x: blocked\n": {
			Issue:  "acme/app#1",
			Was:    []string{"agent:implement"},
			Is:     []string{"agent:implement"},
			Why:    "blocked",
			Change: labels.Change{Add: []string{"agent:blocked"}, Remove: []string{"x"}},
		},
		// of a snapshot that was stale
		"acme/app#1: agent:implement, now without agent:in-flight: free\n": {
			Issue: "acme/app#1",
			Was:   []string{"agent:implement"},
			Is:    []string{"agent:implement"},
			Why:   "free",
			Change: labels.Change{
				Add:    []string{"agent:implement"},
				Remove: []string{"agent:in-flight", "agent:implement"},
			},
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
		if got := f.Line(!strings.Contains(want, "recorded")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
