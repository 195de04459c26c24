package ledger_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

var errOutside = errors.New("records of eve do not count")

// outside is a forge whose login's records count for nobody.
type outside struct{ *forge }

func (outside) Heard(context.Context, claim.Repo) error { return errOutside }

// TestUnheard: a login whose records count for nobody is told so and writes nothing, whatever it
// wants to write, also not the end of a claim that ran out (spec.md#which-records-count).
func TestUnheard(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		l, f := w.ledger(nil)
		if _, err := l.Claim(t.Context(), issue,
			ledger.Request{Worker: claim.Worker{Codename: "ann", FiringID: "a1"}}); err != nil {
			t.Fatal(err)
		}

		before := records(w, "agent-")
		set := ledger.DefaultSettings()
		eve := ledger.New(over(outside{f}), virtual{}, w.words(), set)
		set.DryRun = true
		dry := ledger.New(over(outside{f}), virtual{}, w.words(), set)
		for name, do := range map[string]func() error{
			"revoke":  func() error { _, err := eve.Revoke(t.Context(), issue, "eve", "mine"); return err },
			"dry run": func() error { _, _, err := dry.Force(t.Context(), issue, "eve", "mine"); return err },
			"force":   func() error { _, _, err := eve.Force(t.Context(), issue, "eve", "mine"); return err },
			"claim": func() error {
				if err := (virtual{}).Sleep(t.Context(), 30*time.Hour); err != nil {
					return err
				}
				_, err := eve.Claim(t.Context(), issue, ledger.Request{Worker: claim.Worker{Codename: "eve"}})
				return err
			},
		} {
			var unknown *ledger.UnknownError
			if err := do(); !errors.As(err, &unknown) || unknown.Issue != issue || !errors.Is(err, errOutside) {
				t.Errorf("%s: %v", name, err)
			}
		}

		if n := records(w, "agent-"); n != before {
			t.Errorf("%d comments were written", n-before)
		}
	})
}

// doubted is a forge that can no longer tell whether our records count once a claim was written.
type doubted struct {
	*forge
	w *world
}

func (d doubted) Heard(context.Context, claim.Repo) error {
	if records(d.w, "agent-claim:") > 0 {
		return errOutside
	}
	return nil
}

// TestDoubtedAfterThePost: a claim that was written, and of which it is then unknown whether it
// counts, leaves no claim behind.
func TestDoubtedAfterThePost(t *testing.T) {
	alone(t, func(t *testing.T, w *world) {
		_, f := w.ledger(nil)
		eve := ledger.New(over(doubted{f, w}), virtual{}, w.words(), ledger.DefaultSettings())
		var unknown *ledger.UnknownError
		if _, err := eve.Claim(t.Context(), issue,
			ledger.Request{Worker: claim.Worker{Codename: "eve"}}); !errors.As(err, &unknown) ||
			!errors.Is(err, errOutside) {
			t.Errorf("claim: %v", err)
		}

		if claims, ends := records(w, "agent-claim:"), records(w, "outcome=abandoned"); claims != 1 || ends != 1 {
			t.Errorf("%d claims and %d ends were written", claims, ends)
		}
	})
}
