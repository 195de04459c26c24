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
// hold that only the lease store knows, hands a hold over whose pull request is there, or ends the
// holds whose time is over, takes out pull requests that are no longer for the issue, counts a
// reaction as the answer to a plan, begins a stuck issue again that a person put into the queue,
// and brings the labels in line. answer is what a reaction says, nil for none. word is random. The
// conclusion tells in Ended, Swept, Mirrored and Answered what was done.
func NewTend(c *Config, i claim.Issue, by string, answer *Answer, word string) Append {
	r := tending{by: by, word: word}
	if answer != nil {
		r.answer, r.votes = *answer, true
	}
	return newAppend(c, i, r)
}

// tending is the rule of a sweep.
type tending struct {
	by     string
	word   string
	answer Answer
	votes  bool

	doing    tendingStep // what the last record was for
	queue    int         // of the queues that may have been wished for, those that were looked up
	unlinked []claim.Worker
	last     claim.Claim // whose end was written
	end      Conclusion
}

type tendingStep int

const (
	tendingBegins tendingStep = iota
	tendingMirrors
	tendingDelivers
	tendingExpires
	tendingUnlinks
	tendingAnswers
	tendingRestarts
	tendingResets
)

func (r tending) next(c *Config, t turn) (rule, move) {
	if t.wrote != nil { // a record may not be there
		return nil, r.ends(move{err: &UnknownError{t.facts.Issue, t.wrote}})
	}

	if t.reply == nil {
		r = r.done()
	}

	if t.err != nil && r.doing == tendingMirrors {
		return nil, r.ends(move{err: t.err})
	}
	if t.err != nil {
		return nil, r.ends(move{relabel: true, late: true})
	}

	f := t.facts
	if r.doing < tendingMirrors {
		if hold, missing := Unmirrored(f); missing {
			record := r.mirror(c, f, hold)
			r.doing, r.end.Mirrored = tendingMirrors, &hold
			return r, move{record: &record}
		}
	}

	if r.doing < tendingDelivers {
		if hold, pr, delivered := c.Rules.Delivered(f); delivered {
			return r.deliver(c, f, hold, pr)
		}
	}

	if r.doing != tendingDelivers && r.doing <= tendingExpires {
		if hold, over := r.expired(c, f); over {
			record := expiry(f, hold, r.by)
			r.doing, r.last = tendingExpires, hold
			return r, move{record: &record}
		}
	}

	return r.afterEnds(c, t)
}

// done takes in that the last record is there.
func (r tending) done() tending {
	ends := r.doing == tendingDelivers || r.doing == tendingExpires
	if !ends || r.last.Record.Worker.IsZero() {
		return r
	}

	r.end.Ended = append(r.end.Ended[:len(r.end.Ended):len(r.end.Ended)], r.last)
	if r.doing == tendingExpires {
		r.end.Swept++
	}

	r.last = claim.Claim{}
	return r
}

// ends adds what was done to what ends the operation.
func (r tending) ends(m move) move {
	m.with = r.end
	return m
}

// mirror is the record of a hold that the log has never heard of, on behalf of its worker
// (spec.md#fold).
func (r tending) mirror(c *Config, f lifecycle.Facts, hold claim.Claim) claim.Record {
	record := hold.Record
	record.Nonce, record.By, record.Lease, record.At = cmp.Or(record.Nonce, r.word), r.by, c.Store, f.Now
	record.Attempt = confirmed(f.Log) // the hold itself is among them
	return record
}

// deliver ends the hold of a worker whose own pull request is open or merged, naming it in the
// record. Such a hold was not idle: it is handed over, whatever its lease says, because the event
// that should have done it may be lost.
func (r tending) deliver(c *Config, f lifecycle.Facts, hold claim.Claim, pr lifecycle.PR) (rule, move) {
	if err := c.decides(hold); err != nil {
		return nil, r.ends(move{err: &UnknownError{f.Issue, err}})
	}

	record := expiry(f, hold, r.by)
	record.Outcome, record.PR, record.Closes = claim.OutcomeSuccess, pr.URL, !pr.Bare
	r.doing, r.last = tendingDelivers, hold

	return r, move{record: &record}
}

