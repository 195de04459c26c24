package githubwork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/work"
)

// Complete posts a comment with the result and ends the hold; success closes the issue first. After
// failure or partial the log says what is next (spec.md#attempts). Every step may be repeated.
func (s *Source) Complete(ctx context.Context, id string, r work.Result) error {
	if r.Outcome != work.Success && r.Outcome != work.Failure && r.Outcome != work.Partial {
		return &work.OptionError{
			Option:  "outcome",
			Problem: fmt.Sprintf("%q: expected success, failure, partial", r.Outcome),
		}
	}

	t, err := s.mine(ctx, id, string(r.Outcome))
	if err != nil {
		return err
	}

	w := t.hold.Record.Worker
	if err := s.tell(ctx, t.issue, "result", w, r.Comment(w.Codename)); err != nil {
		return refusal(id, err)
	}

	if s.o.KeepFailed && r.Outcome != work.Success {
		if err := s.client.AddLabel(ctx, t.issue, s.scheme().NeedsScope); err != nil {
			return refusal(id, err)
		}
	}

	return s.end(ctx, id, t.issue, ledger.Ending{
		Worker:  w,
		Outcome: string(r.Outcome),
		Done:    r.Outcome == work.Success,
		Reason:  short(r.Summary),
		Token:   t.hold.Token,
	})
}

// Release releases an issue undone: one that is closed, not claimed or not ours is refused.
func (s *Source) Release(ctx context.Context, id string, o work.ReleaseOptions) error {
	t, err := s.mine(ctx, id, claim.OutcomeCancelled)
	if err != nil {
		return err
	}

	w := t.hold.Record.Worker
	if !t.open {
		return work.Refused(id, work.InvalidState, "%s is closed", t.issue)
	}

	if o.Comment {
		if err := s.tell(ctx, t.issue, "release", w, o.Note(w.Codename)); err != nil {
			return refusal(id, err)
		}
	}

	return s.end(ctx, id, t.issue, ledger.Ending{
		Worker:  w,
		Outcome: claim.OutcomeCancelled,
		Reason:  short(o.Reason),
		Token:   t.hold.Token,
	})
}

// A task is an issue under a hold of ours.
type task struct {
	issue claim.Issue
	hold  ledger.Hold
	open  bool
}

// mine reads the issue and makes sure that we hold it, as the login that wrote the claim and with
// the fencing token that it returned, or have ended the hold with that very outcome.
func (s *Source) mine(ctx context.Context, id, outcome string) (task, error) {
	i, err := s.issue(id)
	if err != nil {
		return task{}, err
	}

	h, found := s.Hold(id)
	if !found { // perhaps an earlier process has taken it
		h, found = s.o.Recall(i)
	}

	if !found {
		return task{}, work.Refused(id, work.InvalidState, "%s is not claimed from here", i)
	}

	w := h.Record.Worker
	f, err := s.ledger.Look(ctx, i)
	if err != nil {
		return task{}, refusal(id, err)
	}

	own, found := f.Log.Find(w)
	stale := cmp.Or(f.Log.RefuseLogin(w, f.Viewer), f.Log.RefuseToken(w, h.Token))
	switch {
	case !found:
		stale = claim.ErrNotHolder
	case !own.Live() && (own.End == nil || own.End.By != "" || own.End.Outcome != outcome):
		stale = claim.ErrEnded
	}

	if stale != nil {
		return task{}, refusal(id, &ledger.LostError{Issue: i, Worker: w, Err: stale})
	}

	return task{i, h, f.Open}, nil
}

// posts is how often a comment is tried whose answer got lost.
const posts = 4

// tell posts one comment of ours, unless it is there: its first line says which it is. A lost
// answer is resolved by looking before repeating.
func (s *Source) tell(ctx context.Context, i claim.Issue, what string, w claim.Worker, text string) (err error) {
	mark := fmt.Sprintf("<!-- label-state-%s %s -->", what, w)
	for n := range posts {
		if n > 0 {
			if stopped := s.o.Wait(ctx, time.Second<<n); stopped != nil {
				return errors.Join(err, stopped)
			}
		}

		said, unread := s.client.Said(ctx, i, mark)
		if unread != nil || said {
			return unread
		}
		if _, err = s.client.Comment(ctx, i, mark+"\n"+text); err == nil || lease.Rejected(err) {
			return err
		}
	}

	return err
}

func (s *Source) end(ctx context.Context, id string, i claim.Issue, e ledger.Ending) error {
	_, err := s.ledger.Release(ctx, i, e)
	if err = s.late(err); err != nil {
		return refusal(id, err)
	}

	s.mu.Lock()
	delete(s.holds, i.Number)
	s.mu.Unlock()
	s.o.Ended(i, e.Worker)

	return nil
}

// short is what of a summary goes into the record.
func short(text string) string { return printable.Short(text, 200) }
