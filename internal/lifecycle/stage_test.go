package lifecycle_test

import (
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestStageName: an open issue of a pipeline is in a stage until it went through all of them.
func TestStageName(t *testing.T) {
	rules := lifecycle.Rules{Scheme: staged()}
	for _, c := range []struct {
		name, log, label, want string
		change                 func(*lifecycle.Facts)
	}{
		{name: "its label says it", label: "stage:review", want: "review"},
		{name: "the log says it", log: "review", label: "stage:ready", want: "review"},
		{name: "through", log: "done", label: "stage:review"},
		{name: "no part of the pipeline", label: "bug"},
		{name: "closed", label: "stage:review", change: func(f *lifecycle.Facts) { f.Open = false }},
		{name: "a pull request", label: "stage:review", change: func(f *lifecycle.Facts) { f.PullRequest = true }},
	} {
		f := lifecycle.Facts{
			Open:   true,
			Labels: []string{c.label},
			Log:    claim.State{Stage: c.log},
			Now:    time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC),
		}
		if c.change != nil {
			c.change(&f)
		}
		if got := rules.StageName(f); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
