package ledger

import (
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Unlink records, in the name of by, that a pull request is not for the issue any more, for every release that
// names it (spec.md#unlink). It reports whether there was one. Labels are for the caller to bring in line.
func (l *Ledger) Unlink(ctx context.Context, i claim.Issue, pr lifecycle.PR, by string) (bool, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return false, err
	}
	var of []claim.Claim
	for _, c := range f.Log.Claims {
		if c.End != nil && !c.End.Unlinked && pr.At(c.End.PR) {
			of = append(of, c)
		}
	}
	return len(of) > 0, l.unlink(ctx, f, of, by)
}

// unlink takes the pull requests out of the releases of claims.
func (l *Ledger) unlink(ctx context.Context, f lifecycle.Facts, of []claim.Claim, by string) error {
	for _, c := range of {
		r := claim.Record{Kind: claim.KindUnlink, Worker: c.Record.Worker, By: by, PR: c.End.PR, At: f.Now}
		if _, err := l.do(ctx, f, r); err != nil {
			return wrapWrite(f.Issue, err)
		}
	}
	return nil
}

// Restart begins an issue again that is stuck, in the name of by, if nothing was recorded after that moment, and reports
// whether it did. Labels are for the caller to bring in line.
func (l *Ledger) Restart(ctx context.Context, i claim.Issue, moment time.Time, by, reason string) (bool, error) {
	f, err := l.facts(ctx, i)
	if err != nil || f.Log.Last.After(moment) {
		return false, err
	}
	return l.restart(ctx, f, by, reason)
}

// restart records that an issue which is stuck begins again: nothing that was said before keeps it from being taken.
func (l *Ledger) restart(ctx context.Context, f lifecycle.Facts, by, reason string) (bool, error) {
	if !l.set.Rules.Stuck(f) {
		return false, nil
	}
	w := claim.Worker{Codename: byHand, FiringID: l.token()}
	if n := len(f.Log.Claims); n > 0 {
		w = f.Log.Claims[n-1].Record.Worker
	}
	r := claim.Record{Kind: claim.KindReset, Worker: w, By: by, Reason: reason, Restart: true, At: f.Now}
	_, err := l.do(ctx, f, r)
	return err == nil, wrapWrite(f.Issue, err)
}
