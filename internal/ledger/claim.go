package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Request is what a worker asks for.
type Request struct {
	Worker claim.Worker  // an empty firing id is made up
	TTL    time.Duration // 0 is the repository's default, or the stage's; claim.NoExpiry never lapses
	Branch string        // where the work will be pushed, if known
	Bundle string        // the bundle it is one of; see Bundle.Claim
}

// A Hold is a worker's right to an issue. Times are the server's.
type Hold struct {
	Issue   claim.Issue
	Title   string
	Record  claim.Record // as last written
	Comment int64
	URL     string // of the claim comment
	Token   int64  // fencing token; who shows a smaller one for the same issue is stale
	Since   time.Time
	Until   time.Time // zero when it never lapses
	start   time.Time // local time before the request that last extended the lease
	lease   time.Duration
	stored  bool // a lease store decided it; known after a renewal
}

// Claim takes the issue for a worker, or says why not: *HeldError is no, *UnknownError is could
// not find out, *LostError a hold that ended before it could be handed out, *CallError a request that
// makes no sense. With a *LabelsError the hold is real and its labels are late; if they were refused because
// its login may not label, the claim is taken back and the answer is *UnknownError. Of any number of
// callers at most one gets a hold, and it owns it then (PROTOCOL section 3).
func (l *Ledger) Claim(ctx context.Context, i claim.Issue, req Request) (Hold, error) {
	a, err := l.attempt(i, req)
	if err != nil {
		return Hold{}, err
	}
	win := []step{a.post, a.rank, a.confirm, a.own}
	if l.store != nil {
		win = []step{a.acquire, a.mirror}
	}
	if err := a.steps(ctx, append([]step{a.admit, a.agreed}, win...)...); err != nil {
		return Hold{}, a.leave(ctx, err)
	}
	late := a.late
	if late == nil {
		_, late = l.reconcile(ctx, a.facts)
	}
	if cause := a.unheard(late); cause != nil {
		return Hold{}, a.giveUp(ctx, cause)
	}
	if a.lapsed() { // while the labels were written: a machine may have slept
		return Hold{}, a.giveUp(ctx, &LostError{Issue: i, Worker: a.worker(), Err: claim.ErrOverdue})
	}
	return a.hold(), late
}

// A step is a part of a claim; its error ends it.
type step func(context.Context) error

func (a *attempt) steps(ctx context.Context, all ...step) error {
	for _, do := range all {
		if err := do(ctx); err != nil {
			return err
		}
	}
	return nil
}

// An attempt is one run of the claim, from the first read to ownership.
type attempt struct {
	*Ledger
	issue  claim.Issue
	record claim.Record
	facts  lifecycle.Facts // the latest reading
	ended  []claim.Claim   // dead holds of others that this attempt has ended
	got    lease.Lease     // of a strict store
	late   error           // the hold is real and its mirror is not written yet
	bound  claim.Rank      // the one own comment whose rank counts for us (study K3)
	start  time.Time
	lease  time.Duration // what is left to act in, counted from start
}

func (l *Ledger) attempt(i claim.Issue, req Request) (*attempt, error) {
	nonce := l.token()
	w := req.Worker
	if w.FiringID == "" {
		w.FiringID = l.firing(nonce)
	}
	if err := w.Validate(); err != nil {
		return nil, &CallError{err}
	}
	terms := l.set.Rules.Terms
	if req.TTL < 0 && req.TTL != claim.NoExpiry || req.TTL > terms.Max {
		return nil, callError("ttl %s: allowed is up to %s", req.TTL, terms.Max)
	}
	if req.TTL > 0 && req.TTL < time.Second {
		return nil, callError("ttl %s: at least one second", req.TTL)
	}
	r := claim.Record{Kind: claim.KindClaim, Worker: w, Nonce: nonce, TTL: req.TTL, Branch: req.Branch, Bundle: req.Bundle}
	if _, err := claim.Encode(r); err != nil {
		return nil, &CallError{err}
	}
	return &attempt{Ledger: l, issue: i, record: r, lease: terms.Pending}, nil
}

// firing makes up a firing id.
func (l *Ledger) firing(nonce string) string { return runID(l.clock.Now(), nonce) }

// runID names what a worker or a sweep does now: for people by its time, for records by the word.
func runID(now time.Time, word string) string {
	return now.UTC().Format("20060102-150405") + "-" + word
}

