package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Claim takes an issue for a worker, or says why not: *HeldError is no, *UnknownError is could
// not find out, *LostError a hold that ended before it could be handed out, answer.Usage a request
// that makes no sense. With a *LabelsError the hold is real and its labels are late. Of any number
// of claims at most one gets a hold, and it owns it then (spec-writing.md#claim).
//
// Its conclusion has the hold in Claim, with the snapshot that shows it in Facts, the store's
// Lease, and in Since and Term from when on it stands and for how long.
//
// The steps, in their order, are: admit, post, R1, confirm, R2 and mirror the labels. Where a lease
// store decides they are: admit, acquire, mirror the lease and the labels. A person's hold has no
// end, which no store can keep: the log decides it, and the store only keeps everybody else away
// until it has.
type Claim struct {
	cfg    *Config
	issue  claim.Issue
	req    Request
	record claim.Record

	do    Do
	now   time.Duration   // by this machine's clock
	facts lifecycle.Facts // the latest snapshot
	bound claim.Rank      // the one own comment whose rank counts for us (spec-writing.md#claim)
	start time.Duration   // when the lease was asked for
	lease time.Duration   // how long it stands from then on
	got   lease.Lease     // of a store

	limit   time.Time // end of the hold that is taken over, by the log
	limited bool      // it has one
	takes   int64     // fencing token of that hold

	rounds int           // of the admission
	dead   []claim.Claim // holds of others whose end is to be recorded
	ended  []claim.Claim // those whose end was
	waits  int           // snapshots for which a confirmed claim has waited for an earlier one

	posting    recording // of the claim
	labels     relabeling
	unassigned error
	late       error // the hold is real and its mirror is not written yet
}

// NewClaim checks the request and begins. nonce names the process. The error is an answer.Usage.
func NewClaim(c *Config, i claim.Issue, r Request, nonce string) (Claim, error) {
	r, err := r.check(c)
	if err != nil {
		return Claim{}, err
	}

	record := claim.Record{
		Kind:   claim.KindClaim,
		Worker: r.Worker,
		Nonce:  nonce,
		TTL:    r.TTL,
		Branch: r.Branch,
		Bundle: r.Bundle,
		Person: r.Person,
		By:     r.By,
	}

	if _, err := claim.Encode(record); err != nil {
		return Claim{}, answer.Wrong(err)
	}

	return Claim{
		cfg:    c,
		issue:  i,
		record: record,
		req:    r,
		lease:  c.Rules.Terms.Pending,
	}, nil
}

// Admission is the operation of the claim up to the moment at which its lease is asked for: its
// conclusion's Admitted goes on from there.
func (a Claim) Admission() Operation {
	return func(do Do) Conclusion {
		a.asks(do)
		if err := a.admitted(); err != nil {
			return a.leave(err)
		}
		return Conclusion{Facts: a.facts, Admitted: &a}
	}
}

// Run is the operation of the claim.
func (a Claim) Run(do Do) Conclusion {
	a.asks(do)
	err := a.admitted()
	switch {
	case err != nil:
		return a.leave(err)
	case a.cfg.Store != "":
		return a.acquire()
	}

	return a.begin()
}

// asks has the claim ask do for what it wants, by the time that this takes.
func (a *Claim) asks(do Do) {
	a.do = func(e Effects) Seen {
		s := do(e)
		a.now = s.Elapsed
		return s
	}
}

// admitted admits the claim, after the ends of dead holds were recorded. The error is why it is
// refused.
func (a *Claim) admitted() error {
	err := a.admit(a.do(a.look()))
	for err == nil && len(a.dead) > 0 {
		var s Seen
		if s, err = a.expire(); err == nil {
			err = a.admit(s)
		}
	}

	return err
}

// look reads the issue with all that admits a claim.
func (a Claim) look() Effects {
	e := a.cfg.look()
	e.Ask.Here = true
	return e
}

// unknown is the answer "could not find out".
func (a Claim) unknown(err error) error { return &UnknownError{a.issue, err} }

