package ledger

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

const (
	posts      = 4                // tries to get one record into the log
	detachedIn = 20 * time.Second // how long clean-up may go on after the caller gave up
)

// landed finds the comment by which a record of ours is already in the log.
type landed func(claim.State) (url string, ok bool)

// append posts one record. A lost answer is resolved by looking before repeating (PROTOCOL
// section 3, step 1): in reports whether the record is there. The comment is zero when it was found that way.
func (l *Ledger) append(ctx context.Context, i claim.Issue, body string, in landed) (claim.Comment, error) {
	var last error
	for n := range posts {
		if err := l.pause(ctx, n, backoff(n)); err != nil {
			return claim.Comment{}, errors.Join(last, err)
		}
		url, there, err := l.posted(ctx, i, n, in)
		switch {
		case there:
			return claim.Comment{URL: url}, nil
		case err != nil:
			last = err
			continue
		}
		c, err := l.forge.Comment(ctx, i, body)
		switch {
		case err == nil:
			return c, nil
		case lease.Rejected(err):
			return c, openError(last, err)
		}
		last = err
	}
	return claim.Comment{}, last
}

// posted asks the log for the record before it is posted again; before the first try, n = 0, it cannot be there.
func (l *Ledger) posted(ctx context.Context, i claim.Issue, n int, in landed) (url string, there bool, err error) {
	if n == 0 {
		return "", false, nil
	}
	f, err := l.facts(ctx, i)
	if err != nil {
		return "", false, err
	}
	url, there = in(f.Log)
	return url, there, nil
}

// openError is a refusal that says nothing about an earlier try whose answer was lost.
func openError(earlier, refusal error) error {
	if earlier == nil {
		return refusal
	}
	return open{errors.Join(earlier, refusal)}
}

type open struct{ error }

// Rejected reports false: an earlier try may have been applied.
func (open) Rejected() bool { return false }

func (o open) Unwrap() error { return o.error }

// release posts the end of w's claim; it is a success when the log shows the end already. A strict
// store gives its lease back first: the log only follows.
func (l *Ledger) release(ctx context.Context, i claim.Issue, r claim.Record, sentence string) (claim.Comment, error) {
	body, err := claim.Body(r, sentence)
	if err != nil {
		return claim.Comment{}, &CallError{err}
	}
	if err := l.endLease(ctx, i, r.Worker); err != nil {
		return claim.Comment{}, err
	}
	return l.append(ctx, i, body, func(s claim.State) (string, bool) {
		c, claimed := s.Find(r.Worker)
		switch {
		case claimed && c.End != nil:
			return c.End.URL, true
		case claimed: // and a store may have let it go: that is not in the log
			return "", false
		}
		return "", s.Dead(r.Worker)
	})
}

// tombstone kills an own key that will not become a hold, even when the caller's context is
// over: a claim left behind would block everyone until it lapses (study K5).
func (l *Ledger) tombstone(ctx context.Context, i claim.Issue, w claim.Worker, outcome string, now time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedIn)
	defer cancel()
	r := claim.Record{Kind: claim.KindRelease, Worker: w, Outcome: outcome, At: now}
	_, err := l.release(ctx, i, r, sentence(r))
	return err
}

// over lists the claims whose end is to be recorded: those that have lapsed, and those that a
// store gave away a lease and a grace ago.
func (l *Ledger) over(f lifecycle.Facts) []claim.Claim {
	all := append(f.Log.Live(), f.Log.Overruled()...)
	return slices.DeleteFunc(all, func(c claim.Claim) bool { return c.Stored || !c.Over(l.set.Rules.Terms, f.Now) })
}

// lapse is the outcome of a hold that ran out. It counts as an attempt only when there was work to
// do and nobody did it.
func lapse(f lifecycle.Facts, c claim.Claim) string {
	switch {
	case !f.Open, c.Record.Worker.Codename == claim.StageLock: // whose end nobody writes down
		return claim.OutcomeCancelled
	case c.Plan.Pending():
		return claim.OutcomePlanTimeout
	case c.Provisional():
		return claim.OutcomeBundleRolledBack
	}
	return claim.OutcomeStaleSwept
}

// expire records the end of every claim whose lease and grace are over (PROTOCOL section 6).
// Only the record kills. Those in done were ended before, by a record this reading does not show yet.
func (l *Ledger) expire(ctx context.Context, f lifecycle.Facts, by string, done []claim.Claim) (ended []claim.Claim, err error) {
	for _, c := range l.over(f) {
		known := slices.ContainsFunc(done, func(d claim.Claim) bool { return d.Record.Worker == c.Record.Worker })
		if known {
			continue
		}
		r := claim.Record{Kind: claim.KindRelease, Worker: c.Record.Worker, Outcome: lapse(f, c), By: by, Attempt: c.Record.Attempt, At: f.Now}
		if _, err := l.release(ctx, f.Issue, r, sentence(r)); err != nil {
			return ended, err
		}
		ended = append(ended, c)
	}
	return ended, nil
}
