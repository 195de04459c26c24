package ledger

import (
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// snapshots reads issues: the log of each, who holds it by the decider, and the verdict.
type snapshots struct{ *base }

// Look reads the issue: its log, and who holds it by the decider. Errors are *UnknownError.
func (sn *snapshots) Look(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	f, err := sn.logged(ctx, i)
	if err != nil {
		return f, err
	}
	return sn.Ruled(ctx, f)
}

// Check reads the issue and answers whether the seeker may take it. An error is the answer
// "could not find out", as an *UnknownError.
func (sn *snapshots) Check(ctx context.Context, i claim.Issue,
	who lifecycle.Seeker,
) (lifecycle.Facts, lifecycle.Verdict, error) {
	f, err := sn.Look(ctx, i)
	if err != nil {
		return f, lifecycle.Verdict{}, err
	}
	judge := func(f lifecycle.Facts) lifecycle.Verdict { return sn.set.Rules.Verdict(f, who) }
	f, v, err := sn.judge(f, judge)
	if err != nil || v.Answer != lifecycle.Free {
		return f, v, err
	}

	if f, err = sn.limited(ctx, f, who); err != nil {
		return f, v, err
	}
	return sn.judge(f, judge)
}

// CheckForced is Check for a claim with force. What it may not end, and not pass over, is in
// beyond: a hold is not ended for a claim that is refused anyway.
func (sn *snapshots) CheckForced(ctx context.Context, i claim.Issue,
	who lifecycle.Seeker,
) (f lifecycle.Facts, v, beyond lifecycle.Verdict, err error) {
	f, v, err = sn.Check(ctx, i, who)
	beyond = sn.set.Rules.BeyondForce(f, v, who.Person)
	if err != nil || v.Answer == lifecycle.Free || len(beyond.Reasons) > 0 {
		return f, v, beyond, err
	}

	limited, err := sn.limited(ctx, f, who)
	if err == nil {
		beyond = sn.set.Rules.BeyondForce(f, sn.set.Rules.Verdict(limited, who), who.Person)
	}
	return f, v, beyond, err
}

// judge asks for the verdict of a snapshot. Its error is an *UnknownError, "could not find out".
func (sn *snapshots) judge(f lifecycle.Facts,
	ask func(lifecycle.Facts) lifecycle.Verdict,
) (lifecycle.Facts, lifecycle.Verdict, error) {
	f = sn.Here(f)
	v, err := sn.config().Judge(f, ask)
	return f, v, err
}

// logged is the snapshot as the log has it, whatever a store says.
func (sn *snapshots) logged(ctx context.Context, i claim.Issue) (lifecycle.Facts, error) {
	got := sn.forge.FactsOf(ctx, []claim.Issue{i})[0]
	return sn.whole(i, got.Facts, got.Err)
}

// Ruled lays over a snapshot that was made without the ledger who holds the issue. The error is an
// *UnknownError.
func (sn *snapshots) Ruled(ctx context.Context, f lifecycle.Facts) (lifecycle.Facts, error) {
	l, err := sn.leases.look(ctx, f.Issue)
	if err != nil {
		return f, err
	}
	return sn.config().Ruled(f, l), nil
}

// fresh is how long a claim may go by the snapshot by which its caller chose the issue
// (spec-writing.md#claim).
const fresh = 5 * time.Second

// Fresh reports whether a claim of the issue would go by the snapshot. It is asked for anew where
// it is not known whose records count.
func (sn *snapshots) Fresh(i claim.Issue, s Snapshot) bool {
	whole := len(s.Facts.Missing) == 0 && len(s.Facts.Doubts) == 0
	return whole && s.Facts.Issue == i && sn.elapsed(s.Taken) <= fresh
}
