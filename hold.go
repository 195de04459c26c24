package labelstate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/keep"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/setup"
)

// ClaimOptions say who claims, and for how long. Codename is required for a worker and has to be
// empty for a person.
type ClaimOptions struct {
	Codename string        // the kind of worker
	FiringID string        // this run, used once for an issue; empty generates one
	TTL      time.Duration // length of the lease; 0 is the repository's default
	Branch   string        // where the work will be pushed; empty when it is not known
	// take over the hold of another process with this FiringID; that process is fenced off by a
	// larger token
	Resume bool
	Person bool // the token's login claims for itself, without an end; nothing else may be set
}

// check refuses what contradicts itself before anybody is asked.
func (o ClaimOptions) check() error {
	switch {
	case o.Person && o != (ClaimOptions{Person: true}):
		return fmt.Errorf("%w: a person's claim has no codename, firing id, ttl or branch", ErrInvalid)
	case o.Resume && o.FiringID == "":
		return fmt.Errorf("%w: Resume takes over the hold of a run; FiringID names it", ErrInvalid)
	case !o.Person && o.Codename == "":
		return fmt.Errorf("%w: no codename says which worker claims", ErrInvalid)
	}

	return nil
}

// A Hold is the right of a worker or a person to work on an issue. It is plain data that a program
// may store. Another process can continue it with [Client.Renew]. Times are GitHub's.
type Hold struct {
	Host, Repo string // such as github.com, and owner/name
	Number     int
	Title      string // other people's text

	Codename, FiringID string
	Person             string // login of the person who holds it; empty for a worker

	Token int64     // fencing token: a smaller one for the same issue is out of date; 0 when unknown
	Since time.Time // of the claim
	Until time.Time // end of the lease; zero when it has none
	URL   string    // of the claim comment
}

func (c *Client) hold(h ledger.Hold) Hold {
	return Hold{
		Host:     c.Host(),
		Repo:     h.Issue.Slug(),
		Number:   h.Issue.Number,
		Title:    h.Title,
		Codename: h.Record.Worker.Codename,
		FiringID: h.Record.Worker.FiringID,
		Person:   h.Record.Person,
		Token:    h.Token,
		Since:    h.Since,
		Until:    h.Until,
		URL:      h.URL,
	}
}

// A holdKey is what tells one hold of a repository from another.
type holdKey struct {
	number int
	worker claim.Worker
}

func (h Hold) key() holdKey {
	return holdKey{h.Number, claim.Worker{Codename: h.Codename, FiringID: h.FiringID}}
}

// of refuses a hold of another repository or host.
func (c *Client) of(h Hold) error {
	if strings.EqualFold(h.Repo, c.Repo()) && strings.EqualFold(h.Host, c.Host()) {
		return nil
	}
	return &ForeignHoldError{Hold: h.Host + "/" + h.Repo, Client: c.Host() + "/" + c.Repo()}
}

func (c *Client) remember(h ledger.Hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holds[holdKey{h.Issue.Number, h.Record.Worker}] = h
}

// renewed remembers a renewed hold, unless it was released meanwhile.
func (c *Client) renewed(h ledger.Hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := holdKey{h.Issue.Number, h.Record.Worker}
	if _, held := c.holds[k]; held {
		c.holds[k] = h
	}
}

func (c *Client) recall(k holdKey) (h ledger.Hold, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, known = c.holds[k]
	return h, known
}

// recallOf returns a hold of an issue by any run of a worker.
func (c *Client) recallOf(number int, codename string) (ledger.Hold, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	for k, h := range c.holds {
		if k.number == number && k.worker.Codename == codename {
			return h, true
		}
	}

	return ledger.Hold{}, false
}

func (c *Client) forget(k holdKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.holds, k)
}

// Claim takes an issue. Of any number of callers exactly one gets it, also of several processes
// with one FiringID; the others get [ErrHeld]. For a person it is idempotent: a person who already
// holds the issue gets that hold. A login whose records do not count in the repository gets another
// error, and nothing is written.
func (c *Client) Claim(ctx context.Context, number int, o ClaimOptions) (Hold, error) {
	if err := o.check(); err != nil {
		return Hold{}, c.doing("claim", number, err)
	}
	h, err := c.take(ctx, c.issue(number), o)
	if err = c.answer(err); err != nil {
		return Hold{}, c.doing("claim", number, err)
	}

	c.won(h)
	return c.hold(h), nil
}

func (c *Client) take(ctx context.Context, i claim.Issue, o ClaimOptions) (ledger.Hold, error) {
	if !o.Person {
		return c.s.Ledger.Claim(ctx, i, ledger.Request{
			Worker: claim.Worker{Codename: o.Codename, FiringID: o.FiringID},
			TTL:    o.TTL,
			Branch: o.Branch,
			Resume: o.Resume,
		})
	}

	me, err := c.s.Client.Viewer(ctx)
	if err != nil {
		return ledger.Hold{}, err
	}

	return c.s.Ledger.ClaimPerson(ctx, i, me, false, "")
}

// won remembers a new hold.
func (c *Client) won(h ledger.Hold) {
	if h.Unassigned != nil {
		c.warn(fmt.Sprintf("%s: claimed, but the login could not be assigned: %s", h.Issue, h.Unassigned))
	}
	c.remember(h)
}

