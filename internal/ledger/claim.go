package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// A Request is what a worker asks for.
type Request struct {
	Worker claim.Worker  // an empty firing id is made up
	TTL    time.Duration // 0 is the repository's default, or the stage's; claim.NoExpiry never expires
	Branch string        // where the work will be pushed, if known
	Bundle string        // the bundle it is one of; see Bundle.Claim
	Person string        // login of the person who asks; empty for an agent's run
	By     string        // the same login again when an app claims for the person
	Resume bool          // take over the hold of another process with the same key, which is fenced off by a larger token
	Mine   string        // nonce of the hold that this machine has recorded under the key: it is resumed if that process has it still
	Nonce  string        // of the process that asks: it goes on with what an earlier run of it left unconfirmed; empty is made up
	Judged Snapshot      // by which the caller chose the issue; step 0 goes by it while it is fresh
	Force  bool          // in spite of an assignee and of a stranger's pull request, and for a person of a label that says that another person holds it
}

// claims takes issues, for workers and for people.
type claims struct {
	*base
	snapshots *snapshots
	records   *records
	labelling *labelling
	holds     *holds
}

// Claim takes the issue for a worker, or says why not: *HeldError is no, *UnknownError is could
// not find out, *LostError a hold that ended before it could be handed out, *CallError a request that
// makes no sense. With a *LabelsError the hold is real and its labels are late. A login whose records do not count for
// others is an *UnknownError before anything is written (Jury). Of any number of
// callers at most one gets a hold, and it owns it then (spec.md#claim).
func (cs *claims) Claim(ctx context.Context, i claim.Issue, req Request) (Hold, error) {
	a, err := cs.attempt(i, req)
	if err != nil {
		return Hold{}, err
	}
	for _, do := range append([]step{a.admit}, cs.by.steps(a)...) {
		if err := do(ctx); err != nil {
			return Hold{}, a.leave(ctx, err)
		}
	}
	var unassigned error
	if assigner, able := cs.forge.(Assigner); able && a.record.Assignee != "" { // a mirror, never a condition
		unassigned = assigner.Assign(ctx, i, a.record.Assignee)
	}
	late := a.late
	if late == nil {
		_, late = cs.labelling.reconcile(ctx, a.facts)
	}
	if a.expired() { // while the labels were written: a machine may have slept
		return Hold{}, a.giveUp(ctx, &LostError{Issue: i, Worker: a.record.Worker, Err: claim.ErrOverdue})
	}
	h := a.hold()
	h.Unassigned = unassigned
	return h, late
}

// MayClaim is the part of Claim that asks nobody: a *CallError for a request that makes no sense.
func (cs *claims) MayClaim(i claim.Issue, req Request) error {
	_, err := cs.attempt(i, req)
	return err
}

// A step is a part of a claim; its error ends it.
type step func(context.Context) error

// An attempt is one run of the claim, from the first read to ownership.
type attempt struct {
	*claims
	issue  claim.Issue
	record claim.Record
	req    Request
	facts  lifecycle.Facts // the latest snapshot
	ended  []claim.Claim   // dead holds of others that this attempt has ended
	got    lease.Lease     // of a strict store
	late   error           // the hold is real and its mirror is not written yet
	bound  claim.Rank      // the one own comment whose rank counts for us (spec.md#claim)
	start  time.Time
	lease  time.Duration // what is left to act in, counted from start

	limit   time.Time // end of the hold that is taken over, by the log
	limited bool      // it has one
	takes   int64     // fencing token of that hold
}

// attempt checks the request and begins a claim; nothing is read or written yet. The error is a *CallError.
func (cs *claims) attempt(i claim.Issue, req Request) (*attempt, error) {
	nonce := cmp.Or(req.Nonce, cs.token())
	w := req.Worker
	if w.FiringID == "" {
		w.FiringID = cs.firing(nonce)
	}
	if err := w.Validate(); err != nil {
		return nil, &CallError{Err: err}
	}
	terms := cs.set.Rules.Terms
	if req.TTL == 0 {
		req.TTL = min(cs.set.Lease, terms.Max)
	}
	if req.TTL < 0 && req.TTL != claim.NoExpiry || req.TTL > terms.Max {
		return nil, callError("ttl %s: allowed is up to %s", req.TTL, terms.Max)
	}
	if req.TTL > 0 && req.TTL < time.Second {
		return nil, callError("ttl %s: at least one second", req.TTL)
	}
	if req.Branch != "" {
		branch, err := claim.ParseBranch(req.Branch)
		if err != nil {
			return nil, &CallError{Err: err}
		}
		req.Branch = branch
	}
	r := claim.Record{
		Kind:   claim.KindClaim,
		Worker: w,
		Nonce:  nonce,
		TTL:    req.TTL,
		Branch: req.Branch,
		Bundle: req.Bundle,
		Person: req.Person,
		By:     req.By,
	}
	if _, err := claim.Encode(r); err != nil {
		return nil, &CallError{Err: err}
	}
	return &attempt{claims: cs, issue: i, record: r, req: req, lease: terms.Pending}, nil
}

