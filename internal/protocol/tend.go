package protocol

import (
	"cmp"
	"slices"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// NewTend does for one issue what a sweep does (spec-writing.md#sweep): it writes the record of a
// hold that only the lease store knows, counts attempts anew where a person saw to the issue, hands
// a hold over whose pull request is there, or ends the holds whose time is over, takes out pull
// requests that are no longer for the issue, counts a reaction as the answer to a plan, begins a
// stuck issue again that a person put into the queue, and brings the labels in line. answer is what
// a reaction says, nil for none. word is random. The conclusion tells in Ended, Swept, Mirrored and
// Answered what was done.
func NewTend(c *Config, i claim.Issue, by string, answer *Answer, word string) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		t := tending{a, by, word}
		if hold, missing := Unmirrored(a.facts); missing {
			a.end.Mirrored = &hold
			if err := a.write(t.mirror(hold)); err != nil {
				return a.fail(err)
			}
			if a.unread != nil {
				return a.fail(a.unread)
			}
		}

		moment, unknown := t.relief()
		relieved, err := t.relieve(moment)
		switch {
		case err != nil:
			return a.fail(err)
		case a.unread != nil:
			return a.settleNow(nil)
		}

		moved, err := t.expire()
		switch {
		case err != nil:
			return a.fail(err)
		case unknown != nil: // the labels stay until it is known
			return a.fail(unknown)
		case relieved, moved:
			return a.settleNow(nil)
		case answer != nil:
			return t.vote(*answer)
		}

		return t.restart()
	})
}

// tending is a sweep of an issue.
type tending struct {
	*appending
	by   string
	word string
}

// mirror is the record of a hold that the log has never heard of, on behalf of its worker
// (spec.md#fold).
func (t tending) mirror(hold claim.Claim) claim.Record {
	record := hold.Record
	record.Nonce, record.By, record.Lease, record.At = cmp.Or(record.Nonce, t.word), t.by, t.cfg.Store, t.facts.Now
	record.Attempt = confirmed(t.facts.Log) // the hold itself is among them
	return record
}

// expire ends the hold whose work is there, or those whose lease and grace are over, and takes out
// the pull requests that are no longer for the issue. It reports whether it did anything.
func (t tending) expire() (moved bool, err error) {
	hold, pr, delivered := t.cfg.Rules.Delivered(t.facts)
	if delivered {
		if err := t.cfg.decides(hold); err != nil {
			return false, &UnknownError{t.issue, err}
		}

		// Such a hold was not idle: it is handed over, whatever its lease says, because the event
		// that should have done it may be lost.
		record := expiry(t.facts, hold, t.by)
		record.Outcome, record.PR, record.Closes = claim.OutcomeSuccess, pr.URL, !pr.Bare
		if err := t.write(record); err != nil {
			return false, err
		}
		t.end.Ended = append(t.end.Ended, hold)
	}

	for hold, over := t.expired(); over && !delivered && t.unread == nil; hold, over = t.expired() {
		if err := t.write(expiry(t.facts, hold, t.by)); err != nil {
			return false, err
		}
		t.end.Ended = append(t.end.Ended, hold)
		t.end.Swept++
	}

	var unlinked []claim.Worker
	known := func(hold claim.Claim) bool { return slices.Contains(unlinked, hold.Record.Worker) }
	for t.unread == nil {
		left := slices.DeleteFunc(t.facts.Unlinked(), known)
		if len(left) == 0 {
			break
		}
		if err := t.write(unlink(t.facts, left[0], t.by)); err != nil {
			return false, err
		}
		unlinked = append(unlinked, left[0].Record.Worker)
	}

	return len(t.end.Ended)+len(unlinked) > 0, nil
}

// expired is the next hold whose lease and grace are over. Those that were ended are not ended
// again, whatever a late snapshot shows.
func (t tending) expired() (claim.Claim, bool) {
	for _, hold := range t.cfg.Rules.Over(t.facts) {
		is := func(e claim.Claim) bool { return e.Record.Worker == hold.Record.Worker }
		if !slices.ContainsFunc(t.end.Ended, is) {
			return hold, true
		}
	}

	return claim.Claim{}, false
}

