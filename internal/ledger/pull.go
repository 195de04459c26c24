package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Unlink records, in the name of by, that a pull request is no longer for the issue, for every
// release that names it (spec-writing.md#unlink). It reports whether there was one. Labels are for
// the caller to bring in line.
func (l *Ledger) Unlink(ctx context.Context, i claim.Issue, pr lifecycle.PR, by string) (bool, error) {
	end := l.Run(ctx, i, protocol.NewUnlink(l.config(), i, pr, by))
	return len(end.Records) > 0, end.Err
}
