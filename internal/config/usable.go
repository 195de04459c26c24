package config

import "slices"

// Usable reads what can be used of a file that Parse refuses, for a caller that only looks: an
// entry with a problem is left out, as if the file did not have it. What is not a configuration at
// all is Default.
func Usable(name string, data []byte) Config {
	r := newReader(name)
	top := r.document(data)
	if top == nil || len(r.problems) > 0 {
		return Default()
	}

	for {
		r = newReader(name)
		c := r.settings(top)
		c.whole(r)
		if len(r.problems) == 0 {
			return c
		}

		left := false
		for _, p := range r.problems {
			left = r.leaveOut(p.Path) || left
		}

		if !left {
			return Default()
		}
	}
}

// leaveOut takes the entry of a key, or of the nearest key above it that the file has, out of its
// mapping. It reports whether there was one.
func (r *reader) leaveOut(path string) bool {
	e, there := r.nearest(path)
	if !there {
		return false
	}
	at := slices.Index(e.mapping.Content, e.key)
	if at < 0 {
		return false // another problem of it has done so
	}

	e.mapping.Content = slices.Delete(e.mapping.Content, at, at+2)
	return true
}
