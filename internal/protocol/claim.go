package protocol

import (
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
	only   bool // it concludes when the claim is admitted, to be granted later

	step  claimStep
	now   time.Duration   // by this machine's clock
	facts lifecycle.Facts // the latest snapshot
	bound claim.Rank      // the one own comment whose rank counts for us (spec-writing.md#claim)
	start time.Duration   // when the lease was asked for
	lease time.Duration   // how long it stands from then on
	got   lease.Lease     // of a store

	limit   time.Time // end of the hold that is taken over, by the log
	limited bool      // it has one
	takes   int64     // fencing token of that hold

	rounds int           // of the admission, or of the reads of the step
	dead   []claim.Claim // holds of others whose end is to be recorded
	ended  []claim.Claim // those whose end was
	waits  int           // snapshots for which a confirmed claim has waited for an earlier one
	last   error         // why the last read did not do

	posting recording
	editing editing
	labels  relabeling

	because    error // why it gives up
	unassigned error
	late       error // the hold is real and its mirror is not written yet
}

// A claimStep is what a claim waits for; next says who goes on with it.
type claimStep int

const (
	// before anything of the claim is written
	claimPauses  claimStep = iota // its beginning, or the time before it reads again
	claimAdmits                   // the snapshot that admits the claim or refuses it
	claimCounts                   // whether this login's records count, and how much it has in progress
	claimExpires                  // the record that ends a dead hold

	// where a store decides
	claimAcquires // the store's lease
	claimGrants   // nothing: a bundle brings the lease
	claimFrees    // the release of a lease that must not stand
	claimMirrors  // the record that mirrors the lease

	// where the log decides
	claimPosts       // the claim's comment
	claimCountsAgain // whether the records count, now that the answer has said who we are
	claimSettles     // the settle time
	claimRanks       // the first snapshot that shows the comment: may it be confirmed?
	claimConfirms    // the edit that confirms
	claimContends    // the time before the next snapshot
	claimOwns        // the snapshot that shows the confirmed claim: is it the first?
	claimNumbers     // the edit that adds the token

	// when it has won
	claimUnreserves // the release of a person's lease: from here on the log decides
	claimAssigns    // the assignment of the login
	claimRelabels   // the labels

	// when it has not
	claimHushes // the edit that ends the own comment quietly
	claimBuries // the record that ends the claim
	claimLeaves // the snapshot for the labels, after it ended somebody's dead hold
	claimTidies // the labels
)

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

// Admission is the claim up to the moment at which its lease is asked for: its conclusion's
// Admitted goes on from there.
func (a Claim) Admission() Claim {
	a.only = true
	return a
}

// Next implements Operation.
func (a Claim) Next(s Seen) (Operation, Effects) {
	effects := a.next(s)
	return a, effects
}

