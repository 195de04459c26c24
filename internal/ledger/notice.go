package ledger

import (
	"context"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/quote"
)

// An Eraser is a Forge that can take comments away; one that is gone is success. Without it what two
// told at the same moment stands twice.
type Eraser interface {
	DeleteComment(ctx context.Context, i claim.Issue, id int64) error
}

// notices tells people what no record says.
type notices struct {
	*base
	records *records
}

// announce posts what people are to be told and were not, and reports whether there was anything. Before that it takes away own notices that
// say what an earlier one said: two sweeps ran at once. One that stays does no harm, and the next sweep sees it again.
func (nt *notices) announce(ctx context.Context, f lifecycle.Facts) (bool, error) {
	if e, able := nt.forge.(Eraser); able {
		for _, n := range f.Log.Repeats(f.Viewer) {
			_ = e.DeleteComment(ctx, f.Issue, n.Comment.ID)
		}
	}
	due := nt.set.Rules.Due(f)
	for _, n := range due {
		body := n.Mark() + "\n" + nt.words(f, n)
		_, err := nt.records.append(ctx, f.Issue, body, func(s claim.State) (string, bool) { return "", s.Told(n) })
		if err != nil {
			return true, err
		}
	}
	return len(due) > 0, nil
}

// words are a notice's text for people.
func (nt *notices) words(f lifecycle.Facts, n claim.Notice) string {
	if n.Kind == claim.NoticeAwake {
		names := make([]string, len(f.Blockers))
		for i, b := range f.Blockers {
			names[i] = b.Issue.String()
		}
		return "What this issue waited for is closed: " + strings.Join(names, ", ") + ". It can go on."
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d attempts at this issue failed, so a person must look (label `%s`). Taking that label off lets agents try again.\n",
		len(f.Log.Attempts), harmless(nt.set.Rules.Scheme.NeedsScope))
	for i, a := range f.Log.Attempts {
		fmt.Fprintf(&b, "\n%d. %s, %s: %s", i+1, whose(a.Worker), printable.Minute(a.Release.At), harmless(a.Release.Outcome))
		if a.Release.Reason != "" {
			b.WriteString(", " + quote.Code(a.Release.Reason, quotedLimit))
		}
	}
	return b.String()
}

const quotedLimit = 300 // characters of somebody's reason