// expiry is the record by which somebody else ends a hold, because its time is over
// (spec-writing.md#expire) unless another outcome is put into it.
func expiry(f lifecycle.Facts, hold claim.Claim, by string) claim.Record {
	return claim.Record{
		Kind:    claim.KindRelease,
		Worker:  hold.Record.Worker,
		Outcome: f.ExpiryOutcome(hold),
		By:      by,
		Attempt: hold.Record.Attempt,
		At:      f.Now,
	}
}

// vote records the answer that a reaction gives. That the plan had its answer meanwhile is not an
// error.
func (t tending) vote(said Answer) Conclusion {
	record, err := said.record(t.cfg, t.facts)
	if err == nil {
		err = t.write(record)
	}
	if err == nil && t.unread == nil {
		err = t.answered(record)
		t.end.Answered = err == nil
	}

	switch {
	case tooLate(err):
		return t.settle(nil)
	case err != nil:
		return t.fail(err)
	}

	return t.settleNow(nil)
}

// tooLate reports whether an answer came too late, or from somebody who may not give it.
func tooLate(err error) bool {
	return answer.Is(err, answer.NoPlan) || answer.Is(err, answer.Barred)
}

// relief is who took needs:human-scope off, if that event may have been lost; nobody where it was no
// person, whose removal was a slip: the label comes back (spec-writing.md#sweep).
func (t tending) relief() (o Override, err error) {
	if !t.cfg.Rules.Relieved(t.facts) {
		return o, nil
	}

	g, err := t.moved(LabelMoved{Label: t.cfg.Rules.Scheme.NeedsScope})
	if g.Person {
		o = Override{By: g.By, Moment: g.At}
	}

	return o, err
}

// relieve counts attempts anew if that person, if there is one, spoke after the last of them. It
// reports whether it wrote anything.
func (t tending) relieve(o Override) (bool, error) {
	c, f := t.cfg, t.facts
	later := func(a claim.Attempt) bool { return !o.after(c.Rules, f, a) }
	if o.By == "" || slices.ContainsFunc(f.Log.Attempts, later) {
		return false, nil
	}

	for _, r := range resets(c.Rules, f, o) {
		if err := t.write(r); err != nil || t.unread != nil {
			return false, err
		}
	}

	return true, nil
}

// restart begins an issue again that is stuck, if a person put it into the queue and that event was
// lost; what an account's tool wrote beside a record of the same account is not a person's wish.
func (t tending) restart() Conclusion {
	c, f := t.cfg, t.facts
	if !c.Rules.Wished(f) {
		return t.settle(nil)
	}

	for _, queue := range c.Rules.Scheme.Queues() {
		g, err := t.moved(LabelMoved{Label: queue, On: true})
		if err != nil {
			return t.fail(err)
		}
		if g.Person && g.At.After(f.Log.Last) && !g.ByTool(f.Log) {
			wish := Override{By: g.By, Reason: "put into the queue by hand"}
			if err := t.write(restart(f, wish, t.word)); err != nil {
				return t.fail(err)
			}
			return t.settleNow(nil)
		}
	}

	return t.settle(nil)
}

// moved asks who moved a label last.
func (t tending) moved(m LabelMoved) (Removal, error) {
	got := t.do(Effects{Ask: Ask{Moved: &m}}).Replies
	if got.Err != nil {
		return Removal{}, &UnknownError{t.issue, got.Err}
	}
	return got.Moved, nil
}

// around is how far from a record of somebody's the same account's change of a label still counts
// as part of that step.
const around = 2 * time.Minute

// ByTool reports whether the change was made beside a record of the same account: their tool wrote
// both.
func (g Removal) ByTool(s claim.State) bool {
	return slices.ContainsFunc(s.Log, func(e claim.Entry) bool {
		return e.Record.Kind != claim.KindClaim && claim.SameLogin(e.Author, g.By) &&
			e.Created.Sub(g.At).Abs() <= around
	})
}

// Unmirrored is the hold that a lease store knows and the log has never heard of.
func Unmirrored(f lifecycle.Facts) (claim.Claim, bool) {
	for _, c := range f.Log.Live() {
		if c.Stored && len(c.Ranks) == 0 {
			return c, true
		}
	}
	return claim.Claim{}, false
}

// confirmed counts the claims that were ever confirmed.
func confirmed(s claim.State) int {
	n := 0
	for _, c := range s.Claims {
		if c.Held() {
			n++
		}
	}

	return n
}