// expired is the next hold whose lease and grace are over. Those that were ended are not ended
// again, whatever a late snapshot shows.
func (r tending) expired(c *Config, f lifecycle.Facts) (claim.Claim, bool) {
	for _, hold := range c.Rules.Over(f) {
		is := func(e claim.Claim) bool { return e.Record.Worker == hold.Record.Worker }
		if !slices.ContainsFunc(r.end.Ended, is) {
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

// afterEnds goes on once no hold is left to end.
func (r tending) afterEnds(c *Config, t turn) (rule, move) {
	f := t.facts
	if r.doing <= tendingUnlinks {
		for _, hold := range f.Unlinked() {
			if slices.Contains(r.unlinked, hold.Record.Worker) {
				continue
			}
			r.unlinked = append(r.unlinked[:len(r.unlinked):len(r.unlinked)], hold.Record.Worker)
			record := unlink(f, hold, r.by)
			r.doing = tendingUnlinks

			return r, move{record: &record}
		}
	}

	switch {
	case r.doing == tendingAnswers:
		return r.answered(t)
	case r.doing > tendingMirrors:
		return nil, r.ends(move{relabel: true, late: true})
	case r.votes:
		return r.vote(c, f)
	}

	return r.relieve(c, t)
}

// vote records the answer that a reaction gives. That the plan had its answer meanwhile is not an
// error.
func (r tending) vote(c *Config, f lifecycle.Facts) (rule, move) {
	record, err := r.answer.record(c, f)
	switch {
	case tooLate(err):
		return nil, r.ends(move{relabel: true})
	case err != nil:
		return nil, r.ends(move{err: err})
	}

	r.doing = tendingAnswers
	return r, move{record: &record}
}

// answered looks what became of the answer.
func (r tending) answered(t turn) (rule, move) {
	m := answering{answer: r.answer}.recorded(t)
	if tooLate(m.err) {
		return nil, r.ends(move{relabel: true})
	}
	r.end.Answered = m.err == nil
	return nil, r.ends(m)
}

// tooLate reports whether an answer came too late, or from somebody who may not give it.
func tooLate(err error) bool {
	return answer.Is(err, answer.NoPlan) || answer.Is(err, answer.Barred)
}

// relieve begins an issue again that is stuck, if a person put it into the queue and that event was
// lost; what an account's tool wrote beside a record of the same account is not a person's wish. A
// person who took needs:human-scope off, and whose event was lost, has counted attempts anew
// (spec-writing.md#sweep); any other removal was a slip, and the label comes back.
func (r tending) relieve(c *Config, t turn) (rule, move) {
	f := t.facts
	queues := c.Rules.Scheme.Queues()
	if c.Rules.Wished(f) && r.queue < len(queues) {
		if t.reply == nil {
			return r, move{ask: Ask{Moved: &LabelMoved{Label: queues[r.queue], On: true}}}
		}
		if t.reply.Err != nil {
			return nil, r.ends(move{err: &UnknownError{f.Issue, t.reply.Err}})
		}

		g := t.reply.Moved
		t.reply = nil
		if r.queue++; !g.Person || !g.At.After(f.Log.Last) || g.ByTool(f.Log) {
			return r.relieve(c, t)
		}

		record := restart(f, Override{By: g.By, Reason: "put into the queue by hand"}, r.word)
		r.doing = tendingRestarts
		return r, move{record: &record}
	}

	if !c.Rules.Relieved(f) {
		return nil, r.ends(move{relabel: true})
	}

	if t.reply == nil {
		return r, move{ask: Ask{Moved: &LabelMoved{Label: c.Rules.Scheme.NeedsScope}}}
	}
	g := t.reply.Moved
	if t.reply.Err != nil {
		return nil, r.ends(move{err: &UnknownError{f.Issue, t.reply.Err}})
	}

	last := f.Log.Attempts[len(f.Log.Attempts)-1].Release.At
	record, due := reset(f, Override{By: g.By, Moment: g.At})
	if !g.Person || g.At.Before(last) || !due {
		return nil, r.ends(move{relabel: true})
	}

	r.doing = tendingResets
	return r, move{record: &record}
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
