package setup

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

// Unheard looks at what a claim returned. When its labels failed because its author may not label the
// repository, nobody else counts its record (PRODUCT ruling 7), and it is no hold: the claim is taken back, and the
// answer is an *ledger.UnknownError. In every other case it is nil, and the claim's own error stands.
func (s *Session) Unheard(ctx context.Context, h ledger.Hold, claimed error) error {
	var late *ledger.LabelsError
	var denied *github.PermissionError
	if !errors.As(claimed, &late) || !errors.As(late.Err, &denied) {
		return nil
	}
	if who, err := s.Viewer(ctx); err == nil && labels.Has(s.Config.Trust.Logins, who) {
		return nil
	}
	err := fmt.Errorf("this login may not label %s, so others do not count its claims: %w", h.Issue.Slug(), denied)
	_, back := s.Ledger.Release(ctx, h.Issue, ledger.Ending{Worker: h.Record.Worker, Outcome: claim.OutcomeAbandoned})
	if back != nil && !errors.As(back, &late) {
		err = fmt.Errorf("%w; the claim could not be taken back: %w", err, back)
	}
	return &ledger.UnknownError{Issue: h.Issue, Err: err}
}
