package ledger

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Look reads the issue: its log, and who holds it by the decider. Errors are *UnknownError.
func (l *Ledger) Look(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	got := l.facts(ctx, i)
	f, err := l.whole(i, got.Facts, got.Err)
	if err != nil {
		return lifecycle.Facts{}, err
	}
	return l.Ruled(ctx, f)
}

// Check reads the issue and answers whether the seeker may take it. An error is the answer
// "could not find out", as an *UnknownError.
func (l *Ledger) Check(ctx context.Context, i claim.Issue,
	who lifecycle.Seeker,
) (lifecycle.Facts, lifecycle.Verdict, error) {
	f, err := l.Look(ctx, i)
	if err != nil {
		return lifecycle.Facts{}, lifecycle.Verdict{}, err
	}
	f, v, err := l.verdict(f, who)
	if err != nil || v.Answer != lifecycle.Free {
		return f, v, err
	}

	if f, err = l.Limited(ctx, f, who); err != nil {
		return lifecycle.Facts{}, lifecycle.Verdict{}, err
	}
	return l.verdict(f, who)
}

// CheckForced is Check for a claim with force. What it may not end, and not pass over, is in
// beyond: a hold is not ended for a claim that is refused anyway.
func (l *Ledger) CheckForced(ctx context.Context, i claim.Issue,
	who lifecycle.Seeker,
) (f lifecycle.Facts, v, beyond lifecycle.Verdict, err error) {
	f, v, err = l.Check(ctx, i, who)
	beyond = l.set.Rules.BeyondForce(f, v, who.Person)
	if err != nil || v.Answer == lifecycle.Free || len(beyond.Reasons) > 0 {
		return f, v, beyond, err
	}

	limited, err := l.Limited(ctx, f, who)
	if err == nil {
		beyond = l.set.Rules.BeyondForce(f, l.set.Rules.Verdict(limited, who), who.Person)
	}
	return f, v, beyond, err
}

// verdict is that of a snapshot. Its error is an *UnknownError, "could not find out".
func (l *Ledger) verdict(f lifecycle.Facts, who lifecycle.Seeker) (lifecycle.Facts, lifecycle.Verdict, error) {
	f = l.Here(f)
	v := l.set.Rules.Verdict(f, who)
	return f, v, protocol.Unsure(f, v)
}

// Ruled lays over a snapshot that was made without the ledger who holds the issue. The error is an
// *UnknownError.
func (l *Ledger) Ruled(ctx context.Context, f lifecycle.Facts) (lifecycle.Facts, error) {
	stands, err := l.leases.look(ctx, f.Issue)
	if err != nil {
		return f, err
	}
	return l.config().Ruled(f, stands), nil
}

// asksAtOnce is how many leases are asked for at a time.
const asksAtOnce = 8

// RuledAll is Ruled for many snapshots, each in its place. It asks side by side.
func (l *Ledger) RuledAll(ctx context.Context, all []*lifecycle.Snapshot) {
	var asking errgroup.Group
	asking.SetLimit(asksAtOnce)
	for _, s := range all {
		asking.Go(func() error {
			s.Facts, s.Err = l.Ruled(ctx, s.Facts)
			return nil
		})
	}

	_ = asking.Wait() // each snapshot has its own error
}

// fresh is how long a claim may go by the snapshot by which its caller chose the issue
// (spec-writing.md#claim).
const fresh = 5 * time.Second

// Fresh reports whether a claim of the issue would go by the snapshot. It is asked for anew where
// it is not known whose records count.
func (l *Ledger) Fresh(i claim.Issue, s Snapshot) bool {
	whole := len(s.Facts.Missing) == 0 && len(s.Facts.Doubts) == 0
	return whole && s.Facts.Issue.Same(i) && l.elapsed(s.Taken) <= fresh
}
