package ledger_test

import (
	"context"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// backward is a forge whose snapshots are from before everything, while blind, and that has lost
// one comment.
type backward struct {
	*forge
	blind bool
	lost  int64
}

func (f *backward) Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	facts, err := f.forge.Facts(ctx, i)
	if f.blind {
		facts.Log = claim.Replay(nil)
	}
	return facts, err
}

func (f *backward) EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error) {
	if id == f.lost {
		return claim.Comment{}, ledger.ErrGone
	}
	return f.forge.EditComment(ctx, i, id, body)
}

// TestRecalled: where a store decides, a holder that renews by a snapshot without its claim edits
// the comment that it remembers, with all that is in it, and writes another one only when that is
// gone (found by internal/simulation).
func TestRecalled(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		_, f := w.ledger(nil)
		reads := &backward{forge: f}
		l := ledger.New(over(reads), virtual{}, w.words(), ledger.DefaultSettings()).Strict(&table{}, "table")
		h, err := l.Claim(t.Context(), issue,
			ledger.Request{Worker: claim.Worker{Codename: "ann"}, TTL: ttl, Branch: "fix"})
		if err != nil {
			t.Fatal(err)
		}

		reads.blind = true
		kept, err := l.Keep(t.Context(), h)
		if err != nil || kept.Comment != h.Comment || !kept.Since.Equal(h.Since) || kept.Record.Branch != "fix" ||
			records(w, "agent-claim") != 1 || records(w, "hb=1") != 1 {
			t.Errorf("kept %+v, %v; %d claims", kept, err, records(w, "agent-claim"))
		}

		reads.lost = h.Comment
		again, err := l.Keep(t.Context(), kept)
		if err != nil || again.Comment == kept.Comment || again.Comment == 0 || records(w, "agent-claim") != 2 {
			t.Errorf("after it was deleted: %+v, %v; %d claims", again, err, records(w, "agent-claim"))
		}
	})
}
