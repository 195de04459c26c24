package claim

import (
	"errors"
	"fmt"
	"time"
)

// Errors of Refuse.
var (
	ErrKeyUsed   = errors.New("this firing id was already used on the issue; claim with a new one")
	ErrNotHolder = errors.New("not the holder")
	ErrEnded     = errors.New("the hold has ended")
	ErrOverdue   = errors.New("the lease ran out; an overdue hold is never renewed")
	ErrRevoked   = errors.New("the holder was asked to stop")
	ErrNoPlan    = errors.New("no plan is waiting")
	ErrUnsigned  = errors.New("by= must say who")
	ErrStale     = errors.New("the fencing token is not the hold's")
)

// Refuse says why the record may not be written at server time now by the login author, or nil.
// Writers ask it before every post. What was written anyway counts for nothing in Replay, except
// what only time speaks against. Whether the issue may be taken at all is lifecycle's question.
func (s State) Refuse(r Record, author string, t Terms, now time.Time) error {
	c, claimed := s.Find(r.Worker)
	switch {
	case r.Kind == KindClaim && s.Used(r.Worker):
		return ErrKeyUsed
	case r.By == "" && needsBy(r.Kind):
		return ErrUnsigned
	case r.Kind == KindClaim, r.Kind == KindReset:
		return nil
	}
	if !claimed {
		return fmt.Errorf("%w: %s never claimed it", ErrNotHolder, r.Worker)
	}
	if !c.Live() && !(r.Kind == KindRelease && s.unclaimed(c)) {
		return fmt.Errorf("%w: %s", ErrEnded, c.End.describe())
	}
	return c.refuse(r, author, t, now)
}

// unclaimed reports whether a lease store let the claim run out and nobody has the issue since: its
// worker may still say how the work ended.
func (s State) unclaimed(c Claim) bool { return c.Overruled && len(s.Live()) == 0 }

// RefuseToken says why who shows this fencing token may not act as w, or nil. A token of 0 shows none;
// a claim whose token is not recorded yet is judged by its key alone.
func (s State) RefuseToken(w Worker, token int64) error {
	c, _ := s.Find(w)
	if token == 0 || c.Record.Token == 0 || token == c.Record.Token {
		return nil
	}
	return fmt.Errorf("%w: %d was shown, the hold has %d", ErrStale, token, c.Record.Token)
}

func (c Claim) refuse(r Record, author string, t Terms, now time.Time) error {
	stranger := c.Author != "" && !SameLogin(c.Author, author)
	switch r.Kind {
	case KindRelease:
		if r.By == "" && stranger {
			return fmt.Errorf("%w: the claim was written by %s", ErrNotHolder, c.Author)
		}
	case KindPlan:
		switch {
		case stranger:
			return fmt.Errorf("%w: the claim was written by %s", ErrNotHolder, c.Author)
		case !c.Held():
			return fmt.Errorf("%w: the claim was never confirmed", ErrNotHolder)
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

// needsBy reports whether records of the kind are other people's and must say whose.
func needsBy(k Kind) bool {
	return k == KindRevoke || k == KindApprove || k == KindReject || k == KindReset
}

// RefuseRenewal says why w may not extend its lease at server time now, or nil. margin is how
// long before the end a holder already considers itself lapsed (PROTOCOL sections 3 and 4).
func (s State) RefuseRenewal(w Worker, author string, t Terms, now time.Time, margin time.Duration) error {
	c, claimed := s.Find(w)
	switch {
	case !claimed:
		return fmt.Errorf("%w: %s never claimed it", ErrNotHolder, w)
	case !c.Live():
		return fmt.Errorf("%w: %s", ErrEnded, c.End.describe())
	case c.Author != "" && !SameLogin(c.Author, author):
		return fmt.Errorf("%w: the claim was written by %s", ErrNotHolder, c.Author)
	case !c.Held():
		return fmt.Errorf("%w: the claim was never confirmed", ErrNotHolder)
	case c.Revoked != nil:
		return fmt.Errorf("%w by %s", ErrRevoked, c.Revoked.By)
	case c.Overdue(t, now.Add(margin)):
		return ErrOverdue
	}
	if first, ok := s.before(c, t, now); ok && !c.Stored {
		return fmt.Errorf("%w: the claim of %s stands before it", ErrNotHolder, first.Record.Worker)
	}
	return nil
}

// before returns the confirmed claim that stands before c and has not lapsed. No protocol makes two: a person
// edited or deleted a comment, c was confirmed without that one, and then it counted again.
func (s State) before(c Claim, t Terms, now time.Time) (Claim, bool) {
	for _, o := range s.Live() {
		if o.Held() && !o.Lapsed(t, now) && o.Rank.Compare(c.Rank) < 0 {
			return o, true
		}
	}
	return Claim{}, false
}

func (r *Release) describe() string {
	if r == nil {
		return "the lease store gave it away"
	}
	out := r.Outcome
	if out == "" {
		out = "released"
	}
	if r.By != "" {
		out += " by " + r.By
	}
	return out + " at " + r.At.UTC().Format(time.RFC3339)
}
