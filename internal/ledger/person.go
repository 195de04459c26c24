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

// An Assign says whose winning claims assign their login to the issue. The zero value is AssignPeople.
type Assign int

// Whose claims assign. An app is never assigned: GitHub does not know how.
const (
	AssignPeople Assign = iota
	AssignAll
	AssignNone
)

// An Assigner is a Forge that assigns logins to issues. Without it nobody is assigned.
type Assigner interface {
	// Assign assigns a login; one that cannot be assigned is dropped without an error.
	Assign(ctx context.Context, i claim.Issue, login string) error
	// Unassign takes a login off; one that is not assigned is success.
	Unassign(ctx context.Context, i claim.Issue, login string) error
}

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
	var over []string
	if a.force {
		v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool {
			passed := r.Code == lifecycle.CodeAssigned || r.Code == lifecycle.CodeHold && a.record.Person != "" || r.ByStranger()
			if passed {
				over = append(over, string(r.Code))
			}
			return passed
		})
	}
	return answered(f, v), strings.Join(over, ",")
}

// earlierRun is the claim that an earlier run of the caller posted under the same key and did not confirm.
func (a *attempt) earlierRun(f lifecycle.Facts) (claim.Claim, bool) {
	own, known := f.Log.Find(a.worker())
	return own, a.resume && known && own.Live() && !own.Held() && own.Comment != 0 && (own.WrittenBy(f.Viewer) || own.IsOf(f.Viewer))
}

// PersonStops is what is left of a verdict for a person who asks as f.Viewer: less than what stops a worker, because a
// person may well take what is paused, blocked or too vague, and has put the own label on for that.
func PersonStops(f lifecycle.Facts, v lifecycle.Verdict) lifecycle.Verdict {
	stops := []lifecycle.Code{
		lifecycle.CodeUnread, lifecycle.CodeInFlight, lifecycle.CodePROpen, lifecycle.CodeClosed,
		lifecycle.CodeAssigned, lifecycle.CodeOwn,
	}
	if !claim.SameLogin(f.HoldBy, f.Viewer) {
		stops = append(stops, lifecycle.CodeHold)
	}
	v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool { return !slices.Contains(stops, r.Code) })
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

// read is a snapshot between the steps of a claim.
func (a *attempt) read(ctx context.Context) (lifecycle.Facts, error) {
	f, err := a.logged(ctx, a.issue)
	if err == nil {
		f, err = a.by.between(ctx, a, f)
	}
	return a.asPerson(f), err
}

// asPerson is a snapshot as the person sees it for whom an app claims.
func (a *attempt) asPerson(f lifecycle.Facts) lifecycle.Facts {
	if a.record.By != "" {
		f.Viewer = a.record.Person
	}
	return f
}

// toAssign is the login that the claim is going to assign, empty for none. The record says so before it is done.
func (a *attempt) toAssign() string {
	f := a.facts
	wanted := a.set.Assign == AssignAll || a.set.Assign == AssignPeople && a.record.Person != ""
	assigned := slices.ContainsFunc(f.Assignees, func(login string) bool { return claim.SameLogin(login, f.Viewer) })
	if _, able := a.forge.(Assigner); !able || !wanted || assigned || f.Viewer == "" || claim.IsApp(f.Viewer) {
		return ""
	}
	return f.Viewer
}

// assign does what the record says. It is a mirror and never a condition.
func (a *attempt) assign(ctx context.Context) error {
	assigner, able := a.forge.(Assigner)
	if !able || a.record.Assignee == "" {
		return nil
	}
	return assigner.Assign(ctx, a.issue, a.record.Assignee)
}

// Assign does what the record of a live claim says, if a run that was cut off has not done it: it assigns its login.
func (l *Ledger) Assign(ctx context.Context, f lifecycle.Facts, c claim.Claim) error {
	there := slices.ContainsFunc(f.Assignees, func(login string) bool { return claim.SameLogin(login, c.Record.Assignee) })
	assigner, able := l.forge.(Assigner)
	if !able || there || c.Record.Assignee == "" || !c.Live() || !c.Held() {
		return nil
	}
	return assigner.Assign(ctx, f.Issue, c.Record.Assignee)
}

// unassign takes the login off that the claim of w has assigned, unless another live claim has assigned it too. That
// GitHub refuses it is no reason to keep the hold.
func (l *Ledger) unassign(ctx context.Context, f lifecycle.Facts, w claim.Worker) error {
	c, _ := f.Log.Find(w)
	assigner, able := l.forge.(Assigner)
	if !able || c.Record.Assignee == "" || !c.Held() || c.End != nil {
		return nil
	}
	for _, o := range f.Log.Live() {
		if o.Record.Worker != w && claim.SameLogin(o.Record.Assignee, c.Record.Assignee) {
			return nil
		}
	}
	if err := assigner.Unassign(ctx, f.Issue, c.Record.Assignee); err != nil && !lease.Rejected(err) {
		return err
	}
	return nil
}

// ClaimPerson takes the issue for the person with that login, without an end; the token must be the person's. Idempotent: who holds
// the issue as a person already, be it since a moment ago by another program, gets that hold. force is Request.Force. Errors are those of
// Claim; an app is no person, and a *CallError.
func (l *Ledger) ClaimPerson(ctx context.Context, i claim.Issue, login string, force bool) (Hold, error) {
	if login == "" || claim.IsApp(login) {
		return Hold{}, callError("the token is of %q, which is no person", login)
	}
	for n := 0; ; n++ {
		h, err := l.Claim(ctx, i, Request{Worker: claim.Worker{Codename: login}, TTL: claim.NoExpiry, Person: login, Force: force})
		if n == l.set.Patience || !isOwn(err, login) {
			return h, err
		}
		start := l.clock.Now()
		f, err := l.facts(ctx, i)
		if err != nil {
			return Hold{}, err
		}
		if mine, held := f.Log.Holder(); held && mine.Held() && mine.IsOf(login) {
			h := l.holdAfterRenewal(f, mine, lease.Lease{}, start)
			h.Unassigned = l.Assign(ctx, f, mine)
			return h, nil
		}
		if err := l.clock.Sleep(ctx, backoff(n)); err != nil { // the other program has not confirmed yet
			return Hold{}, &UnknownError{i, err}
		}
	}
}

// isOwn reports whether a claim was refused because of a claim of the same person.
func isOwn(err error, login string) bool {
	var held *HeldError
	if !errors.As(err, &held) {
		return false
	}
	return held.Yielded != nil && held.Yielded.IsOf(login) || slices.ContainsFunc(held.Verdict.Reasons, func(r lifecycle.Reason) bool {
		return r.Claim != nil && r.Claim.IsOf(login)
	})
}
