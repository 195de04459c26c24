package githubwork

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/work"
)

// Claim takes an issue that is in the queue. What Fetch has found free a moment ago is claimed as
// it was found; any other issue is read first, so that the agent works from today's text. It asks
// what Fetch asks.
func (s *Source) Claim(ctx context.Context, id string) (work.Claimed, error) {
	issue, err := s.issue(id)
	if err != nil {
		return work.Claimed{}, err
	}

	s.mu.Lock()
	found := s.free[issue.Number]
	delete(s.free, issue.Number)
	s.mu.Unlock()
	item, has, judged := found.item, found.snapshot.Facts.Labels, found.snapshot
	if !s.ledger.Fresh(issue, judged) {
		read, err := s.read(ctx, id)
		if err != nil {
			return work.Claimed{}, err
		}

		before := item.Tried
		item, has, judged = s.item(read), read.Labels, ledger.Snapshot{}
		item.Tried = before
	}

	scheme := s.scheme()
	queued := slices.ContainsFunc(scheme.Queues(), func(q string) bool { return labels.Has(has, q) })
	if !queued && !labels.Has(has, scheme.Claimed) {
		return work.Claimed{}, work.Refused(id, work.InvalidState, "%s is not in the queue (no label %s)", issue,
			strings.Join(scheme.Queues(), ", "))
	}

	for _, x := range s.o.Exclude {
		if labels.Has(has, x) {
			return work.Claimed{}, work.Refused(id, work.InvalidState, "%s is kept from this agent by its label %s",
				issue, x)
		}
	}

	h, err := s.o.Take(ctx, issue, ledger.Request{Worker: s.o.Worker, TTL: s.o.TTL, Judged: judged})
	if err != nil {
		return work.Claimed{}, refusal(id, err)
	}

	s.mu.Lock()
	s.holds[issue.Number] = h
	s.mu.Unlock()
	s.o.Won(h)

	item.Claimed = true
	return work.Claimed{
		Item:  item,
		Agent: h.Record.Worker.Codename,
		Run:   h.Record.Worker.FiringID,
		Token: h.Token,
		Until: h.Until,
		Lease: h.Lease(),
	}, nil
}

// late turns a success whose labels could not be written into a warning.
func (s *Source) late(err error) error {
	var late *ledger.LabelsError
	if errors.As(err, &late) {
		s.o.Warn(late)
		return nil
	}
	return err
}

// Hold returns the hold that this process has taken on an item.
func (s *Source) Hold(id string) (ledger.Hold, bool) {
	issue, _ := s.issue(id) // what names no issue is number 0
	s.mu.Lock()
	defer s.mu.Unlock()
	h, found := s.holds[issue.Number]
	return h, found
}

// refusal sorts an error into the reasons of package work. The cause stays in it.
func refusal(id string, err error) error {
	var (
		known   *work.Error
		held    *ledger.HeldError
		lost    *ledger.LostError
		missing *github.NotFoundError
		allowed *github.PermissionError
		auth    *github.AuthError
		limit   *github.RateLimitError
	)
	reason := work.SourceError
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &held) && (held.Yielded != nil ||
		slices.ContainsFunc(held.Verdict.Reasons, func(r lifecycle.Reason) bool { return r.Code.Meaning().Taken })):
		reason = work.AlreadyClaimed // by somebody else; what is held for another reason nobody may have
	case errors.As(err, &held), errors.As(err, &lost), answer.Is(err, answer.Usage):
		reason = work.InvalidState
	case errors.As(err, &limit):
		reason = work.RateLimited
	case errors.As(err, &allowed), errors.As(err, &auth):
		reason = work.PermissionDenied
	case errors.As(err, &missing):
		reason = work.NotFound
	}

	return &work.Error{ID: id, Reason: reason, Err: err}
}
