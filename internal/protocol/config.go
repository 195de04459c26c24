package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An Assign says whose winning claims assign their login to the issue. The zero value is
// AssignPeople.
type Assign int

// Whose claims assign. An app is never assigned: GitHub does not know how.
const (
	AssignPeople Assign = iota
	AssignAll
	AssignNone
)

// A Config is what the operations of one repository go by (spec.md#parameters).
type Config struct {
	Rules      lifecycle.Rules
	Store      string        // kind of the lease store that decides; empty for the log
	Settle     time.Duration // wait between a claim's post and the read that decides
	Margin     time.Duration // a holder stops this long before its lease ends
	MaxReads   int           // reads to wait for an own record to become visible
	Reconciles int           // rounds before labels are reported as late
	Assign     Assign        // whose claims assign their login
	Lease      time.Duration // of claims that name none; 0 is the repository's default, or the stage's

	// a claim that is given up before it was confirmed is ended by an edit, which notifies nobody
	Quiet bool
}

const (
	posts     = 4 // tries to get one record into the log
	sightings = 3 // snapshots in which an own claim is looked for before it counts as never made
)

// Backoff is how long to wait before read n (from 0): 250 ms doubling to 4 s.
func Backoff(n int) time.Duration {
	return min(250*time.Millisecond<<min(max(n, 0), 10), 4*time.Second)
}

// MarginOf is how long before its end a lease counts as over for its holder: at least Margin, or
// one hundredth of the lease (spec-writing.md#what-a-worker-does), but never more than a quarter of
// it.
func (c *Config) MarginOf(lease time.Duration) time.Duration {
	return min(max(c.Margin, lease/100), lease/4)
}

// Shortest is the shortest lease that may be asked for: of a shorter one its holder would have
// nothing left but the margin as soon as the claim has settled.
func (c *Config) Shortest() time.Duration { return max(time.Second, c.Settle*3/2) }

// Lost is the error of a worker whose hold is over, with who has the issue now. A snapshot that
// shows its claim unconfirmed, and nobody else's confirmed, may be late, as long as that claim may
// stand so: then nobody knows.
func (c *Config) Lost(f lifecycle.Facts, w claim.Worker, err error) error {
	own, _ := f.Log.Find(w)
	holder, held := c.Rules.Holder(f)
	if errors.Is(err, claim.ErrUnconfirmed) && !holder.Held() && !own.Overdue(c.Rules.Terms, f.Now) {
		return &UnknownError{f.Issue, pending()}
	}

	lost := &LostError{
		Issue:  f.Issue,
		Worker: w,
		Err:    err,
		End:    c.Rules.EndOf(f, w),
	}

	if held && holder.Record.Worker != w {
		lost.Holder = &holder
	}

	if end, ends := own.Until(c.Rules.Terms); lost.End.Overdue(err) {
		if own.Live() && ends { // others wait for that long before they record it
			f.Now = claim.Latest(f.Now, end.Add(c.Rules.Terms.Grace))
		}
		lost.Bars = c.Rules.Verdict(f, lifecycle.Seeker{}).Reasons
	}

	return lost
}

// decides says why these operations are not the ones to act on a claim, or nil.
func (c *Config) decides(of claim.Claim) error {
	if of.Record.Lease == "" || of.Record.Lease == c.Store {
		return nil
	}

	return &answer.Problem{
		Code: answer.WrongStore,
		Why: fmt.Sprintf("its hold is decided by the lease store %s, and the configuration here says %s",
			of.Record.Lease, cmp.Or(c.Store, lease.Comments)),
	}
}

// Ruled lays over a snapshot of the log the lease that a store has for the issue, the zero lease
// for none.
func (c *Config) Ruled(f lifecycle.Facts, l lease.Lease) lifecycle.Facts {
	if c.Store != "" {
		f.Log = f.Log.Ruled(ruling(f, l))
	}
	return f
}

// ruling is a lease as the log takes it. Of one without an end that the log has not heard of
// either, it is known that it ends a ttl from now at the latest.
func ruling(f lifecycle.Facts, l lease.Lease) claim.Ruling {
	r := claim.Ruling{
		Worker: l.Worker,
		Nonce:  l.Nonce,
		Token:  l.Token,
		TTL:    l.TTL,
		Until:  l.Expires,
	}

	if c, _ := f.Log.Find(l.Worker); r.Until.IsZero() && len(c.Ranks) == 0 {
		r.Until = f.Now.Add(l.TTL)
	}

	return r
}

// Unsure is why the verdict of a snapshot is no answer: an *UnknownError, or nil.
func Unsure(f lifecycle.Facts, v lifecycle.Verdict) error {
	switch {
	case f.PauseErr != nil:
		return &UnknownError{f.Issue, f.PauseErr}
	case v.Answer == lifecycle.Unknown && v.Has(lifecycle.CodeUnshown):
		return &UnknownError{f.Issue, unshown(f)}
	case v.Answer == lifecycle.Unknown:
		return &UnknownError{f.Issue, errors.New(v.String())}
	}

	return nil
}

// look is the effect that reads the issue, with its lease where a store decides.
func (c *Config) look() Effects { return Effects{Read: true, Ask: Ask{Lease: c.Store != ""}} }

// unknownUnlessCall makes an *UnknownError of what a write failed with: it may have been done. nil
// and an answer.Usage stay as they are.
func unknownUnlessCall(i claim.Issue, err error) error {
	if err == nil || answer.Is(err, answer.Usage) {
		return err
	}
	return &UnknownError{i, err}
}

// byHand is the codename of moves without a hold; the firing id is new each time.
const byHand = "by-hand"
