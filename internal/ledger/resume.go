package ledger

import (
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// MayResume reports whether a claim would take over the hold of another process by the snapshot; it asks nobody. Errors are those of Claim.
func (cs *claims) MayResume(f lifecycle.Facts, req Request) (bool, error) {
	a, err := cs.attempt(f.Issue, req)
	if err != nil {
		return false, err
	}
	return a.takesOver(f)
}

// takesOver makes the attempt one that takes over the hold of another process with the same key, if the caller wants that and the key has a
// hold (spec.md#resuming). The new claim is a process's own, with a nonce of its own, and says all that the old one says. The error is a
// *LostError where the hold has ended, and a *HeldError where it is not one that can be taken over.
func (a *attempt) takesOver(f lifecycle.Facts) (bool, error) {
	own, known := f.Log.Find(a.record.Worker)
	mine := own.Live() && a.req.Mine != "" && a.req.Mine == own.Record.Nonce
	if !known || !a.req.Resume && !mine {
		return false, nil
	}
	if own.Live() && !a.resumable(f, own) {
		return false, a.held(a.set.Rules.Verdict(f, lifecycle.Seeker{Worker: a.record.Worker}))
	}
	err := f.Log.RefuseRenewal(a.record.Worker, f.Viewer, a.set.Rules.Terms, f.Now, 0)
	if err == nil && f.Log.Over(a.record.Worker, a.record.Nonce) { // for the log alone: a store has it still
		err = claim.ErrEnded
	}
	if err != nil {
		return false, a.lost(f, a.record.Worker, err)
	}

	r := own.Record
	r.Nonce, r.Resumes, r.Held, r.Token, r.By, r.Lease = a.record.Nonce, own.Record.Nonce, false, 0, a.record.By, ""
	if a.record.TTL != 0 {
		r.TTL = a.record.TTL
	}
	if a.record.Branch != "" {
		r.Branch = a.record.Branch
	}
	a.record, a.takes = r, own.Record.Token
	if !own.Stored {
		a.limit, a.limited = own.Until(a.set.Rules.Terms)
	}
	return true, nil
}

// resumable reports whether the live claim is a hold that another process may take over: one of a process, which is not part of an
// unfinished bundle, and that no other process is claiming now.
func (a *attempt) resumable(f lifecycle.Facts, own claim.Claim) bool {
	terms := a.set.Rules.Terms
	for _, b := range own.Standing() {
		if !b.Held() && f.Now.Before(b.Updated.Add(terms.Pending+terms.Grace)) {
			return false
		}
	}
	return own.Held() && own.Record.Nonce != "" && !own.Provisional()
}
