package claim

import (
	"fmt"
	"strings"
)

// ParseBranch reads a branch as people give it: refs/heads/ in front of the name is left out. The
// error says that git takes no branch of that name (git-check-ref-format), or that it is a
// reference of another kind.
func ParseBranch(text string) (string, error) {
	name, full := strings.CutPrefix(text, "refs/heads/")
	if !full && strings.HasPrefix(name, "refs/") {
		return "", fmt.Errorf("branch %q: a reference that is not a branch", clip(text))
	}
	if !wellFormed(name) {
		return "", fmt.Errorf("branch %q: not a name that git accepts", clip(text))
	}
	return name, nil
}

// wellFormed applies the rules that hold for a whole branch name and for each of its parts.
func wellFormed(name string) bool {
	switch {
	case name == "", name == "HEAD":
		return false
	case strings.HasPrefix(name, "-"), strings.HasSuffix(name, "."):
		return false
	case strings.Contains(name, ".."), strings.Contains(name, "@{"):
		return false
	}

	forbidden := func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) }
	if strings.ContainsFunc(name, forbidden) {
		return false
	}

	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}

	return true
}
