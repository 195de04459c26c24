package claim

import (
	"math"
	"slices"
	"time"
)

// Terms are the lengths a repository sets for its leases (spec.md#parameters).
type Terms struct {
	TTL     time.Duration // of a claim that does not name one
	Legacy  time.Duration // the same, of a claim without nonce: its writers count on four hours (rule 7)
	Max     time.Duration // a longer ttl counts as this
	Pending time.Duration // an unconfirmed claim lives at most this long
	Grace   time.Duration // others wait this much longer than the holder may act
	Plan    time.Duration // how long a plan may wait for its answer
	Bundle  time.Duration // a claim for a bundle lives at most this long before its first renewal
}

// Staleness is how old an answer of GitHub's may be at most, for two never to hold one issue
// (spec.md#parameters).
func (t Terms) Staleness() time.Duration { return t.Grace - 2*time.Second }

// DefaultTerms are four hours for workers that do not renew, at most a day.
func DefaultTerms() Terms {
	return Terms{
		TTL:     4 * time.Hour,
		Legacy:  4 * time.Hour,
		Max:     24 * time.Hour,
		Pending: 2 * time.Minute,
		Grace:   time.Minute,
		Plan:    24 * time.Hour,
		Bundle:  10 * time.Minute,
	}
}

// A State is what a log means. It holds no opinion about time: a claim stands until a
// record ends it, and Expired says whose end may be recorded.
type State struct {
	Claims   []Claim   // every claim, dead ones included, in rank order
	Attempts []Attempt // failed attempts since the last reset, oldest first
	Log      []Entry   // the records that count, in order
	Idle     []Entry   // those of Log that changed nothing, because it had been said before
	Ignored  []Ignored // the comments that look like records and do not count, in order
	Records  int       // how many records count
	Last     time.Time // created_at of the newest record that counts
	Notices  []Notice  // what people were told, in order; it decides nothing

	Talk map[string]time.Time // created_at of the newest comment that is not a record, by login in lower case

	Stage   string    // of a pipeline, as the newest record says that counts for it; empty when none does
	StageAt time.Time // when that was written

	Reset     Rank      // of the newest reset; zero when there is none
	Restart   Rank      // of the newest reset that begins the issue again; zero when there is none
	NotBefore time.Time // the latest that a release since the last reset asks for
	used      map[Worker]bool
	over      map[process]bool // what releases have ended, with or without a claim
}

// A process is one program that works under a key. Without a nonce it is every one of the key.
type process struct {
	worker Worker
	nonce  string
}

// A Claim is one worker's claim with everything the log says about it.
type Claim struct {
	Record  Record // of the bid that has it, and of what was written on its worker's behalf
	Rank    Rank   // its place among claims
	Ranks   []Rank // of all its comments
	Bids    []Bid  // one for each process that has claimed with the key, in rank order
	Author  string // empty when only somebody else has mirrored it
	signed  Rank   // where its author's first comment stands, if somebody else had mirrored it before; else zero
	Person  string // login of the person whose hold it is; empty for an agent's run
	Comment int64  // first of the bid that has it; 0 when only somebody else has mirrored it
	URL     string
	Created time.Time
	Updated time.Time // newest of its comments: the last heartbeat
	Legacy  bool      // written without nonce: confirmed from the start
	Revoked *Release  // somebody asked the holder to stop
	Plan    *Plan
	End     *Release // nil while it lives
	Reset   bool     // a reset names it: that it ran out counts no more

	behalf       Bid // what was written on the worker's behalf
	behalfLegacy bool
	ending       *ending
	released     bool // by a record that counts, be it for one process
	assignee     string

	Life      Life      // what shows that the person whose hold it is still works on the issue
	Overruled bool      // a strict lease store says otherwise
	Stored    bool      // a strict lease store says that it stands: then only the store ends it
	until     time.Time // end of the lease by the store's word
}

// A Release is the record that ended a claim, or asked for its end.
type Release struct {
	Outcome, PR, By, Reason string
	Closes                  bool // the pull request closed the issue by its own word then
	Unlinked                bool // and a later record says that it is no longer for the issue
	NotBefore               time.Time
	At                      time.Time
	Author, URL             string
	Rank                    Rank // its place in the log
}

// A Plan waits for approval, or has its answer.
type Plan struct {
	At         time.Time
	Comment    int64
	URL        string
	Approved   bool
	AnsweredAt time.Time // zero while it waits
	By         string
	Author     string // of the answer
}