// lapsed is the self-fence: what a contender or holder asks before it acts
// (spec-writing.md#acting-under-a-hold).
func (a Claim) lapsed() bool {
	return a.now-a.start >= a.lease-a.cfg.MarginOf(a.lease)
}

// Step 0: nobody holds the issue and nothing speaks against taking it. Claims whose lease is over
// are ended first, so that dead work comes back without any sweep.

// seeker is who asks.
func (a Claim) seeker() lifecycle.Seeker {
	return lifecycle.Seeker{Worker: a.record.Worker, Person: a.record.Person != "", Earlier: a.req.Earlier}
}

// verdict is that of a snapshot. The error is an *UnknownError.
func (a Claim) verdict(f lifecycle.Facts) (lifecycle.Verdict, error) {
	v := a.cfg.Rules.Admits(f, a.seeker())
	return v, Unsure(f, v)
}

// admit judges the claim by a snapshot. The error is why it is refused.
func (a *Claim) admit(s Seen) error {
	if s.Err != nil {
		return s.Err
	}
	f := a.cfg.Ruled(s.Facts, s.Lease)
	if a.record.By != "" { // an app, for a person
		f.Viewer = a.record.Person
	}

	v, err := a.verdict(f)
	if err != nil {
		return err
	}

	taken, err := a.takesOver(f)
	if err != nil {
		return err
	}

	v, forced := a.stopping(f, v)
	own, known := f.Log.Find(a.record.Worker)
	err = f.Log.Refuse(a.record, f.Viewer, a.cfg.Rules.Terms, f.Now)
	switch {
	case err != nil && (!known || !own.Live()):
		return answer.Wrong(err)
	case v.Answer != lifecycle.Free:
		return a.held(f, v)
	case f.Unshown > 0: // it was known to be held, for reasons that do not stop this claim
		return a.unknown(unshown(f))
	}

	a.facts = f
	a.dead = a.cfg.Rules.Over(f)
	switch {
	case taken:
		a.dead = nil
		a.despite(forced)
	case len(a.dead) == 0:
		a.despite(forced)
		a.fill()
	}

	return a.counts(a.cfg.Rules.Limits != (lifecycle.Limits{}) && !taken)
}

// despite notes in spite of which reasons the claim is made, and why. What ends a hold says why
// itself.
func (a *Claim) despite(codes string) {
	a.record.Forced, a.record.Reason = codes, ""
	if codes != "" {
		a.record.Reason = fitting(a.req.Reason)
	}
}

// counts asks whether records of this login count, and, where that is limited, how much it has in
// progress. The error is why it may not claim.
func (a *Claim) counts(limited bool) error {
	s := a.do(Effects{Ask: Ask{Counts: true, Load: limited}})
	if err := cmp.Or(s.Replies.Err, s.Ending); err != nil {
		return a.unknown(err)
	}

	asker := lifecycle.Asker{Login: a.facts.Viewer}
	if a.record.Person == "" {
		asker.Codename = a.record.Worker.Codename
	}

	f := a.facts
	if f.Limit = a.cfg.Rules.Limit(s.Replies.Load, f, asker); f.Limit == "" {
		return nil
	}

	v, forced := a.stopping(f, a.cfg.Rules.Admits(f, a.seeker())) // a person may force it
	if v.Answer != lifecycle.Free {
		return a.held(f, v)
	}

	a.despite(forced)
	return nil
}

// expire records the ends of the dead holds (spec-writing.md#expire), and returns the snapshot by
// which the admission goes on. Those that were ended before are not ended again, whatever a late
// snapshot shows. Each has a snapshot of its own: a sweep may have written it since.
func (a *Claim) expire() (Seen, error) {
	var s Seen
	for _, next := range a.dead {
		known := slices.ContainsFunc(a.ended, func(e claim.Claim) bool { return e.Record.Worker == next.Record.Worker })
		if own, _ := a.facts.Log.Find(next.Record.Worker); known || own.End != nil {
			s = Seen{}
			continue
		}

		posting, err := a.cfg.record(a.facts, expiry(a.facts, next, a.record.Worker.String()))
		posting.here = true
		if err == nil {
			s, err = posting.write(a.do)
		}
		if err != nil {
			return Seen{}, a.unknown(err)
		}
		if a.ended = append(a.ended, next); s.Err != nil {
			return Seen{}, s.Err
		}
		a.facts = a.cfg.Ruled(s.Facts, s.Lease)
	}

	a.rounds++
	stale := !s.Read || len(a.cfg.Rules.Over(a.facts)) > 0
	switch {
	case a.rounds == a.cfg.MaxReads:
		return Seen{}, a.unknown(ErrInvisible)
	case !stale:
		return s, nil
	case a.rounds > 1: // the first end shows at once, as a rule
		if s = a.do(Effects{Wait: Backoff(a.rounds)}); s.Ending != nil {
			return Seen{}, a.unknown(s.Ending)
		}
	}

	return a.do(a.look()), nil
}