func (a *attempt) worker() claim.Worker { return a.record.Worker }

// lapsed is the self-fence: what a contender or holder asks before it acts (study K6).
func (a *attempt) lapsed() bool {
	return a.elapsed(a.start) >= a.lease-a.margin(a.lease)
}

// admit is step 0: nobody holds the issue and nothing speaks against taking it. Claims whose
// lease is over are ended first, so that dead work comes back without any sweep.
func (a *attempt) admit(ctx context.Context) error {
	for n := range a.set.Patience {
		if err := a.pause(ctx, max(n-1, 0), backoff(n)); err != nil { // the first end shows at once, as a rule
			return &UnknownError{a.issue, err}
		}
		f, v, err := a.Check(ctx, a.issue, lifecycle.Seeker{Worker: a.worker()})
		if err != nil {
			return err
		}
		if err := a.refused(f, v); err != nil {
			return err
		}
		if len(a.over(f)) == 0 {
			a.begin(f)
			return nil
		}
		ended, err := a.expire(ctx, f, a.worker().String(), a.ended)
		a.ended = append(a.ended, ended...)
		if err != nil {
			return &UnknownError{a.issue, err}
		}
	}
	return &UnknownError{a.issue, ErrInvisible}
}

func (a *attempt) refused(f lifecycle.Facts, v lifecycle.Verdict) error {
	c, known := f.Log.Find(a.worker())
	if err := f.Log.Refuse(a.record, f.Viewer, a.set.Rules.Terms, f.Now); err != nil && (!known || !c.Live()) {
		return &CallError{err}
	}
	if v.Answer != lifecycle.Free {
		return &HeldError{Issue: a.issue, Verdict: v}
	}
	return nil
}

func confirmed(s claim.State) int {
	n := 0
	for _, c := range s.Claims {
		if c.Held() {
			n++
		}
	}
	return n
}

// post is step 1. The lease counts from before the first try; a retry does not restart it (study K8).
func (a *attempt) post(ctx context.Context) error {
	a.record.At = a.facts.Now
	body, err := claim.Body(a.record, sentence(a.record))
	if err != nil {
		return &CallError{err}
	}
	a.start = a.clock.Now()
	c, err := a.append(ctx, a.issue, body, func(s claim.State) (string, bool) {
		own, ok := s.Find(a.worker())
		return own.URL, ok
	})
	switch {
	case err != nil && lease.Rejected(err):
		return &UnknownError{a.issue, err}
	case err != nil:
		return a.giveUp(ctx, &UnknownError{a.issue, err})
	}
	a.bound = claim.Rank{Created: c.Created, ID: c.ID}
	if err := a.clock.Sleep(ctx, a.set.Settle); err != nil {
		return a.giveUp(ctx, &UnknownError{a.issue, err})
	}
	return nil
}

// yield leaves the issue to the rival: one record and no label (PRODUCT ruling 3).
func (a *attempt) yield(ctx context.Context, rival claim.Claim) error {
	held := &HeldError{Issue: a.issue, Yielded: &rival, Verdict: a.set.Rules.Verdict(a.facts, lifecycle.Seeker{Worker: a.worker()})}
	return errors.Join(held, a.tombstone(ctx, a.issue, a.worker(), claim.YieldedTo(rival.Record.Worker), a.facts.Now))
}

func (a *attempt) giveUp(ctx context.Context, because error) error {
	return errors.Join(because, a.tombstone(ctx, a.issue, a.worker(), a.abandoned(), a.facts.Now))
}

func (a *attempt) hold() Hold {
	own, _ := a.facts.Log.Find(a.worker())
	h := Hold{
		Issue: a.issue, Title: a.facts.Title, Record: own.Record, Comment: a.bound.ID, URL: own.URL,
		Token: a.facts.Log.Index(), Since: own.Created, start: a.start, lease: a.lease,
	}
	h.Until, _ = own.Until(a.set.Rules.Terms)
	if a.store != nil {
		h.Record, h.Token, h.Until = a.record, a.got.Token, a.got.Expires
		if h.Until.IsZero() {
			h.Until = a.facts.Now.Add(a.record.TTL)
		}
		if h.Since.IsZero() { // not mirrored yet
			h.Since = a.facts.Now
		}
	}
	return h
}
