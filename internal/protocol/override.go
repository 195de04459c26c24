package protocol

import (
	"errors"
	"slices"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An Override is what somebody does to an issue past its worker. What people decide arrives late
// and may arrive twice: by an event that was delivered again, by a run that somebody repeated. So
// it names the moment at which the person spoke, and what began after it is left alone. A force
// and a revoke mean now by the zero Moment; a reset and a restart need one.
type Override struct {
	By, Reason string
	Moment     time.Time
}

// NewForce ends the current hold, or what was claimed up to the moment, and brings the labels in
// line. Until its next heartbeat or check the former holder may still act: that window is inherent
// (spec-writing.md#revoke-and-force). Nobody holding is a success; a label that holds it without
// any record is taken off, and an issue that is stuck without a holder begins again
// (lifecycle.Rules.Stuck). Of a moment that has passed, what was not confirmed yet is somebody
// else's beginning and stays, and where nothing is to be done the labels are left, too. The
// conclusion's Ended are the holds. word is random.
func NewForce(c *Config, i claim.Issue, o Override, word string) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		f := a.facts
		todo := f.Log.Live() // holds to end
		if !o.Moment.IsZero() {
			todo = slices.DeleteFunc(todo,
				func(c claim.Claim) bool { return !c.Held() || c.Created.After(o.Moment) })
			if len(todo) == 0 && (f.Log.Last.After(o.Moment) || !c.Rules.Stuck(f)) {
				return a.end
			}
		}

		if len(todo) == 0 && c.Rules.Stuck(f) {
			if err := a.write(restart(f, o, word)); err != nil {
				return a.fail(err)
			}
		}

		if len(todo) == 0 && o.Moment.IsZero() && c.Rules.BareHold(f) {
			if err := a.unlabel(c.Rules.Scheme.Hold); err != nil {
				return a.fail(err)
			}
		}

		for n, hold := range todo {
			if err := c.decides(hold); err != nil {
				return a.fail(err)
			}

			posting, err := a.record(a.facts, claim.Record{
				Kind:    claim.KindRelease,
				Worker:  hold.Record.Worker,
				Outcome: claim.OutcomeForced,
				By:      o.By,
				Reason:  fitting(o.Reason),
				At:      a.facts.Now,
			})
			posting.plain = n < len(todo)-1
			if err = unknownUnlessCall(i, a.post(posting, err)); err != nil {
				return a.fail(err)
			}

			a.end.Ended = append(a.end.Ended, hold)
		}

		return a.settleNow(nil)
	})
}

// unlabel takes a label off that no record has put on.
func (a *appending) unlabel(name string) error {
	off := labels.Change{Remove: []string{name}}
	s := a.do(Effects{
		Writes: []Write{{Kind: WriteRelabel, Labels: off}},
		Read:   true,
		Ask:    a.cfg.look().Ask,
	})
	if r := s.last(); r.Did != Applied {
		return &UnknownError{a.issue, r.Err}
	}

	a.posting.labels, a.posting.relabeled = off, true
	_ = a.show(s) // who has claimed it meanwhile gets the label back; without a snapshot labels are late
	return nil
}

// restart is the record by which an issue that is stuck begins again: nothing that was said before
// keeps it from being taken.
func restart(f lifecycle.Facts, o Override, word string) claim.Record {
	w := claim.Worker{Codename: byHand, FiringID: word}
	if n := len(f.Log.Claims); n > 0 {
		w = f.Log.Claims[n-1].Record.Worker
	}

	return claim.Record{
		Kind:    claim.KindReset,
		Worker:  w,
		By:      o.By,
		Reason:  fitting(o.Reason),
		Restart: true,
		At:      f.Now,
	}
}

// resets are the records that restart the count of attempts (spec.md#attempts), and let a person
// whose hold was cut short take the issue again: none if there was neither by the moment. A hold
// that had run out by then is named, because its end is still to be recorded; of another, time may
// have ended it by then although that was recorded later.
func resets(r lifecycle.Rules, f lifecycle.Facts, o Override) []claim.Record {
	var out []claim.Record
	add := func(c claim.Claim) {
		out = append(out, claim.Record{Kind: claim.KindReset, Worker: c.Record.Worker, By: o.By, At: f.Now})
	}

	agents := false
	for _, c := range o.unrecorded(r, f) {
		add(c)
		agents = agents || c.Person == ""
	}

	if n := len(f.Log.Attempts); n > 0 && !agents && o.after(r, f, f.Log.Attempts[0]) {
		last, _ := f.Log.Find(f.Log.Attempts[n-1].Worker)
		add(last)
	}

	ended := func(c claim.Claim) bool {
		return o.after(r, f, claim.Attempt{Worker: c.Record.Worker, Release: *c.End})
	}
	if last, until := r.CutShort(f.Log, ended); len(out) == 0 && f.Now.Before(until) {
		add(last)
	}

	return out
}

