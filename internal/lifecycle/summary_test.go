package lifecycle_test

import (
	"slices"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestSummary: the state, what brings the labels in line, and whether only a person moves the issue
// on.
func TestSummary(t *testing.T) {
	r := lifecycle.DefaultRules()
	for name, c := range map[string]struct {
		labels    []string
		state     labels.State
		unmanaged bool
		remove    []string
		stranded  bool
	}{
		"ready":    {[]string{"agent:implement"}, labels.Available, false, nil, false},
		"no label": {nil, labels.None, true, nil, false},
		"two lifecycle labels": {
			[]string{"agent:implement", "agent:pr-open"},
			labels.Available, false,
			[]string{"agent:pr-open"},
			false,
		},
		"in flight without a record": {[]string{"agent:in-flight"}, labels.None, true, nil, true},
	} {
		f := lifecycle.Facts{Open: true, Labels: c.labels, Now: time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)}
		f.Issue.Owner, f.Issue.Repo, f.Issue.Number = "acme", "app", 1
		s := r.Summary(f)
		if s.State != c.state || s.Unmanaged != c.unmanaged || s.Why == "" || (s.Stranded != "") != c.stranded {
			t.Errorf("%s: %+v", name, s)
		}

		if len(s.Drift.Add) > 0 || !slices.Equal(s.Drift.Remove, c.remove) || (s.DriftWhy == "") != (c.remove == nil) {
			t.Errorf("%s: drift %+v, %q", name, s.Drift, s.DriftWhy)
		}
	}
}
