package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/labels"
)

// Explain says in one line why the facts ask for a change of labels, as Label has it: for each label the reason of that
// label. Without a change it is the reason of the state.
func (r Rules) Explain(f Facts, c labels.Change) string {
	_, state := r.Label(f)
	var parts []string
	for _, name := range c.Add {
		parts = append(parts, r.added(f, name, state))
	}
	for _, name := range c.Remove {
		parts = append(parts, r.removed(name, state))
	}
	if len(parts) == 0 {
		return state
	}
	slices.SortStableFunc(parts, func(a, b string) int { return rank(a, state) - rank(b, state) })
	return strings.Join(slices.Compact(parts), "; ")
}

// rank puts the reason of the state before the others.
func rank(part, state string) int {
	if part == state {
		return 0
	}
	return 1
}

// added is why a label is missing; state is why the lifecycle labels are what they are.
func (r Rules) added(f Facts, name, state string) string {
	switch {
	case labels.Same(name, r.Scheme.Blocked):
		var open []string
		for _, b := range f.openBlockers() {
			open = append(open, b.Issue.String())
		}
		return "blocked by " + strings.Join(open, ", ")
	case labels.Same(name, r.Scheme.NeedsScope):
		return fmt.Sprintf("%d failed attempts; a person must look", len(f.Log.Attempts))
	}
	return state
}

// removed is why a label does not belong there.
func (r Rules) removed(name, state string) string {
	switch {
	case labels.Same(name, r.Scheme.Blocked):
		return "no open issue blocks it"
	case labels.Same(name, r.Scheme.Hold):
		return "the hold of a person has ended"
	}
	if slug, ok := r.Scheme.BundleOf(name); ok {
		return "the bundle " + slug + " does not hold it"
	}
	return state
}