// Renew extends the lease of a hold, also of one that an earlier process claimed. [ErrLost] means:
// stop all work at once. With any other error the lease ends when it would have ended, and Renew
// may be tried again while [Client.Owns] is nil. [Client.Keep] does all of this.
func (c *Client) Renew(ctx context.Context, h Hold) (Hold, error) {
	if err := c.of(h); err != nil {
		return h, c.doing("renew", h.Number, err)
	}
	known, ours := c.recall(h.key())
	var err error
	if ours {
		known, err = c.s.Ledger.Keep(ctx, known)
	} else {
		known, err = c.s.Ledger.Renew(ctx, c.issue(h.Number), h.key().worker, h.Token)
	}

	if err = c.answer(err); err != nil {
		if errors.Is(err, ErrLost) {
			c.forget(h.key())
		}
		return h, c.doing("renew", h.Number, err)
	}

	c.remember(known)
	return c.hold(known), nil
}

// Keep renews the lease of a hold at every third of its length. It returns a copy of ctx that is
// done, with the cause [ErrLost], as soon as the hold is lost or its lease may have expired, even
// while the network is down. A renewal that fails otherwise is retried; Options.Warn receives the
// reason.
//
// stop ends the heartbeats and returns when none is under way; the hold stays. Call it before
// [Client.Release], and always. When the hold ends because of its own pull request, the heartbeats
// end but the context is not done: the work may be finished.
//
// If this client has neither claimed nor renewed the hold, the context is done at once.
func (c *Client) Keep(ctx context.Context, h Hold) (kept context.Context, stop context.CancelFunc) {
	kept, cancel := context.WithCancelCause(ctx)
	if err := c.Owns(h); err != nil {
		cancel(err)
		return kept, func() {}
	}

	held, _ := c.recall(h.key())
	o := keep.Options{
		Clock: setup.Clock(), Renewed: c.renewed,
		Trouble: func(err error) { c.warn(fmt.Sprintf("%s: not renewed, trying again: %s", held.Issue, err)) },
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		err := keep.Alive(kept, c.s.Ledger, held, o)
		switch {
		case err == nil:
			return // the caller's context is done, or stop was called
		case !errors.Is(err, keep.ErrDelivered):
			cancel(c.doing("keep", h.Number, c.answer(err)))
		}

		c.forget(h.key())
	}()

	return kept, func() {
		cancel(nil)
		<-done
	}
}

// Owns returns nil while the worker may act under a hold that this client has claimed or renewed.
// It sends no request. Call it before every step that others can see. It returns [ErrLost] when the
// lease has expired by the local clock, and after [Client.Release].
func (c *Client) Owns(h Hold) error {
	if err := c.of(h); err != nil {
		return c.doing("own", h.Number, err)
	}
	known, ours := c.recall(h.key())
	switch {
	case !ours:
		return c.doing("own", h.Number, lost("this client has not claimed or renewed it, or it is over"))
	case !c.s.Ledger.Owns(known):
		return c.doing("own", h.Number, lost("its lease has expired"))
	}

	return nil
}

// ReleaseOptions say how a hold ends. The zero value is valid.
type ReleaseOptions struct {
	Outcome Outcome // empty is success with a pull request or Done, else cancelled; of a person's hold it is empty
	PR      string  // URL of the pull request with the work
	Done    bool    // close the issue as completed: it is done without a pull request; not with PR
	Reason  string  // for people
}

// Release ends a hold. Idempotent for one outcome; a hold that its own pull request has ended is
// released as success already. A hold that ended otherwise is [ErrLost]. After OutcomeSuccess
// without PR and Done the issue is ready again, and Options.Warn is told.
func (c *Client) Release(ctx context.Context, h Hold, o ReleaseOptions) error {
	if err := c.of(h); err != nil {
		return c.doing("release", h.Number, err)
	}
	if h.Person != "" && (o.Outcome != "" || o.PR != "" || o.Done) {
		return c.doing("release", h.Number,
			fmt.Errorf("%w: a person's hold ends without an outcome or a pull request", ErrInvalid))
	}

	e := ledger.Ending{
		Worker:  h.key().worker,
		Outcome: string(o.Outcome),
		PR:      o.PR,
		Done:    o.Done,
		Reason:  o.Reason,
		Token:   h.Token,
	}

	if known, ours := c.recall(h.key()); ours && known.Record.By != "" {
		e.By = h.Person // an app wrote the claim for this person
	}
	c.forget(h.key()) // whatever comes of it, the work is over
	rep, err := c.s.Ledger.Release(ctx, c.issue(h.Number), e)
	if rep.Unproven {
		c.warn(rep.Issue.String() + ": ready again, because success was recorded without a pull request; name one with PR, or close the issue with Done")
	}

	return c.doing("release", h.Number, c.answer(err))
}

// Check answers whether an issue is free: nil is yes, [ErrHeld] no.
func (c *Client) Check(ctx context.Context, number int) error {
	i := c.issue(number)
	_, v, err := c.s.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err == nil && v.Answer != lifecycle.Free {
		err = &ledger.HeldError{Issue: i, Verdict: v}
	}
	return c.doing("check", number, c.answer(err))
}

// ForceRelease ends the current hold, whoever has it. The release is recorded in the name of the
// token's login. A no-op if nobody holds the issue. Until its next heartbeat or push the former
// holder may still act.
func (c *Client) ForceRelease(ctx context.Context, number int, reason string) error {
	by, err := c.s.Client.Viewer(ctx)
	if err == nil {
		var ended []claim.Claim
		_, ended, err = c.s.Ledger.Force(ctx, c.issue(number), by, reason)
		for _, e := range ended {
			c.forget(holdKey{number, e.Record.Worker})
		}
	}

	return c.doing("force", number, c.answer(err))
}
