package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// below is a forge whose login may comment and not label.
type below struct{ *forge }

type forbidden struct{ error }

func (forbidden) Forbidden() bool { return true }

func (below) AddLabel(context.Context, claim.Issue, string) error {
	return fmt.Errorf("add label: %w", forbidden{errors.New("not permitted")})
}

// TestUnheard: who may not label holds nothing, and leaves an ended claim behind; a login that others
// trust all the same holds the issue with late labels.
func TestUnheard(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		_, f := w.ledger(nil)
		s := ledger.DefaultSettings()
		_, err := ledger.New(below{f}, virtual{}, w.words(), s).Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "eve"}})
		var unknown *ledger.UnknownError
		if !errors.As(err, &unknown) || !strings.Contains(err.Error(), "this login may not label o/r, so others do not count its claims: not permitted") {
			t.Errorf("claim: %v", err)
		}
		if n := records(w, "outcome=abandoned"); n != 1 {
			t.Errorf("%d ends", n)
		}
		s.Trusted = []string{"Bot"}
		h, err := ledger.New(below{f}, virtual{}, w.words(), s).Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "ann"}})
		var late *ledger.LabelsError
		if !errors.As(err, &late) || h.Token == 0 {
			t.Errorf("claim of a trusted login: %+v, %v", h, err)
		}
	})
}
