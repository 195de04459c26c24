package ledger_test

import (
	"context"
	"iter"
	"time"

	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// scan lets the one-issue forge be swept.
type scan struct{ *forge }

func (s scan) Scan(ctx context.Context, _ ledger.Repo, _ time.Time) iter.Seq2[lifecycle.Facts, error] {
	return func(yield func(lifecycle.Facts, error) bool) { yield(s.Facts(ctx, issue)) }
}

func (scan) Pause(context.Context, ledger.Repo) (*lifecycle.Pause, error) { return nil, nil }
func (scan) SetPause(context.Context, ledger.Repo, lifecycle.Pause) error { return nil }
func (scan) ClearPause(context.Context, ledger.Repo) error                { return nil }
