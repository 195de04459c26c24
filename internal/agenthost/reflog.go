package agenthost

import (
	"strconv"
	"strings"
	"time"
)

// Committed reports whether git's log of HEAD shows that something was committed, merged or
// otherwise moved since then. Changing to another branch is nothing; a line that cannot be read is
// something.
func Committed(reflog string, since time.Time) bool {
	for line := range strings.Lines(reflog) {
		head, message, _ := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		words := strings.Fields(head)
		if len(words) < 4 {
			return true
		}

		at, err := strconv.ParseInt(words[len(words)-2], 10, 64)
		switch {
		case err != nil:
			return true
		case at < since.Unix():
		case words[0] != words[1] && !strings.HasPrefix(message, "checkout:"):
			return true
		}
	}

	return false
}
