package lifecycle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/labels"
)

// Explain says in one line why the facts ask for a change of labels, as Label has it: for each
// label the reason of that label. Without a change it is the reason of the state.
func (r Rules) Explain(f Facts, c labels.Change) string {
	_, state := r.Label(f)
	var parts []string
	for _, name := range c.Add {
		switch {
		case labels.Same(name, r.Scheme.Blocked):
			var open []string
			for _, i := range f.Waits() {
				open = append(open, i.String())
			}
			parts = append(parts, "blocked by "+strings.Join(open, ", "))
		case labels.Same(name, r.Scheme.NeedsScope):
			parts = append(parts, fmt.Sprintf("%d failed attempts; a person must look", len(f.Log.Attempts)))
		default:
			parts = append(parts, state)
		}
	}

	for _, name := range c.Remove {
		slug, bundled := r.Scheme.BundleOf(name)
		switch {
		case labels.Same(name, r.Scheme.Blocked):
			parts = append(parts, "no open issue blocks it")
		case labels.Same(name, r.Scheme.Hold):
			parts = append(parts, "the hold of a person has ended")
		case bundled:
			parts = append(parts, "the bundle "+slug+" does not hold it")
		default:
			parts = append(parts, state)
		}
	}

	if len(parts) == 0 {
		return state
	}

	if slices.Contains(parts, state) { // it goes before the others
		parts = slices.Insert(slices.DeleteFunc(parts, func(p string) bool { return p == state }), 0, state)
	}

	return strings.Join(slices.Compact(parts), "; ")
}