// Pending reports whether the plan still waits.
func (p *Plan) Pending() bool { return p != nil && p.AnsweredAt.IsZero() }

// An Attempt is a hold that ended in a way that counts against the issue (spec.md#attempts).
type Attempt struct {
	Worker  Worker
	Release Release
}

// Live reports whether no record has ended the claim, and no store overruled it.
func (c Claim) Live() bool { return c.End == nil && !c.Overruled }

// Held reports whether the claim is confirmed.
func (c Claim) Held() bool { return c.Record.Held || c.Legacy }

// Until returns when the lease ends by server time; ok is false when it never does.
// Exactly then it still stands (spec.md#leases).
func (c Claim) Until(t Terms) (end time.Time, ok bool) {
	if !c.until.IsZero() {
		return c.until, true
	}
	if c.Record.TTL == NoExpiry && c.Held() && !c.brief() {
		return time.Time{}, false
	}
	if c.Person != "" && c.Held() && c.Record.TTL > 0 && !c.brief() {
		return c.endOfPersons()
	}

	// An answer after the plan's own limit does not revive a hold that others may already be
	// releasing (spec.md#leases).
	if c.Plan.Pending() || c.Plan != nil && c.Plan.AnsweredAt.After(c.Plan.At.Add(t.Plan)) {
		return c.Plan.At.Add(t.Plan), true
	}
	standing := c.Standing()
	if len(standing) == 0 || c.Stored {
		return c.heard(c.Updated).Add(c.Lease(t)), true
	}

	for _, b := range standing { // whoever may still act under one of them must have stopped
		lease := c.leaseOf(b.Record, b.Nonce == "" || c.behalfLegacy, b.Held() || c.behalf.Record.Held, t)
		if lease == math.MaxInt64 {
			return time.Time{}, false
		}
		end = Latest(end, c.heard(Latest(b.Updated, c.behalf.Updated)).Add(lease))
	}

	return end, true
}

// heard is when the claim was last heard of, by its comments or by the approval of its plan.
func (c Claim) heard(updated time.Time) time.Time {
	if c.Plan == nil {
		return updated
	}
	return Latest(updated, c.Plan.AnsweredAt)
}

// HeartbeatDue is how long after a heartbeat the next one is due, of a claim with that lease
// (spec-writing.md#heartbeat).
func HeartbeatDue(lease time.Duration) time.Duration { return lease / 3 }

// Lease is how long after its last heartbeat the claim stands (spec.md#leases).
// One that never expires has the longest duration there is.
func (c Claim) Lease(t Terms) time.Duration {
	return c.leaseOf(c.Record, c.Legacy, c.Held(), t)
}

// leaseOf is the lease that one of the claim's bids has.
func (c Claim) leaseOf(r Record, legacy, held bool, t Terms) time.Duration {
	ttl := r.TTL
	switch {
	case ttl == NoExpiry:
		ttl = math.MaxInt64
	case ttl == 0 && legacy:
		ttl = t.Legacy
	case ttl == 0:
		ttl = t.TTL
	}

	if t.Max > 0 && ttl != math.MaxInt64 && c.Person == "" { // a person's days are not a worker's hours
		ttl = min(ttl, t.Max)
	}

	if !held {
		ttl = min(ttl, t.Pending)
	}

	if c.brief() {
		ttl = min(ttl, t.Bundle)
	}

	return ttl
}

// Expired reports whether anyone may record the claim's end at server time now: its lease
// and the grace are over (spec-writing.md#expire).
func (c Claim) Expired(t Terms, now time.Time) bool { return c.Live() && !c.Stored && c.Over(t, now) }

// Over reports whether the lease and the grace have passed, whatever has become of the claim.
func (c Claim) Over(t Terms, now time.Time) bool {
	end, ok := c.Until(t)
	return ok && now.Sub(end) >= t.Grace
}

// Overdue reports whether the holder itself must have stopped at server time now.
func (c Claim) Overdue(t Terms, now time.Time) bool {
	end, ok := c.Until(t)
	return ok && !c.Stored && now.After(end)
}

// Late reports whether more than half of the lease has passed without a heartbeat.
func (c Claim) Late(t Terms, now time.Time) bool {
	end, ok := c.Until(t)
	return ok && now.Sub(c.Updated) > end.Sub(c.Updated)/2
}

// Live returns the claims no record has ended, in rank order.
func (s State) Live() []Claim {
	var out []Claim
	for _, c := range s.Claims {
		if c.Live() {
			out = append(out, c)
		}
	}

	return out
}

