package labels

import "slices"

// A Projection is what an issue's labels should say. Only lifecycle labels and the labels
// named in Set and Clear are ever touched. Set and Clear name no lifecycle label and share none.
type Projection struct {
	Keep  bool // leave the lifecycle labels as people set them
	State State
	Stage int      // of a pipeline: which it is in
	Gate  bool     // the plan label stays beside the state's: a person put it there
	Set   []string // further labels that should be there
	Clear []string // further labels that should not
}

// A Change is what to add, then what to remove. Adding comes first, so an issue is never bare.
type Change struct{ Add, Remove []string }

// Empty reports whether there is nothing to do.
func (c Change) Empty() bool { return len(c.Add) == 0 && len(c.Remove) == 0 }

// Change returns what leads from have to the projection. Removed names are spelled as the issue has
// them.
func (s Scheme) Change(have []string, want Projection) Change {
	var c Change
	var shows []string
	if !want.Keep {
		shows = s.Shows(want)
		for _, h := range have {
			if _, ours := s.Parse(h); ours && !Has(shows, h) {
				c.Remove = append(c.Remove, h)
			}
		}
	}

	for _, name := range slices.Concat(shows, want.Set) {
		if !Has(have, name) {
			c.Add = append(c.Add, name)
		}
	}

	for _, h := range have {
		if Has(want.Clear, h) {
			c.Remove = append(c.Remove, h)
		}
	}

	return c
}
