package ledger

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Claim takes the issue for a worker, or says why not (protocol.Claim). A login whose records do
// not count for others is an *UnknownError before anything is written .
func (l *Ledger) Claim(ctx context.Context, i claim.Issue, req Request) (Hold, error) {
	op, err := l.claim(i, req)
	if err != nil {
		return Hold{}, err
	}
	end := l.runBy(ctx, i, req).through(op.Run)
	h, err := taken(end)
	var would *Unsent
	if errors.As(err, &would) {
		return h, l.afterExpired(would, req)
	}

	if h.Record.Held {
		l.Told(i, h.Record.Worker, h.Record.Nonce, h.Since)
	}

	if errors.Is(h.Unassigned, ErrUnassignable) {
		h.Record = l.disown(ctx, end.Facts, h.Comment, h.Record)
	}

	return h, err
}

// afterExpired is the error of a claim's dry run. Where its first write would end an expired hold,
// the claim goes on from there, and may be refused then.
func (l *Ledger) afterExpired(would *Unsent, req Request) error {
	_, v, err := l.verdict(would.Facts, req.Seeker())
	switch {
	case err != nil:
		return err
	case len(v.Expired) > 0 && len(v.Reasons) > 0:
		return &HeldError{Issue: would.Facts.Issue, Verdict: v}
	}

	return would
}

// runBy is a run that goes by the snapshot by which the caller chose the issue, while that is
// fresh.
func (l *Ledger) runBy(ctx context.Context, i claim.Issue, req Request) *run {
	r := &run{Ledger: l, ctx: ctx, issue: i}
	if l.Fresh(i, req.Judged) {
		r.judged = &lifecycle.Snapshot{Facts: req.Judged.Facts}
	}

	return r
}

// taken is the hold of a claim that has ended so.
func taken(end protocol.Conclusion) (Hold, error) {
	if end.Err != nil && !late(end.Err) {
		return Hold{}, end.Err
	}
	c := end.Claim

	return Hold{
		Issue:      end.Facts.Issue,
		Title:      end.Facts.Title,
		Record:     c.Record,
		Comment:    end.Comment.ID,
		URL:        c.URL,
		Token:      c.Record.Token,
		Since:      c.Created,
		Until:      end.Until,
		start:      end.Began.Add(end.Since),
		lease:      end.Term,
		Unassigned: end.Unassigned,
	}, end.Err
}

// claim checks the request and begins a claim; nothing is read or written yet. The error is
// an answer.Usage.
func (l *Ledger) claim(i claim.Issue, req Request) (protocol.Claim, error) {
	nonce := cmp.Or(req.Nonce, l.token())
	if req.Worker.FiringID == "" {
		req.Worker.FiringID = l.firing(nonce)
	}
	return protocol.NewClaim(l.config(), i, req, nonce)
}

// MayClaim is the part of Claim that asks nobody: an answer.Usage for a request that makes no
// sense.
func (l *Ledger) MayClaim(i claim.Issue, req Request) error {
	_, err := l.claim(i, req)
	return err
}

// Heard reports why records of this login would count for nobody on the issue: an *UnknownError.
// nil means that they count. A claim asks it before it writes.
func (l *Ledger) Heard(ctx context.Context, i claim.Issue) error {
	r := run{Ledger: l, ctx: ctx, issue: i}
	if err := r.counts(); err != nil {
		return &UnknownError{Issue: i, Err: err}
	}
	return nil
}

// firing makes up a firing id.
func (l *Ledger) firing(nonce string) string {
	if l.set.Run != "" {
		return l.set.Run + "-" + nonce
	}
	return runID(l.clock.Now(), nonce)
}

// runID names what a worker or a sweep does now: for people by its time, for records by the word.
func runID(now time.Time, word string) string {
	return now.UTC().Format("20060102-150405") + "-" + word
}
