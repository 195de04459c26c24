package ledger_test

import (
	"errors"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// TestReleasedWithWrongToken: a second release of the same hold is a success only for who shows the
// hold's token, or none.
func TestReleasedWithWrongToken(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, _ := w.ledger(nil)
		h := take(t, l, "ann")
		e := ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeFailure}
		for _, token := range []int64{0, 0, h.Token} {
			e.Token = token
			if _, err := l.Release(t.Context(), issue, e); err != nil {
				t.Fatalf("release with token %d: %v", token, err)
			}
		}

		e.Token = h.Token + 5
		if _, err := l.Release(t.Context(), issue, e); !errors.Is(err, claim.ErrStale) {
			t.Errorf("release with a wrong token after the end: %v", err)
		}
	})
}
