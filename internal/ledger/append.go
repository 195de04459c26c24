package ledger

import (
	"context"
	"errors"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

const posts = 4 // tries to get one record into the log

// landedIn finds the comment by which a record of ours is already in the log.
type landedIn func(claim.State) (url string, ok bool)

// append posts one record. A lost answer is resolved by looking before repeating
// (spec.md#claim): in reports whether the record is there. The comment is zero when it was found that way.
//
// Nothing is posted by a login whose records do not count: it would be told that it has what nobody else sees.
func (rs *records) append(ctx context.Context, i claim.Issue, body string, in landedIn) (claim.Comment, error) {
	if err := rs.checkCounts(ctx, i); err != nil {
		return claim.Comment{}, err
	}
	return rs.write(ctx, i, body, in, rs.forge.Comment)
}

// appendRead is append with a snapshot that shows the record, nil when it has to be read.
func (rs *records) appendRead(ctx context.Context, i claim.Issue, body string, in landedIn) (claim.Comment, *lifecycle.Facts, error) {
	if err := rs.checkCounts(ctx, i); err != nil {
		return claim.Comment{}, nil, err
	}
	return rs.writeRead(ctx, i, body, in)
}

// writeRead is appendRead without the question whether the record counts.
func (rs *records) writeRead(ctx context.Context, i claim.Issue, body string, in landedIn) (claim.Comment, *lifecycle.Facts, error) {
	at, able := rs.forge.(Recorder)
	var next *lifecycle.Facts
	c, err := rs.write(ctx, i, body, in, func(ctx context.Context, i claim.Issue, body string) (c claim.Comment, err error) {
		if !able {
			return rs.forge.Comment(ctx, i, body)
		}
		if c, next, err = at.Record(ctx, i, body); errors.Is(err, errors.ErrUnsupported) {
			able = false
			return rs.forge.Comment(ctx, i, body)
		}
		return c, err
	})
	if err != nil || next == nil || len(next.Missing)+len(next.Doubts) > 0 {
		return c, nil, err
	}
	if _, there := in(next.Log); !there {
		return c, nil, nil
	}
	return c, next, nil
}

// write posts a record without the question whether it counts.
func (rs *records) write(ctx context.Context, i claim.Issue, body string, in landedIn, post func(context.Context, claim.Issue, string) (claim.Comment, error)) (claim.Comment, error) {
	var last error
	for n := range posts {
		if n > 0 { // the log is asked for the record before it is posted again
			if err := rs.clock.Sleep(ctx, backoff(n)); err != nil {
				return claim.Comment{}, errors.Join(last, err)
			}
			f, err := rs.snapshots.Look(ctx, i)
			if err != nil {
				last = err
				continue
			}
			if url, there := in(f.Log); there {
				return claim.Comment{URL: url}, nil
			}
		}
		c, err := post(ctx, i, body)
		switch {
		case err == nil:
			return c, nil
		case lease.Rejected(err) && last == nil:
			return c, err
		case lease.Rejected(err):
			return c, protocol.StillOpen(errors.Join(last, err)) // it says nothing about an earlier try whose answer was lost
		}
		last = err
	}
	return claim.Comment{}, last
}

// checkCounts asks whether what we write on the issue counts for others. Its error says that nothing was written.
func (rs *records) checkCounts(ctx context.Context, i claim.Issue) error {
	jury, able := rs.forge.(Jury)
	if !able {
		return nil
	}
	if err := jury.Heard(ctx, Repo{i.Owner, i.Repo}); err != nil {
		return protocol.NotWritten(err)
	}
	return nil
}

// Heard reports why records of this login would count for nobody on the issue: an *UnknownError. nil means that they
// count. A claim asks it before it writes.
func (rs *records) Heard(ctx context.Context, i claim.Issue) error {
	if err := rs.checkCounts(ctx, i); err != nil {
		return &UnknownError{Issue: i, Err: err}
	}
	return nil
}

// tombstone ends an own claim that will not become a hold, and no other process's claim of the key, even when the caller's context is
// over: a claim left behind would block everyone until it expires (spec.md#claim). The claim was written, so its end is, too,
// also when it has become unknown whether our records count.
func (rs *records) tombstone(ctx context.Context, f lifecycle.Facts, w claim.Worker, nonce, outcome string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedIn)
	defer cancel()
	r := claim.Record{Kind: claim.KindRelease, Worker: w, Nonce: nonce, Outcome: outcome, At: f.Now}
	_, err := rs.doBy(ctx, f, r, rs.writeRead)
	return err
}

// expire records the end of every claim whose lease and grace are over (spec.md#expire).
// Only the record kills. Those in done were ended before, by a record this snapshot does not show yet. Each further record has a
// snapshot of its own: another sweep may have written it since.
func (rs *records) expire(ctx context.Context, f lifecycle.Facts, by string, done []claim.Claim) (ended []claim.Claim, err error) {
	for _, c := range rs.set.Rules.Over(f) {
		known := slices.ContainsFunc(done, func(d claim.Claim) bool { return d.Record.Worker == c.Record.Worker })
		if known {
			continue
		}
		if len(ended) > 0 {
			now, err := rs.snapshots.Look(ctx, f.Issue)
			if err != nil {
				return ended, err
			}
			if own, _ := now.Log.Find(c.Record.Worker); own.End != nil {
				continue
			}
		}
		r := claim.Record{Kind: claim.KindRelease, Worker: c.Record.Worker, Outcome: f.ExpiryOutcome(c), By: by, Attempt: c.Record.Attempt, At: f.Now}
		if _, err := rs.do(ctx, f, r); err != nil {
			return ended, err
		}
		ended = append(ended, c)
	}
	return ended, nil
}

// edit replaces the body of an own claim comment; what was answered ambiguously is repeated.
func (rs *records) edit(ctx context.Context, f lifecycle.Facts, id int64, r claim.Record) (claim.Comment, error) {
	body, err := claim.Body(r, protocol.Sentence(f, r))
	if err != nil {
		return claim.Comment{}, &CallError{Err: err}
	}
	var last error
	for n := range posts {
		if err := rs.pause(ctx, n, backoff(n)); err != nil {
			return claim.Comment{}, errors.Join(last, err)
		}
		c, err := rs.forge.EditComment(ctx, f.Issue, id, body)
		if err == nil || lease.Rejected(err) || errors.Is(err, ErrGone) {
			return c, err
		}
		last = err
	}
	return claim.Comment{}, last
}