// unrecorded are the holds that had run out when somebody spoke, whose end would count.
func (o Override) unrecorded(r lifecycle.Rules, f lifecycle.Facts) []claim.Claim {
	then := f
	then.Now = o.Moment
	done, _, delivered := r.Delivered(f)

	return slices.DeleteFunc(r.Over(then), func(c claim.Claim) bool {
		handedOver := delivered && c.Record.Worker == done.Record.Worker
		waits := c.Person == "" || r.ContributorTTL > 0
		return !c.Held() || c.Reset || handedOver || !waits || f.ExpiryOutcome(c) != claim.OutcomeStaleSwept
	})
}

// after reports whether somebody spoke after the end of a hold. A store that names its worker still
// has the claim live.
func (o Override) after(r lifecycle.Rules, f lifecycle.Facts, a claim.Attempt) bool {
	c, _ := f.Log.Find(a.Worker)
	ranOut := a.Release.Outcome == claim.OutcomeStaleSwept && c.Over(r.Terms, o.Moment)
	return ranOut || !a.Release.At.After(o.Moment)
}

// NewRevoke asks the holder to stop at its next heartbeat or push; no second holder can arise from
// it (spec-writing.md#revoke-and-force). A holder who was asked before is not asked again. Nobody
// holding is a *LostError, a person's own hold an answer.Usage. The conclusion's Claim is the hold.
func NewRevoke(c *Config, i claim.Issue, o Override) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		holder, held := a.facts.Log.Holder()
		if !held {
			return a.fail(&LostError{Issue: i, Err: errors.New("nobody holds it")})
		}

		a.end.Claim = holder
		switch {
		case holder.Person != "" && claim.SameLogin(holder.Person, o.By):
			return a.fail(answer.Wrong(errors.New("the hold is this login's own: to end it, release it without --ask")))
		case holder.Revoked != nil:
			return a.end
		}

		return a.note(claim.Record{
			Kind:   claim.KindRevoke,
			Worker: holder.Record.Worker,
			By:     o.By,
			Reason: fitting(o.Reason),
			At:     a.facts.Now,
		})
	})
}

// NewReset restarts the count of attempts, and ends a person's wait after a hold, if there was
// either by the moment; the conclusion's Records tell whether it did. Labels are for the caller to
// bring in line: whoever resets usually takes needs:human-scope off as well.
func NewReset(c *Config, i claim.Issue, o Override) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		return a.note(resets(c.Rules, a.facts, o)...)
	})
}

// NewRestart begins an issue again that is stuck, if nothing was recorded after the moment; the
// conclusion's Records tell whether it did. Labels are for the caller to bring in line. word is
// random.
func NewRestart(c *Config, i claim.Issue, o Override, word string) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		if a.facts.Log.Last.After(o.Moment) || !c.Rules.Stuck(a.facts) {
			return a.end
		}
		return a.note(restart(a.facts, o, word))
	})
}

// NewUnlink records that a pull request is no longer for the issue, for every release that names it
// (spec-writing.md#unlink); the conclusion's Records tell whether there was one. Labels are for the
// caller to bring in line.
func NewUnlink(c *Config, i claim.Issue, pr lifecycle.PR, by string) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		var records []claim.Record
		for _, c := range a.facts.Log.Claims {
			if c.End != nil && !c.End.Unlinked && pr.At(c.End.PR) {
				records = append(records, unlink(a.facts, c, by))
			}
		}

		return a.note(records...)
	})
}

// unlink is the record that takes the pull request out of the release of a claim.
func unlink(f lifecycle.Facts, c claim.Claim, by string) claim.Record {
	return claim.Record{
		Kind:   claim.KindUnlink,
		Worker: c.Record.Worker,
		By:     by,
		PR:     c.End.PR,
		At:     f.Now,
	}
}
