package protocol

import (
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/printable"
)

// words are a notice's text for people.
func (l relabeling) words(n claim.Notice) string {
	f := l.facts
	if n.Kind == claim.NoticeAsked {
		return askedText(f, l.rules.Terms, n)
	}
	if n.Kind == claim.NoticeIdle {
		return unassignedText(n, l.rules.Unassign)
	}
	if n.Kind == claim.NoticeAwake {
		names := make([]string, len(f.Blockers))
		for i, b := range f.Blockers {
			names[i] = b.Issue.String()
		}
		return "What this issue waited for is closed: " + strings.Join(names, ", ") + ". It can go on."
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%s at this issue failed, so a person must look (label `%s`). Taking that label off lets agents try again.\n",
		printable.Count(len(f.Log.Attempts), "attempt", "attempts"), harmless(l.rules.Scheme.NeedsScope))

	for i, a := range f.Log.Attempts {
		outcome := harmless(a.Release.Outcome)
		if outcome == claim.OutcomeStaleSwept {
			outcome = "not heard of"
		}
		fmt.Fprintf(&b, "\n%d. %s, %s: %s", i+1, whose(a.Worker), printable.Minute(a.Release.At), outcome)
		if a.Release.Reason != "" {
			b.WriteString(", " + printable.Code(a.Release.Reason, quotedLimit))
		}
	}

	return b.String()
}

const quotedLimit = 300 // characters of somebody's reason