// Step 1: the claim is posted. The lease counts from before the first try; a retry does not restart
// it (spec-writing.md#claim).

// begin posts the claim, or goes on with what an earlier run of the process has posted.
func (a *Claim) begin() Conclusion {
	a.record.At = a.facts.Now
	if own, begun := a.earlierRun(a.facts); begun {
		a.start, a.record, a.bound = a.now, own.Record, own.Rank
		return a.await(Seen{})
	}

	body, err := Body(a.facts, a.record)
	if err != nil {
		return a.leave(answer.Wrong(err))
	}

	a.posting = recording{
		cfg:    a.cfg,
		body:   body,
		record: a.record,
		had:    a.facts.Log,
		plain:  true,
	}

	_, err = a.posting.write(a.do)
	switch {
	case err != nil && lease.Rejected(err):
		return a.leave(a.unknown(err))
	case err != nil:
		return a.giveUp(a.unknown(err))
	}

	a.start = a.posting.sent.Sent
	s := a.do(Effects{Ask: Ask{Counts: true}}) // the answer to the post has said for certain who we are
	if s.Replies.Err != nil {
		return a.giveUp(a.unknown(s.Replies.Err))
	}

	a.bound = a.posting.comment.Rank()
	if s.Ending == nil {
		s = a.do(Effects{Wait: a.cfg.Settle})
	}
	if s.Ending != nil {
		return a.giveUp(a.unknown(s.Ending))
	}

	return a.await(Seen{})
}

// The end of a claim that has won.

// won writes what mirrors the hold: nothing of it is a condition.
func (a *Claim) won() Conclusion {
	// the log shows the person's claim, and everybody who wins at the store reads the log before
	// working
	if a.record.Person != "" && a.cfg.Store != "" {
		a.do(Effects{Writes: []Write{{Kind: WriteRelease, Lease: a.got}}})
	}
	return a.assign()
}

func (a *Claim) assign() Conclusion {
	if a.record.Assignee != "" {
		s := a.do(Effects{Writes: []Write{{Kind: WriteAssign, Login: a.record.Assignee}}})
		a.unassigned = s.last().Err
	}

	if a.late != nil {
		return a.finish(a.late)
	}

	a.labels = a.cfg.relabel(a.facts, false)
	if a.posting.relabeled {
		a.labels.after(a.posting.labels)
	}

	a.labels.run(a.do)
	return a.finish(a.labels.err)
}

// finish hands the hold out, unless it is over by now: a machine may have slept while the labels
// were written.
func (a *Claim) finish(late error) Conclusion {
	err := a.over()
	if a.lapsed() {
		err = claim.ErrOverdue
	}

	switch now, _ := a.labels.facts.Log.Find(a.record.Worker); {
	case err == nil:
	case now.End != nil || errors.Is(err, claim.ErrStale): // nothing of it is left to be ended
		return failed(a.issue, a.cfg.Lost(a.labels.facts, a.record.Worker, err))
	default:
		a.ended = nil
		return a.giveUp(&LostError{Issue: a.issue, Worker: a.record.Worker, Err: err})
	}

	own := a.own()
	return Conclusion{
		Err:        late,
		Facts:      a.facts,
		Repair:     a.labels.rep,
		Claim:      own,
		Comment:    claim.Comment{ID: a.bound.ID},
		Lease:      a.got,
		Since:      a.start,
		Term:       a.lease,
		Until:      a.until(own),
		Unassigned: a.unassigned,
	}
}

