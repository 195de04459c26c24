package work

import (
	"strconv"
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// maxID is the largest whole number that every JSON reader keeps: 2^53-1.
const maxID = 1<<53 - 1

// ID makes the id of a numbered item: github-42.
func ID(source string, n int64) string { return source + "-" + strconv.FormatInt(n, 10) }

// ParseID reads SOURCE-N strictly, or just N when source is empty: 1 to 2^53-1, no leading zero, no
// sign, no space. Anything else is an *Error with NotFound.
func ParseID(source, id string) (int64, error) {
	text, found, want := id, true, "a number"
	if source != "" {
		text, found = strings.CutPrefix(id, source+"-")
		want = source + "-NUMBER"
	}

	n, err := strconv.ParseInt(text, 10, 64)
	if !found || err != nil || n < 1 || n > maxID || strconv.FormatInt(n, 10) != text {
		return 0, Refused(printable.Clip(id, 80), NotFound, "no such item %q: expected %s", printable.Clip(id, 80), want)
	}

	return n, nil
}
