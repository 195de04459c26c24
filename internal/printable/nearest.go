package printable

import (
	"slices"
	"strings"

	"github.com/xrash/smetrics"
)

// Nearest returns the known word that was probably meant by name: the one that is one edit from it,
// or two when name is four letters or longer. The same letters in another order are nearest of all.
// Else it is the first word that begins with name, or that ends with it after a dash, when name is
// three letters or longer; else nothing.
func Nearest(known []string, name string) string {
	sorted := func(word string) string { return string(slices.Sorted(slices.Values([]byte(word)))) }
	best, distance := "", min(len(name)/2, 2)+1
	for _, k := range known {
		d := smetrics.WagnerFischer(k, name, 1, 1, 1)
		if sorted(k) == sorted(name) {
			d = 0
		}

		if d < distance {
			best, distance = k, d
		}
	}

	shortened := slices.IndexFunc(known,
		func(k string) bool { return strings.HasPrefix(k, name) || strings.HasSuffix(k, "-"+name) })
	if best == "" && len(name) >= 3 && shortened >= 0 {
		return known[shortened]
	}

	return best
}
