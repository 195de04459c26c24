package dedup

import (
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// A Message is a commit that leaves, with its text.
type Message struct {
	Commit
	Text string
	Cut  bool // there is more of it
}

// Unread lists what of the messages Name has not read: the rest of a text that is too long, and the
// issues beyond those that one text can name.
func Unread(messages []Message, home claim.Repo, host string) []Unchecked {
	var out []Unchecked
	for _, m := range messages {
		about := "the message of " + m.OID[:min(len(m.OID), 12)]
		if m.Cut {
			out = append(out, Unchecked{Reason: about + " is longer than 1 MiB"})
		}

		if closing.Beyond(m.Text, home, host) {
			out = append(out, Unchecked{Reason: fmt.Sprintf("%s names more than %d issues", about, closing.Limit)})
		}
	}

	return out
}

// Name lists the issues that the commits close by their raw text (spec.md#closing-keywords),
// ordered by issue. home is the repository of #7 and host that of issue URLs, as for
// closing.InCommit.
func Name(messages []Message, home claim.Repo, host string) []Named {
	var out []Named
	at := map[claim.Issue]int{}
	for _, m := range messages {
		for _, issue := range closing.InCommit(m.Text, home, host) {
			key := issue.Folded()
			i, known := at[key]
			if !known {
				i = len(out)
				at[key] = i
				out = append(out, Named{Issue: issue})
			}

			out[i].Commits = append(out[i].Commits, m.Commit)
		}
	}

	slices.SortStableFunc(out, func(a, b Named) int { return a.Issue.Compare(b.Issue) })
	return out
}