// next goes on with what the operation waits for.
func (a *Claim) next(s Seen) Effects {
	a.now = s.Elapsed
	switch a.step {
	case claimPauses:
		if s.Ending != nil {
			return a.leave(a.unknown(s.Ending))
		}
		a.step = claimAdmits
		return a.look()
	case claimAdmits:
		return a.admit(s)
	case claimCounts:
		return a.counted(s)
	case claimExpires:
		return a.expired(s)
	case claimAcquires:
		return a.acquired(s)
	case claimGrants:
		return a.grant(a.got, s.Elapsed)
	case claimFrees:
		return a.freed(s)
	case claimMirrors:
		return a.mirrored(s)
	case claimPosts:
		return a.post(s)
	case claimCountsAgain:
		return a.settle(s)
	case claimSettles:
		if s.Ending != nil {
			return a.giveUp(a.unknown(s.Ending))
		}
		return a.await(claimRanks)
	case claimRanks, claimOwns:
		return a.read(s)
	case claimConfirms, claimNumbers:
		return a.edited(s)
	case claimContends:
		if s.Ending != nil {
			return a.giveUp(a.unknown(s.Ending))
		}
		return a.await(claimOwns)
	case claimUnreserves:
		return a.assign()
	case claimAssigns:
		a.unassigned = s.last().Err
		return a.relabel()
	case claimRelabels:
		return a.relabeled(s)
	case claimHushes:
		return a.hushed(s)
	case claimBuries:
		return a.buried(s)
	case claimLeaves:
		return a.left(s)
	}

	return a.tidied(s)
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

// judge is the verdict of a snapshot. The error is an *UnknownError.
func (a Claim) judge(f lifecycle.Facts) (lifecycle.Verdict, error) {
	v := a.cfg.Rules.Admits(f, a.seeker())
	return v, Unsure(f, v)
}

// admit judges the claim by a snapshot.
func (a *Claim) admit(s Seen) Effects {
	if s.Err != nil {
		return a.leave(s.Err)
	}
	f := a.cfg.Ruled(s.Facts, s.Lease)
	if a.record.By != "" { // an app, for a person
		f.Viewer = a.record.Person
	}

	v, err := a.judge(f)
	if err != nil {
		return a.leave(err)
	}

	taken, err := a.takesOver(f)
	if err != nil {
		return a.leave(err)
	}

	v, forced := a.stopping(f, v)
	own, known := f.Log.Find(a.record.Worker)
	err = f.Log.Refuse(a.record, f.Viewer, a.cfg.Rules.Terms, f.Now)
	switch {
	case err != nil && (!known || !own.Live()):
		return a.leave(answer.Wrong(err))
	case v.Answer != lifecycle.Free:
		return a.leave(a.held(v))
	case f.Unshown > 0: // it was known to be held, for reasons that do not stop this claim
		return a.leave(a.unknown(unshown(f)))
	}

	a.facts = f
	a.dead = nil
	if over := a.cfg.Rules.Over(f); !taken {
		a.dead = over
	}

	if len(a.dead) == 0 {
		a.record.Forced = forced
		if !taken {
			a.fill()
		}
	}

	a.step = claimCounts
	limited := a.cfg.Rules.Limits != (lifecycle.Limits{}) && !taken
	return Effects{Ask: Ask{Counts: true, Load: limited}}
}

// counted goes on once it is known whether records of this login count.
func (a *Claim) counted(s Seen) Effects {
	switch {
	case s.Replies.Err != nil:
		return a.leave(a.unknown(s.Replies.Err))
	case s.Ending != nil:
		return a.leave(a.unknown(s.Ending))
	}

	asker := lifecycle.Asker{Login: a.facts.Viewer}
	if a.record.Person == "" {
		asker.Codename = a.record.Worker.Codename
	}

	if limit := a.cfg.Rules.Limit(s.Replies.Load, a.issue, asker); limit != "" {
		return a.atLimit(limit)
	}
	return a.counts()
}

// atLimit refuses who may hold nothing more, but for a person who forces it.
func (a *Claim) atLimit(limit string) Effects {
	f := a.facts
	f.Limit = limit
	v, forced := a.stopping(f, a.cfg.Rules.Admits(f, a.seeker()))
	if v.Answer != lifecycle.Free {
		return a.leave(a.held(v))
	}

	a.record.Forced = forced
	return a.counts()
}

// counts goes on with a claim that is admitted.
func (a *Claim) counts() Effects {
	switch {
	case len(a.dead) > 0:
		return a.expire()
	case a.only:
		return conclude(Conclusion{Facts: a.facts, Admitted: a})
	case a.cfg.Store != "":
		return a.acquire()
	}

	return a.begin()
}

// expire records the end of the next dead hold (spec-writing.md#expire). Those that were ended
// before are not ended again, whatever a late snapshot shows. Each has a snapshot of its own: a
// sweep may have written it since.
func (a *Claim) expire() Effects {
	for len(a.dead) > 0 {
		next := a.dead[0]
		a.dead = a.dead[1:]
		known := slices.ContainsFunc(a.ended, func(e claim.Claim) bool { return e.Record.Worker == next.Record.Worker })
		if own, _ := a.facts.Log.Find(next.Record.Worker); known || own.End != nil {
			continue
		}

		posting, err := a.cfg.record(a.facts, expiry(a.facts, next, a.record.Worker.String()))
		if err != nil {
			return a.leave(a.unknown(err))
		}

		posting.here = true
		a.posting, a.step = posting, claimExpires
		a.ended = append(a.ended[:len(a.ended):len(a.ended)], next)
		return a.expired(Seen{})
	}

	return a.again()
}

// again begins the next round of the admission.
func (a *Claim) again() Effects {
	if a.rounds++; a.rounds == a.cfg.Patience {
		return a.leave(a.unknown(ErrInvisible))
	}
	a.step = claimPauses
	if a.rounds == 1 { // the first end shows at once, as a rule
		a.step = claimAdmits
		return a.look()
	}

	return Effects{Wait: Backoff(a.rounds)}
}

// expired goes on after the end of a dead hold.
func (a *Claim) expired(s Seen) Effects {
	effects := a.posting.next(s)
	switch {
	case !a.posting.over:
		return effects
	case a.posting.err != nil:
		a.ended = a.ended[:len(a.ended)-1]
		return a.leave(a.unknown(a.posting.err))
	case a.posting.seen.Err != nil:
		return a.leave(a.posting.seen.Err)
	}

	a.facts = a.cfg.Ruled(a.posting.seen.Facts, a.posting.seen.Lease)
	if len(a.dead) > 0 {
		return a.expire()
	}
	if stale := len(a.cfg.Rules.Over(a.facts)) > 0; stale || a.rounds+1 == a.cfg.Patience {
		return a.again()
	}

	a.rounds++
	return a.admit(a.posting.seen)
}

// Step 1: the claim is posted. The lease counts from before the first try; a retry does not restart
// it (spec-writing.md#claim).

// begin posts the claim, or goes on with what an earlier run of the process has posted.
func (a *Claim) begin() Effects {
	a.record.At = a.facts.Now
	if own, begun := a.earlierRun(a.facts); begun {
		a.start, a.record, a.bound = a.now, own.Record, own.Rank
		return a.await(claimRanks)
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
	a.step = claimPosts

	return a.post(Seen{})
}

// post goes on with the post.
func (a *Claim) post(s Seen) Effects {
	effects := a.posting.next(s)
	switch {
	case !a.posting.over:
		return effects
	case a.posting.err != nil && lease.Rejected(a.posting.err):
		return a.leave(a.unknown(a.posting.err))
	case a.posting.err != nil:
		return a.giveUp(a.unknown(a.posting.err))
	}

	a.start, a.step = a.posting.sent.Sent, claimCountsAgain

	return Effects{Ask: Ask{Counts: true}}
}

// settle waits before the first snapshot that may decide. The answer to the post has said for
// certain who we are.
func (a *Claim) settle(s Seen) Effects {
	if s.Replies.Err != nil {
		return a.giveUp(a.unknown(s.Replies.Err))
	}
	a.bound = a.posting.comment.Rank()
	if s.Ending != nil {
		return a.giveUp(a.unknown(s.Ending))
	}
	a.step = claimSettles
	return Effects{Wait: a.cfg.Settle}
}

// The end of a claim that has won.

// won writes what mirrors the hold: nothing of it is a condition.
func (a *Claim) won() Effects {
	// the log shows the person's claim, and everybody who wins at the store reads the log before
	// working
	if a.record.Person != "" && a.cfg.Store != "" {
		a.step = claimUnreserves
		return Effects{Writes: []Write{{Kind: WriteRelease, Lease: a.got}}}
	}
	return a.assign()
}

func (a *Claim) assign() Effects {
	if a.record.Assignee == "" {
		return a.relabel()
	}
	a.step = claimAssigns
	return Effects{Writes: []Write{{Kind: WriteAssign, Login: a.record.Assignee}}}
}

func (a *Claim) relabel() Effects {
	a.step = claimRelabels
	if a.late != nil {
		return a.finish(a.late)
	}

	a.labels = a.cfg.relabel(a.facts, false)
	if a.posting.relabeled {
		a.labels.after(a.posting.labels)
	}

	return a.relabeled(Seen{})
}

func (a *Claim) relabeled(s Seen) Effects {
	if effects := a.labels.next(s); !a.labels.over {
		return effects
	}
	return a.finish(a.labels.err)
}

// finish hands the hold out, unless it is over by now: a machine may have slept while the labels
// were written.
func (a *Claim) finish(late error) Effects {
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
	return conclude(Conclusion{
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
	})
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
func (a *Claim) giveUp(because error) Effects {
	outcome := claim.OutcomeAbandoned
	if a.record.Bundle != "" && a.record.Resumes == "" {
		outcome = claim.OutcomeBundleRolledBack
	}
	return a.bury(because, outcome)
}

// bury ends the own claim for ever, and leaves another process's claim of the key alone, also when
// the caller has given up: by an edit of the own comment where that is quiet and safe
// (spec-writing.md#quiet-comments), else, or if the edit does not succeed, by a record of its own.
func (a *Claim) bury(because error, outcome string) Effects {
	// Where the own comment can be seen and no edit of it was ever sent, none can land later and
	// put the claim back. A claim that another run may go on with is edited by that run. What a
	// release does not carry must not be lost.
	r := a.record
	a.because = because
	if r.Resumes == "" {
		a.because = &SpentError{because}
	}
	posting, err := a.cfg.tombstone(a.facts, r.Worker, r.Nonce, outcome)
	if err != nil {
		return a.leave(errors.Join(a.because, err))
	}

	a.posting = posting

	_, seen := a.facts.Log.Bid(r.Worker, r.Nonce)
	plain := r.Stage == "" && r.Bundle == "" && r.Person == "" && r.By == "" && r.Resumes == ""
	if a.cfg.Quiet && a.cfg.Store == "" && a.req.Nonce == "" && plain && seen && !r.Held {
		a.editing = editing{write: Write{Kind: WriteEdit, Comment: a.bound.ID, Body: posting.body}}
		a.step = claimHushes
		return a.hushed(Seen{})
	}

	a.step = claimBuries
	return a.buried(Seen{})
}

// hushed goes on with the quiet end.
func (a *Claim) hushed(s Seen) Effects {
	effects := a.editing.next(s)
	switch {
	case !a.editing.over:
		return effects
	case a.editing.result.Did == Applied:
		return a.leave(a.because)
	}

	a.step = claimBuries
	return a.buried(Seen{})
}

// buried goes on with the record that ends the claim.
func (a *Claim) buried(s Seen) Effects {
	if effects := a.posting.next(s); !a.posting.over {
		return effects
	}
	return a.leave(errors.Join(a.because, a.posting.err))
}

// leave brings the labels in line before a failed claim concludes, if it ended somebody's dead hold
// on its way. A loser touches no label (spec-writing.md#claim): the winner does it. What keeps the
// labels late is told in words only: a *LabelsError from a claim would say that the hold is real.
func (a *Claim) leave(because error) Effects {
	a.because = because
	var held *HeldError
	if len(a.ended) == 0 || errors.As(because, &held) && (held.Yielded != nil || held.Shared) {
		return failed(a.issue, because)
	}

	a.step = claimLeaves
	return a.cfg.look()
}

func (a *Claim) left(s Seen) Effects {
	if s.Err != nil {
		return failed(a.issue, fmt.Errorf("%w; %s", a.because, s.Err))
	}
	a.labels = a.cfg.relabel(a.cfg.Ruled(s.Facts, s.Lease), false)
	a.labels.dogged = true
	a.step = claimTidies

	return a.tidied(Seen{})
}

func (a *Claim) tidied(s Seen) Effects {
	effects := a.labels.next(s)
	switch {
	case !a.labels.over:
		return effects
	case a.labels.err != nil:
		// as text: a *LabelsError would say that there is a hold
		return failed(a.issue, fmt.Errorf("%w; %s", a.because, a.labels.err))
	}

	return failed(a.issue, a.because)
}
