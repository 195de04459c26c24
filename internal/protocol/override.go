package protocol

import (
	"errors"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
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
// (spec-writing.md#revoke-and-force). Nobody holding is a success; an issue that is stuck without a
// holder begins again (lifecycle.Rules.Stuck). Of a moment that has passed, what was not confirmed
// yet is somebody else's beginning and stays, and where nothing is to be done the labels are left,
// too. The conclusion's Ended are the holds. word is random.
func NewForce(c *Config, i claim.Issue, o Override, word string) Append {
	return newAppend(c, i, forcing{override: o, word: word})
}

// forcing is the rule of a forced release.
type forcing struct {
	override Override
	word     string

	begun bool
	todo  []claim.Claim // holds to end
	ended []claim.Claim
}

func (r forcing) next(c *Config, t turn) (rule, move) {
	o, f := r.override, t.facts
	if !r.begun {
		r.begun = true
		r.todo = f.Log.Live()
		if !o.Moment.IsZero() {
			r.todo = slices.DeleteFunc(r.todo,
				func(c claim.Claim) bool { return !c.Held() || c.Created.After(o.Moment) })
			if len(r.todo) == 0 && (f.Log.Last.After(o.Moment) || !c.Rules.Stuck(f)) {
				return nil, move{}
			}
		}

		if len(r.todo) == 0 && c.Rules.Stuck(f) {
			record := restart(f, o, r.word)
			return r, move{record: &record}
		}
	} else if t.wrote != nil {
		return nil, move{err: unknownUnlessCall(f.Issue, t.wrote), with: Conclusion{Ended: r.ended}}
	} else if len(r.todo) > 0 {
		r.ended, r.todo = append(r.ended[:len(r.ended):len(r.ended)], r.todo[0]), r.todo[1:]
	}

	if len(r.todo) == 0 {
		return nil, move{relabel: true, late: true, with: Conclusion{Ended: r.ended}}
	}
	if err := c.decides(r.todo[0]); err != nil {
		return nil, move{err: err, with: Conclusion{Ended: r.ended}}
	}

	record := claim.Record{
		Kind:    claim.KindRelease,
		Worker:  r.todo[0].Record.Worker,
		Outcome: claim.OutcomeForced,
		By:      o.By,
		Reason:  o.Reason,
		At:      f.Now,
	}

	return r, move{record: &record, plain: len(r.todo) > 1}
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
		Reason:  o.Reason,
		Restart: true,
		At:      f.Now,
	}
}

// reset is the record that restarts the count of attempts; false says that none had failed by the
// moment (spec.md#attempts).
func reset(f lifecycle.Facts, o Override) (claim.Record, bool) {
	n := len(f.Log.Attempts)
	if n == 0 || f.Log.Attempts[0].Release.At.After(o.Moment) {
		return claim.Record{}, false
	}

	return claim.Record{
		Kind:   claim.KindReset,
		Worker: f.Log.Attempts[n-1].Worker,
		By:     o.By,
		At:     f.Now,
	}, true
}

// NewRevoke asks the holder to stop at its next heartbeat or push; no second holder can arise from
// it (spec-writing.md#revoke-and-force). Nobody holding is a *LostError. The conclusion's Claim is
// the hold.
func NewRevoke(c *Config, i claim.Issue, o Override) Append {
	return newAppend(c, i, noting{judge: func(c *Config, f lifecycle.Facts) ([]claim.Record, Conclusion) {
		holder, held := f.Log.Holder()
		if !held {
			return nil, Conclusion{Err: &LostError{Issue: f.Issue, Err: errors.New("nobody holds it")}}
		}

		r := claim.Record{
			Kind:   claim.KindRevoke,
			Worker: holder.Record.Worker,
			By:     o.By,
			Reason: o.Reason,
			At:     f.Now,
		}

		return []claim.Record{r}, Conclusion{Claim: holder}
	}})
}

// NewReset restarts the count of attempts if one had failed by the moment; the conclusion's Records
// tell whether it did. Labels are for the caller to bring in line: whoever resets usually takes
// needs:human-scope off as well.
func NewReset(c *Config, i claim.Issue, o Override) Append {
	return newAppend(c, i, noting{judge: func(c *Config, f lifecycle.Facts) ([]claim.Record, Conclusion) {
		if r, due := reset(f, o); due {
			return []claim.Record{r}, Conclusion{}
		}
		return nil, Conclusion{}
	}})
}

// NewRestart begins an issue again that is stuck, if nothing was recorded after the moment; the
// conclusion's Records tell whether it did. Labels are for the caller to bring in line. word is
// random.
func NewRestart(c *Config, i claim.Issue, o Override, word string) Append {
	return newAppend(c, i, noting{judge: func(c *Config, f lifecycle.Facts) ([]claim.Record, Conclusion) {
		if f.Log.Last.After(o.Moment) || !c.Rules.Stuck(f) {
			return nil, Conclusion{}
		}
		return []claim.Record{restart(f, o, word)}, Conclusion{}
	}})
}

// NewUnlink records that a pull request is no longer for the issue, for every release that names it
// (spec-writing.md#unlink); the conclusion's Records tell whether there was one. Labels are for the
// caller to bring in line.
func NewUnlink(c *Config, i claim.Issue, pr lifecycle.PR, by string) Append {
	return newAppend(c, i, noting{judge: func(_ *Config, f lifecycle.Facts) (out []claim.Record, end Conclusion) {
		for _, c := range f.Log.Claims {
			if c.End != nil && !c.End.Unlinked && pr.At(c.End.PR) {
				out = append(out, unlink(f, c, by))
			}
		}
		return out, end
	}})
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

// noting is the rule of records that follow from one snapshot alone, and after which no label is
// touched.
type noting struct {
	judge func(*Config, lifecycle.Facts) ([]claim.Record, Conclusion)

	begun bool
	todo  []claim.Record
	end   Conclusion
}

func (r noting) next(c *Config, t turn) (rule, move) {
	if !r.begun {
		r.begun = true
		r.todo, r.end = r.judge(c, t.facts)
	}

	switch n := len(t.records); {
	case t.wrote != nil:
		r.end.Err = unknownUnlessCall(t.facts.Issue, t.wrote)
	case n < len(r.todo):
		return r, move{record: &r.todo[n], plain: true}
	}

	r.end.Records = t.records
	return nil, move{err: r.end.Err, with: r.end}
}
