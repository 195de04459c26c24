package claim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Errors of Refuse.
var (
	ErrKeyUsed   = errors.New("this firing id was already used on the issue; claim with a new one")
	ErrNotHolder = errors.New("not the holder")
	ErrEnded     = errors.New("the hold has ended")
	ErrOverdue   = errors.New("the lease expired; an overdue hold is never renewed")
	ErrRevoked   = errors.New("the holder was asked to stop")
	ErrNoPlan    = errors.New("no plan is waiting")
	ErrUnsigned  = errors.New("by= must say who")
	ErrStale     = errors.New("the fencing token does not belong to the hold")

	ErrUnconfirmed = fmt.Errorf("%w: the claim was never confirmed", ErrNotHolder)
	ErrForeign     = fmt.Errorf("%w: the claim was written by", ErrNotHolder) // another login
)

// Refuse says why the record may not be written at server time now by the login author, or nil.
// Writers ask it before every post. What was written anyway counts for nothing in Replay, except
// what only time speaks against. Whether the issue is free at all is lifecycle's question.
func (s State) Refuse(r Record, author string, t Terms, now time.Time) error {
	c, claimed := s.Find(r.Worker)
	switch {
	case r.Kind == KindClaim && s.Used(r.Worker):
		return ErrKeyUsed
	case r.By == "" && r.Kind.About().Signed:
		return ErrUnsigned
	case r.Kind == KindClaim, r.Kind == KindReset:
		return nil
	}

	if !claimed {
		return s.unheld(r.Worker)
	}

	// When a lease store let the claim run out and nobody has the issue since, its worker may still
	// say how the work ended.
	unclaimed := c.Overruled && len(s.Live()) == 0
	if !c.Live() && !(r.Kind == KindRelease && unclaimed) {
		return fmt.Errorf("%w: %s", ErrEnded, c.End.describe())
	}

	stranger := !c.WrittenBy(author)
	switch r.Kind {
	case KindRelease:
		if r.By == "" && stranger {
			return c.foreign()
		}

	case KindPlan:
		switch {
		case stranger:
			return c.foreign()
		case !c.Held():
			return ErrUnconfirmed
		case c.Overdue(t, now):
			return ErrOverdue
		}

	case KindApprove, KindReject:
		switch {
		case !c.Plan.Pending():
			return ErrNoPlan
		case r.Kind == KindApprove && c.Overdue(t, now):
			return ErrOverdue
		}
	}

	return nil
}

// RefuseToken says why a caller that shows this fencing token may not act as w, or nil. 0 shows
// none. The token must be the recorded one. A claim without a recorded token is of another writer;
// its token must be one that this log can have given: larger than those of the other claims, and at
// most the index.
func (s State) RefuseToken(w Worker, token int64) error {
	c, _ := s.Find(w)
	switch {
	case token == 0 || token == c.Record.Token:
		return nil
	case slices.ContainsFunc(c.Bids, func(b Bid) bool { return b.Record.Token == token && b.Nonce != c.Record.Nonce }):
		return fmt.Errorf("%w: %d was shown, the hold has %d: another process of this run has taken it over", ErrStale,
			token, c.Record.Token)
	case c.Record.Token != 0:
		return fmt.Errorf("%w: %d was shown, the hold has %d", ErrStale, token, c.Record.Token)
	case token <= s.largestToken(w, c.Record.Nonce) || token > s.Index():
		return fmt.Errorf("%w: %d was shown, which this log never gave out", ErrStale, token)
	}

	return nil
}

// RefuseLogin says why the login may not act as w, or nil: a key belongs to the login that wrote
// its claim. A claim that only others have mirrored has no login. Who acts with what the log shows
// of an ended hold asks it as well.
func (s State) RefuseLogin(w Worker, login string) error {
	c, _ := s.Find(w)
	if !c.WrittenBy(login) {
		return c.foreign()
	}
	return nil
}

// foreign is that another login wrote the claim, and whose hold that is where it is not the
// login's.
func (c Claim) foreign() error {
	if c.IsOf(c.Author) {
		return fmt.Errorf("%w %s", ErrForeign, c.Author)
	}
	return fmt.Errorf("%w %s, as %s", ErrForeign, c.Author, c.Holder())
}

// WrittenBy reports whether the login wrote the claim, or nobody of whom the log tells did.
func (c Claim) WrittenBy(login string) bool { return c.Author == "" || SameLogin(c.Author, login) }

// unheld says why a worker without a claim in the log may not act: the record that ended its key,
// if there is one.
func (s State) unheld(w Worker) error {
	for _, e := range s.Log {
		if e.Record.Kind == KindRelease && e.Record.Worker == w {
			return fmt.Errorf("%w: %s", ErrEnded, releaseOf(e).describe())
		}
	}
	return fmt.Errorf("%w: the log has no claim of %s", ErrNotHolder, w)
}

// RefuseRenewal says why w may not extend its lease at server time now, or nil. margin is how
// long before the end a holder already considers itself expired (spec-writing.md#heartbeat).
func (s State) RefuseRenewal(w Worker, author string, t Terms, now time.Time, margin time.Duration) error {
	c, claimed := s.Find(w)
	switch {
	case !claimed:
		return s.unheld(w)
	case !c.Live():
		return fmt.Errorf("%w: %s", ErrEnded, c.End.describe())
	case !c.WrittenBy(author):
		return c.foreign()
	case !c.Held():
		return ErrUnconfirmed
	case c.Revoked != nil:
		return c.RefuseRevoked()
	case c.Overdue(t, now.Add(margin)):
		return ErrOverdue
	}

	// two confirmed claims do not come from the protocol: a person edited or deleted a comment, and
	// then it counted again
	for _, o := range s.Live() {
		if o.Held() && !o.Expired(t, now) && o.Rank.Compare(c.Rank) < 0 && !c.Stored {
			return fmt.Errorf("%w: the claim of %s comes before it", ErrNotHolder, o.Record.Worker)
		}
	}

	return nil
}

// RefuseRevoked says who has asked the holder to stop, or nil.
func (c Claim) RefuseRevoked() error {
	if c.Revoked == nil {
		return nil
	}
	return fmt.Errorf("%w by %s", ErrRevoked, c.Revoked.Who())
}

// RefuseHolder says why the process of w that has this fencing token does not hold the issue at
// server time now, or nil; 0 is a token that it does not know.
func (s State) RefuseHolder(w Worker, token int64, t Terms, now time.Time) error {
	c, _ := s.Find(w)
	return cmp.Or(s.RefuseRenewal(w, c.Author, t, now, 0), s.RefuseToken(w, token))
}

// describe words the end of a claim for an error; nil is a claim that only the lease store has
// ended.
func (r *Release) describe() string {
	if r == nil {
		return "the lease store no longer has it"
	}
	out := r.Outcome
	if winner, lost := Yielded(out); lost {
		out = "lost the race to " + winner.String()
	}

	if out == "" {
		out = "released"
	}

	if r.By != "" {
		out += " by " + r.Who()
	}

	return out + " at " + r.At.UTC().Format("2006-01-02 15:04:05 UTC")
}