// firing makes up a firing id.
func (bs *base) firing(nonce string) string {
	if bs.set.Run != "" {
		return bs.set.Run + "-" + nonce
	}
	return runID(bs.clock.Now(), nonce)
}

// runID names what a worker or a sweep does now: for people by its time, for records by the word.
func runID(now time.Time, word string) string {
	return now.UTC().Format("20060102-150405") + "-" + word
}

// expired is the self-fence: what a contender or holder asks before it acts (spec.md#acting-under-a-hold).
func (a *attempt) expired() bool {
	return a.elapsed(a.start) >= a.lease-a.margin(a.lease)
}

// admit is step 0: nobody holds the issue and nothing speaks against taking it. Claims whose
// lease is over are ended first, so that dead work comes back without any sweep.
func (a *attempt) admit(ctx context.Context) error {
	for n := range a.set.Patience {
		if err := a.pause(ctx, max(n-1, 0), backoff(n)); err != nil { // the first end shows at once, as a rule
			return &UnknownError{Issue: a.issue, Err: err}
		}
		var f lifecycle.Facts
		var err error
		if n > 0 || !a.snapshots.Fresh(a.issue, a.req.Judged) {
			f, err = a.snapshots.Look(ctx, a.issue)
		} else if f, err = a.snapshots.whole(a.issue, a.req.Judged.Facts, nil); err == nil { // by which the caller chose the issue
			f, err = a.snapshots.Ruled(ctx, f)
		}
		if err != nil {
			return err
		}
		f, v, err := a.snapshots.judge(f, func(f lifecycle.Facts) lifecycle.Verdict {
			return a.set.Rules.Admits(f, lifecycle.Seeker{Worker: a.record.Worker})
		})
		if err != nil {
			return err
		}
		if a.record.By != "" { // an app, for a person
			f.Viewer = a.record.Person
			v = a.set.Rules.Admits(f, lifecycle.Seeker{Worker: a.record.Worker})
		}
		taken, err := a.takesOver(f)
		if err != nil {
			return err
		}

		v, forced := a.stopping(f, v)
		own, known := f.Log.Find(a.record.Worker)
		err = f.Log.Refuse(a.record, f.Viewer, a.set.Rules.Terms, f.Now)
		switch {
		case err != nil && (!known || !own.Live()):
			return &CallError{Err: err}
		case v.Answer == lifecycle.Unknown:
			return &UnknownError{Issue: a.issue, Err: errors.New(v.String())}
		case v.Answer != lifecycle.Free:
			return a.held(v)
		}
		if err := a.records.Heard(ctx, a.issue); err != nil {
			return err
		}
		if taken || len(a.set.Rules.Over(f)) == 0 {
			a.facts = f
			a.record.Forced = forced
			if !taken {
				a.fill()
			}
			return nil
		}

		ended, err := a.records.expire(ctx, f, a.record.Worker.String(), a.ended)
		a.ended = append(a.ended, ended...)
		if err != nil {
			return &UnknownError{Issue: a.issue, Err: err}
		}
	}
	return &UnknownError{Issue: a.issue, Err: ErrInvisible}
}

// fill names in the record what the snapshot that admits the claim says, so that later changes of the configuration, or of the stage, do
// not move the hold.
func (a *attempt) fill() {
	rules, f := a.set.Rules, a.facts
	a.record.Attempt = 1 + confirmed(f.Log)
	if stages := rules.Scheme.Stages; len(stages) > 0 && !f.PullRequest {
		stage := stages[rules.Stage(f)]
		a.record.Stage, a.record.TTL = stage.Name, cmp.Or(a.record.TTL, stage.TTL)
	}
	a.record.TTL = cmp.Or(a.record.TTL, rules.Terms.TTL)
	if a.record.Bundle != "" {
		a.record.Was = a.before(f)
	}
}

