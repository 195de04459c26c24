package ledger

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// stopping keeps the reasons of a verdict that stop this claim, and names those that are passed over by force.
func (a *attempt) stopping(f lifecycle.Facts, v lifecycle.Verdict) (stops lifecycle.Verdict, forced string) {
	if v.Answer == lifecycle.Unknown {
		return v, ""
	}
	if a.record.Person != "" {
		v = PersonStops(f, v)
	}
	if _, begun := a.earlierRun(f); begun {
		v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeOwn })
	}
	if a.record.Resumes != "" { // what keeps others from taking the issue does not end a hold
		v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool {
			return r.Code != lifecycle.CodeClosed && r.Code != lifecycle.CodeHold
		})
	}
	var over []string
	if a.req.Force {
		v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool {
			force := r.Code.Meaning().Force
			passed := force == lifecycle.ForcePasses || force == lifecycle.ForcePerson && a.record.Person != "" || r.ByStranger()
			if passed {
				over = append(over, string(r.Code))
			}
			return passed
		})
	}
	return answered(f, v), strings.Join(over, ",")
}

// earlierRun is the claim that an earlier run of the same process posted and did not confirm.
func (a *attempt) earlierRun(f lifecycle.Facts) (claim.Bid, bool) {
	w, nonce := a.record.Worker, a.record.Nonce
	own, known := f.Log.Bid(w, nonce)
	if !known || own.Held() || f.Log.Over(w, nonce) {
		return claim.Bid{}, false
	}
	c, _ := f.Log.Find(w)
	return own, c.WrittenBy(f.Viewer) || c.As(nonce).IsOf(f.Viewer)
}

// PersonStops is what is left of a verdict for a person who asks as f.Viewer: less than what stops a worker, because a
// person may well take what is paused, blocked or too vague, and has put the own label on for that.
func PersonStops(f lifecycle.Facts, v lifecycle.Verdict) lifecycle.Verdict {
	v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool {
		return !r.Code.Meaning().Person || r.Code == lifecycle.CodeHold && claim.SameLogin(f.HoldBy, f.Viewer)
	})
	return answered(f, v)
}

// answered is a verdict after reasons were left out of it: without any it is free, unless something could not be read.
func answered(f lifecycle.Facts, v lifecycle.Verdict) lifecycle.Verdict {
	switch {
	case len(v.Reasons) > 0:
	case len(f.Doubts) > 0:
		v.Answer = lifecycle.Unknown
		for _, d := range f.Doubts {
			v.Reasons = append(v.Reasons, lifecycle.Reason{Code: lifecycle.CodeUnread, Text: d})
		}
	default:
		v.Answer = lifecycle.Free
	}
	return v
}

// ClaimPerson takes the issue for the person with that login, without an end; the token must be the person's. Idempotent: who holds
// the issue as a person already, be it since a moment ago by another program, gets that hold. force is Request.Force. Errors are those of
// Claim; an app is no person, and a *CallError.
func (cs *claims) ClaimPerson(ctx context.Context, i claim.Issue, login string, force bool) (Hold, error) {
	if login == "" || claim.IsApp(login) {
		return Hold{}, callError("the token is of %q, which is no person", login)
	}
	for n := 0; ; n++ {
		h, err := cs.Claim(ctx, i, Request{Worker: claim.Worker{Codename: login}, TTL: claim.NoExpiry, Person: login, Force: force})
		var held *HeldError // because of a claim of the same person?
		own := errors.As(err, &held) && (held.Yielded != nil && held.Yielded.IsOf(login) ||
			slices.ContainsFunc(held.Verdict.Reasons, func(r lifecycle.Reason) bool { return r.Claim != nil && r.Claim.IsOf(login) }))
		if n == cs.set.Patience || !own {
			return h, err
		}
		start := cs.clock.Now()
		f, err := cs.snapshots.Look(ctx, i)
		if err != nil {
			return Hold{}, err
		}
		if mine, held := f.Log.Holder(); held && mine.Held() && mine.IsOf(login) {
			h := cs.holds.holdAfterRenewal(f, mine, lease.Lease{}, start)
			h.Unassigned = cs.records.Assign(ctx, f, mine)
			return h, nil
		}
		if err := cs.clock.Sleep(ctx, backoff(n)); err != nil { // the other program has not confirmed yet
			return Hold{}, &UnknownError{Issue: i, Err: err}
		}
	}
}
