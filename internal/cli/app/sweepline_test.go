package app

import (
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
		"acme/app#1: 3 attempts failed\n": {
			Issue: "acme/app#1",
			Why:   "3 attempts failed",
		},
	} {
		if got := f.Line(true); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
