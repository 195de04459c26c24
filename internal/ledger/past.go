package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// RecordFailure writes into the log an attempt that failed before there was a log, as worker w, in
// the name of by; reason is for people. It reports whether anything had to be written: with the same
// worker it counts once, however often it is asked, and a call that was interrupted is completed by
// the next.
//
// The end is written before its claim: a key whose end is known never holds the issue
// (spec.md#fold), so nobody is ever kept waiting by a past that is being told.
func (rs *records) RecordFailure(ctx context.Context, f lifecycle.Facts, w claim.Worker, by, reason string) (bool, error) {
	_, claimed := f.Log.Find(w)
	ended := f.Log.Dead(w)
	if !ended {
		r := claim.Record{Kind: claim.KindRelease, Worker: w, Outcome: claim.OutcomeFailure, By: by, Reason: reason, At: f.Now}
		if err := rs.tell(ctx, f.Issue, r, func(s claim.State) bool { return s.Dead(w) }); err != nil {
			return false, err
		}
	}
	if !claimed {
		r := claim.Record{Kind: claim.KindClaim, Worker: w, Nonce: rs.token(), Held: true, By: by, At: f.Now}
		if err := rs.tell(ctx, f.Issue, r, func(s claim.State) bool { _, ok := s.Find(w); return ok }); err != nil {
			return false, err
		}
	}
	return !ended || !claimed, nil
}

// tell posts a record of the past. The sentence beside a claim says that it is over.
func (rs *records) tell(ctx context.Context, i claim.Issue, r claim.Record, in func(claim.State) bool) error {
	text := sentence(lifecycle.Facts{}, r)
	if r.Kind == claim.KindClaim {
		text = "An attempt that failed before this log began" + by(r) + "."
	}
	body, err := claim.Body(r, text)
	if err != nil {
		return &CallError{err}
	}
	_, err = rs.append(ctx, i, body, func(s claim.State) (string, bool) { return "", in(s) })
	return wrapWrite(i, err)
}