// held is the answer no: somebody has the issue, perhaps another process of the asking run.
func (a *attempt) held(v lifecycle.Verdict) *HeldError {
	return &HeldError{Issue: a.issue, Verdict: v, Shared: v.Has(lifecycle.CodeOwn)}
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

// post is step 1. The lease counts from before the first try; a retry does not restart it (spec.md#claim).
func (a *attempt) post(ctx context.Context) error {
	a.record.At = a.facts.Now
	if own, begun := a.earlierRun(a.facts); begun {
		a.start, a.record, a.bound = a.clock.Now(), own.Record, own.Rank
		return nil
	}
	body, err := claim.Body(a.record, protocol.Sentence(a.facts, a.record))
	if err != nil {
		return &CallError{Err: err}
	}
	a.start = a.clock.Now()
	c, err := a.records.append(ctx, a.issue, body, func(s claim.State) (string, bool) {
		own, ok := s.Bid(a.record.Worker, a.record.Nonce)
		return own.URL, ok
	})
	switch {
	case err != nil && lease.Rejected(err):
		return &UnknownError{Issue: a.issue, Err: err}
	case err != nil:
		return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: err})
	}
	if err := a.records.Heard(ctx, a.issue); err != nil { // the answer has said for certain who we are
		return a.giveUp(ctx, err)
	}
	a.bound = claim.Rank{Created: c.Created, ID: c.ID}
	if err := a.clock.Sleep(ctx, a.set.Settle); err != nil {
		return a.giveUp(ctx, &UnknownError{Issue: a.issue, Err: err})
	}
	return nil
}

// yield leaves the issue to the rival: one record and no label (spec.md#claim).
func (a *attempt) yield(ctx context.Context, c claim.Contest) error {
	held := a.beaten(c)
	return errors.Join(held, a.bury(ctx, claim.YieldedTo(c.Rival.Record.Worker)))
}

// beaten is the answer no of a claim that was posted.
func (a *attempt) beaten(c claim.Contest) *HeldError {
	held := a.held(a.set.Rules.Verdict(a.facts, lifecycle.Seeker{Worker: a.record.Worker}))
	if c.Place != claim.PlaceShared {
		held.Shared, held.Yielded = false, &c.Rival
	}
	return held
}

// giveUp ends a claim that is no hold yet. A bundle's leaves no trace in the labels, also when nobody ever sees the claim itself.
func (a *attempt) giveUp(ctx context.Context, because error) error {
	outcome := claim.OutcomeAbandoned
	if a.record.Bundle != "" && a.record.Resumes == "" {
		outcome = claim.OutcomeBundleRolledBack
	}
	return errors.Join(because, a.bury(ctx, outcome))
}

// bury ends the own claim for ever, and leaves another process's claim of the key alone, also when the caller's context is over: by an edit of the own comment where that is
// quiet and safe (spec.md#quiet-comments), else, or if the edit does not succeed, by a record of its own.
func (a *attempt) bury(ctx context.Context, outcome string) error {
	// Where the own comment can be seen and no edit of it was ever sent, none can land later and put the claim back. A claim that another
	// run may go on with is edited by that run. What a release does not carry must not be lost.
	r := a.record
	_, seen := a.facts.Log.Bid(r.Worker, r.Nonce)
	plain := r.Stage == "" && r.Bundle == "" && r.Person == "" && r.By == "" && r.Resumes == ""
	if a.set.Quiet && !a.IsStrict() && a.req.Nonce == "" && plain && seen && !r.Held {
		detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedIn)
		defer cancel()
		end := claim.Record{Kind: claim.KindRelease, Worker: r.Worker, Nonce: r.Nonce, Outcome: outcome, At: a.facts.Now}
		if _, err := a.records.edit(detached, a.facts, a.bound.ID, end); err == nil {
			return nil
		}
	}
	return a.records.tombstone(ctx, a.facts, r.Worker, r.Nonce, outcome)
}

// hold is what the worker gets, by the latest snapshot.
func (a *attempt) hold() Hold {
	own, _ := a.facts.Log.Find(a.record.Worker)
	own = own.As(a.record.Nonce)
	own.Record.Token = a.record.Token // it may have been recorded after the last snapshot
	h := Hold{
		Issue: a.issue, Title: a.facts.Title, Record: own.Record, Comment: a.bound.ID, URL: own.URL,
		Token: a.record.Token, Since: own.Created, start: a.start, lease: a.lease,
	}
	h.Until, _ = own.Until(a.set.Rules.Terms)
	return a.by.complete(a, h)
}

// leave brings the labels in line before a failed claim returns, if it ended somebody's dead hold
// on its way. A loser touches no label (spec.md#claim): the winner does it. What keeps the labels
// late is told in words only: a *LabelsError from a claim would say that the hold is real.
func (a *attempt) leave(ctx context.Context, err error) error {
	var held *HeldError
	if len(a.ended) == 0 || errors.As(err, &held) && (held.Yielded != nil || held.Shared) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedIn)
	defer cancel()
	if _, late := a.labelling.Reconcile(ctx, a.issue); late != nil {
		return fmt.Errorf("%w; %s", err, late) // as text: a *LabelsError would say that there is a hold
	}
	return err
}
