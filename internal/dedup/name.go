package dedup

import (
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
)

// A Message is a commit that leaves, with its whole text.
type Message struct {
	Commit
	Text string
}

// Name lists the issues that the commits close by their raw text (PRODUCT ruling 11), ordered by
// issue. home is the repository of #7 and host that of issue URLs, as for closing.InCommit.
func Name(messages []Message, home closing.Repo, host string) []Named {
	var out []Named
	at := map[claim.Issue]int{}
	for _, m := range messages {
		for _, ref := range closing.InCommit(m.Text, home, host) {
			key := ref.Issue.Folded()
			i, known := at[key]
			if !known {
				i = len(out)
				at[key] = i
				out = append(out, Named{Issue: ref.Issue})
			}
			out[i].Commits = append(out[i].Commits, m.Commit)
		}
	}
	slices.SortStableFunc(out, func(a, b Named) int { return a.Issue.Compare(b.Issue) })
	return out
}