// Holder returns the first confirmed live claim, else the first live contender (spec.md#fold).
func (s State) Holder() (Claim, bool) {
	live := s.Live()
	if len(live) == 0 {
		return Claim{}, false
	}
	return live[max(0, slices.IndexFunc(live, Claim.Held))], true
}

// Find returns the claim of w.
func (s State) Find(w Worker) (Claim, bool) {
	i := slices.IndexFunc(s.Claims, func(c Claim) bool { return c.Record.Worker == w })
	if i < 0 {
		return Claim{}, false
	}
	return s.Claims[i], true
}

// Bid returns the bid of the process of w with that nonce.
func (s State) Bid(w Worker, nonce string) (Bid, bool) {
	c, _ := s.Find(w)
	b := c.bid(nonce)
	if b == nil {
		return Bid{}, false
	}
	return *b, true
}

// Used reports whether the log knows the key, if only from a release that came before its claim.
func (s State) Used(w Worker) bool { return s.used[w] }

// Dead reports whether w can never hold this issue again: a record ended its key.
func (s State) Dead(w Worker) bool {
	c, claimed := s.Find(w)
	if claimed {
		return !c.Live()
	}
	return s.used[w]
}

// Lacks reports whether the log shows less than the process of w with that nonce knows, to which
// the issue was given: neither its own confirmed claim, nor the end of that, nor the hold of
// another worker.
func (s State) Lacks(w Worker, nonce string) bool {
	b, seen := s.Bid(w, nonce)
	another := slices.ContainsFunc(s.Live(), func(o Claim) bool { return o.Held() && o.Record.Worker != w })
	return !(seen && b.Record.Held) && !another && !s.Over(w, nonce)
}

// Over reports whether the process of w with that nonce can never hold this issue again: a record
// ended its bid, or its key.
func (s State) Over(w Worker, nonce string) bool {
	if b, seen := s.Bid(w, nonce); seen {
		return b.Ended
	}
	return s.over[process{worker: w}] || s.over[process{w, nonce}]
}

// NextToken returns the fencing token that the process of w with that nonce records with its
// confirmation, by a snapshot that shows its bid: the index that the confirmation makes, and more
// than every token of another bid. A token that it has recorded and that is larger than the others'
// stays (spec-writing.md#the-fencing-token).
func (s State) NextToken(w Worker, nonce string) int64 {
	c, _ := s.Find(w)
	largest := s.largestToken(w, nonce)
	if own := c.As(nonce).Record.Token; own > largest {
		return own
	}

	index := s.Index()
	if !c.confirmed() {
		index++
	}

	return min(max(index, largest+1), maxToken)
}

// LargestToken returns the largest fencing token that the log shows, 0 when it shows none: also in
// a release whose claim is not there.
func (s State) LargestToken() (largest int64) {
	for _, e := range s.Log {
		largest = max(largest, e.Record.Token)
	}
	return largest
}

// largestToken returns the largest fencing token that was recorded by others than the process of w
// with that nonce, 0 when none was.
func (s State) largestToken(w Worker, nonce string) int64 {
	largest := int64(0)
	for _, c := range s.Claims {
		other := c.Record.Worker != w
		if other {
			largest = max(largest, c.Record.Token)
		}

		for _, b := range c.Bids {
			if other || b.Nonce != nonce {
				largest = max(largest, b.Record.Token)
			}
		}
	}

	return largest
}

// Index counts, over all keys, claims seen, confirmed and released, be it for one process. It only
// ever grows (spec-writing.md#the-fencing-token).
func (s State) Index() int64 {
	n := int64(len(s.used) - len(s.Claims)) // tombstones without a claim
	for _, c := range s.Claims {
		n++
		if c.confirmed() {
			n++
		}

		if !c.Live() || c.released {
			n++
		}
	}

	return n
}

// confirmed reports whether the claim was ever confirmed, by whichever process.
func (c Claim) confirmed() bool { return c.Held() || slices.ContainsFunc(c.Bids, Bid.Held) }

// LastEnded returns, of the claims for which of is true, the one that a record ended last; ok is
// false when none has ended.
func (s State) LastEnded(of func(Claim) bool) (last Claim, ok bool) {
	for _, c := range s.Claims {
		if c.End != nil && of(c) && (!ok || c.End.Rank.Compare(last.End.Rank) > 0) {
			last, ok = c, true
		}
	}
	return last, ok
}
