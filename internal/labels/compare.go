package labels

import (
	"slices"
	"strings"
)

// Among looks for the label among those that a repository has. Color is the one it has there when that is another than
// the definition's, else empty: a colour that people chose is no fault.
func (d Definition) Among(have []Definition) (color string, found bool) {
	i := slices.IndexFunc(have, func(h Definition) bool { return Same(h.Name, d.Name) })
	if i < 0 || strings.EqualFold(have[i].Color, d.Color) {
		return "", i >= 0
	}
	return have[i].Color, true
}