// over is why a heartbeat would be refused by the snapshot that the labels went by last, where the
// log decides. One that does not show the token, as the last write has it, decides nothing.
func (a Claim) over() error {
	log, w := a.labels.facts.Log, a.record.Worker
	if own, _ := log.Bid(w, a.record.Nonce); a.cfg.Store != "" || own.Record.Token != a.record.Token {
		return nil
	}

	return log.RefuseHolder(w, a.record.Token, a.cfg.Rules.Terms, a.labels.facts.Now)
}

// own is what the worker gets, by the latest snapshot.
func (a Claim) own() claim.Claim {
	own, _ := a.facts.Log.Find(a.record.Worker)
	own = own.As(a.record.Nonce)
	own.Record.Token = a.record.Token // it may have been recorded after the last snapshot
	if a.stored() {
		own.Record = a.record
		if own.Created.IsZero() { // not mirrored yet
			own.Created = a.facts.Now
		}
	}

	return own
}

// until is when the hold ends, zero for never.
func (a Claim) until(own claim.Claim) time.Time {
	end, _ := own.Until(a.cfg.Rules.Terms)
	if a.stored() {
		end = a.got.Expires
		if end.IsZero() {
			end = a.facts.Now.Add(a.record.TTL)
		}
	}

	return end
}

// The end of a claim that has not.

// giveUp ends a claim that is not a hold yet. A bundle's leaves no trace in the labels, also when
// nobody ever sees the claim itself.
func (a *Claim) giveUp(because error) Conclusion {
	outcome := claim.OutcomeAbandoned
	if a.record.Bundle != "" && a.record.Resumes == "" {
		outcome = claim.OutcomeBundleRolledBack
	}
	return a.bury(because, outcome)
}

// bury ends the own claim for ever, and leaves another process's claim of the key alone, also when
// the caller has given up: by an edit of the own comment where that is quiet and safe
// (spec-writing.md#quiet-comments), else, or if the edit does not succeed, by a record of its own.
func (a *Claim) bury(because error, outcome string) Conclusion {
	r := a.record
	if r.Resumes == "" {
		because = &SpentError{because}
	}
	posting, err := a.cfg.tombstone(a.facts, r.Worker, r.Nonce, outcome)
	if err != nil {
		return a.leave(errors.Join(because, err))
	}

	// Where the own comment can be seen and no edit of it was ever sent, none can land later and
	// put the claim back. A claim that another run may go on with is edited by that run. What a
	// release does not carry must not be lost.
	_, seen := a.facts.Log.Bid(r.Worker, r.Nonce)
	plain := r.Stage == "" && r.Bundle == "" && r.Person == "" && r.Resumes == ""
	if a.cfg.Quiet && a.cfg.Store == "" && a.req.Nonce == "" && plain && seen && !r.Held {
		hush := editing{write: Write{Kind: WriteEdit, Comment: a.bound.ID, Body: posting.body}}
		if s, _ := hush.carry(a.do); s.last().Did == Applied {
			return a.leave(because)
		}
	}

	_, err = posting.write(a.do)
	return a.leave(errors.Join(because, err))
}

// leave brings the labels in line before a failed claim concludes, if it ended somebody's dead hold
// on its way. A loser touches no label (spec-writing.md#claim): the winner does it. What keeps the
// labels late is told in words only: a *LabelsError from a claim would say that the hold is real.
func (a *Claim) leave(because error) Conclusion {
	var held *HeldError
	if len(a.ended) == 0 || errors.As(because, &held) && (held.Yielded != nil || held.Shared) {
		return failed(a.issue, because)
	}

	s := a.do(a.cfg.look())
	late := s.Err
	if late == nil {
		labels := a.cfg.relabel(a.cfg.Ruled(s.Facts, s.Lease), false)
		labels.dogged = true
		labels.run(a.do)
		late = labels.err
	}
	if late != nil {
		because = fmt.Errorf("%w; %s", because, late)
	}

	return failed(a.issue, because)
}
