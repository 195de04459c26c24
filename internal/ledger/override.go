package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// overrides is what people do to an issue past its worker.
type overrides struct {
	*base
	snapshots *snapshots
	records   *records
	labelling *labelling
}

// Force ends whatever hold stands, in the name of by. Until its next heartbeat or check the
// former holder may still act: that window is inherent (spec.md#revoke-and-force). Nobody holding is a success; an
// issue that is stuck without a holder begins again (lifecycle.Rules.Stuck).
func (ov *overrides) Force(ctx context.Context, i claim.Issue, by, reason string) (Repair, []claim.Claim, error) {
	f, err := ov.snapshots.Look(ctx, i)
	if err != nil {
		return Repair{Issue: i}, nil, err
	}
	return ov.force(ctx, f, f.Log.Live(), by, reason)
}

// Revoke asks the holder to stop at its next heartbeat or push; no second holder can arise from
// it (spec.md#revoke-and-force). Nobody holding is a *LostError.
func (ov *overrides) Revoke(ctx context.Context, i claim.Issue, by, reason string) (claim.Claim, error) {
	f, err := ov.snapshots.Look(ctx, i)
	if err != nil {
		return claim.Claim{}, err
	}
	c, held := f.Log.Holder()
	if !held {
		return c, &LostError{Issue: i, Err: errors.New("nobody holds it")}
	}
	r := claim.Record{Kind: claim.KindRevoke, Worker: c.Record.Worker, By: by, Reason: reason, At: f.Now}
	_, err = ov.records.do(ctx, f, r)
	return c, wrapWrite(i, err)
}

// force ends claims and brings the labels in line.
func (ov *overrides) force(ctx context.Context, f lifecycle.Facts, claims []claim.Claim, by, reason string) (Repair, []claim.Claim, error) {
	var ended []claim.Claim
	for _, c := range claims {
		if err := ov.decides(f.Issue, c); err != nil {
			return Repair{Issue: f.Issue}, ended, err
		}
		r := claim.Record{Kind: claim.KindRelease, Worker: c.Record.Worker, Outcome: claim.OutcomeForced, By: by, Reason: reason, At: f.Now}
		if _, err := ov.records.do(ctx, f, r); err != nil {
			return Repair{Issue: f.Issue}, ended, wrapWrite(f.Issue, err)
		}
		ended = append(ended, c)
	}
	if len(claims) == 0 {
		if _, err := ov.restart(ctx, f, by, reason); err != nil {
			return Repair{Issue: f.Issue}, nil, err
		}
	}
	rep, err := ov.labelling.rereadAndReconcile(ctx, f)
	return rep, ended, err
}

// ForceBefore ends, in the name of by, the holds that were claimed up to a moment
// (spec.md#revoke-and-force) and brings the labels in line. Without any it is a success and touches nothing. What was not
// confirmed yet is somebody else's beginning and stays.
func (ov *overrides) ForceBefore(ctx context.Context, i claim.Issue, moment time.Time, by, reason string) (Repair, []claim.Claim, error) {
	f, err := ov.snapshots.Look(ctx, i)
	if err != nil {
		return Repair{Issue: i}, nil, err
	}
	older := slices.DeleteFunc(f.Log.Live(), func(c claim.Claim) bool { return !c.Held() || c.Created.After(moment) })
	if len(older) == 0 && (f.Log.Last.After(moment) || !ov.set.Rules.Stuck(f)) {
		return Repair{Issue: i}, nil, nil
	}
	return ov.force(ctx, f, older, by, reason)
}

// Reset counts attempts anew if one had failed by that moment, in the name of by, and reports
// whether it did (spec.md#attempts). Labels are for the caller to bring in line: whoever resets
// usually takes needs:human-scope off as well.
func (ov *overrides) Reset(ctx context.Context, i claim.Issue, moment time.Time, by string) (bool, error) {
	f, err := ov.snapshots.Look(ctx, i)
	if err != nil {
		return false, err
	}
	if len(f.Log.Attempts) == 0 || f.Log.Attempts[0].Release.At.After(moment) {
		return false, nil
	}
	last := f.Log.Attempts[len(f.Log.Attempts)-1]
	r := claim.Record{Kind: claim.KindReset, Worker: last.Worker, By: by, At: f.Now}
	_, err = ov.records.do(ctx, f, r)
	return err == nil, wrapWrite(i, err)
}

// Restart begins an issue again that is stuck, in the name of by, if nothing was recorded after that moment, and reports
// whether it did. Labels are for the caller to bring in line.
func (ov *overrides) Restart(ctx context.Context, i claim.Issue, moment time.Time, by, reason string) (bool, error) {
	f, err := ov.snapshots.Look(ctx, i)
	if err != nil || f.Log.Last.After(moment) {
		return false, err
	}
	return ov.restart(ctx, f, by, reason)
}

// restart records that an issue which is stuck begins again: nothing that was said before keeps it from being taken.
func (ov *overrides) restart(ctx context.Context, f lifecycle.Facts, by, reason string) (bool, error) {
	if !ov.set.Rules.Stuck(f) {
		return false, nil
	}
	w := claim.Worker{Codename: byHand, FiringID: ov.token()}
	if n := len(f.Log.Claims); n > 0 {
		w = f.Log.Claims[n-1].Record.Worker
	}
	r := claim.Record{Kind: claim.KindReset, Worker: w, By: by, Reason: reason, Restart: true, At: f.Now}
	_, err := ov.records.do(ctx, f, r)
	return err == nil, wrapWrite(f.Issue, err)
}
