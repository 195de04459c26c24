package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// takeAsPerson sets a person's hold: a label that no sweep removes (PRODUCT ruling 15).
func (c *call) takeAsPerson(ctx context.Context, i claim.Issue) error {
	if err := c.onlyForWorkers("ttl", "branch", "wait", "firing-id"); err != nil {
		return err
	}
	f, v, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err != nil {
		return err
	}
	if stops := c.stopsPerson(v); len(stops.Reasons) > 0 {
		return &ledger.HeldError{Issue: i, Verdict: stops}
	}
	hold := c.Ledger.Rules().Scheme.Hold
	if c.Bool("dry-run") {
		return c.answer(reply{Issue: i.String(), Answer: "free"}, fmt.Sprintf("would put %s on %s %s\n", hold, i, oneLine(f.Title)))
	}
	if err := c.holdAsPerson(ctx, i, v); err != nil {
		return err
	}
	text := fmt.Sprintf("%s %s is yours (label %s)\n", i, oneLine(f.Title), hold)
	if v.Has(lifecycle.CodeHold) {
		text = fmt.Sprintf("%s %s has the label %s already: a person holds it\n", i, oneLine(f.Title), hold)
	}
	return c.answer(reply{Issue: i.String(), Answer: "won"}, text+fmt.Sprintf("give it back with: label-state release %s\n", i))
}

// holdAsPerson puts the label on and then ends the worker's hold, if there is one, by force.
func (c *call) holdAsPerson(ctx context.Context, i claim.Issue, v lifecycle.Verdict) error {
	if err := c.Client.AddLabel(ctx, i, c.Ledger.Rules().Scheme.Hold); err != nil {
		return err
	}
	if v.Has(lifecycle.CodeInFlight) {
		return c.force(ctx, i)
	}
	return nil
}

// stopsPerson keeps what stops a person: less than what stops a worker, because a person may well
// take what is paused, blocked or too vague.
func (c *call) stopsPerson(v lifecycle.Verdict) lifecycle.Verdict {
	stops := []lifecycle.Code{lifecycle.CodePROpen, lifecycle.CodeClosed, lifecycle.CodePullRequest}
	if !c.Bool("force") {
		stops = append(stops, lifecycle.CodeInFlight)
	}
	v.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons), func(r lifecycle.Reason) bool { return !slices.Contains(stops, r.Code) })
	return v
}

func (c *call) onlyForWorkers(flags ...string) error {
	for _, flag := range flags {
		if c.IsSet(flag) {
			return wrong(path(c.Context), "--%s is for workers; say which with --codename", flag)
		}
	}
	return nil
}

func (c *call) releaseAsPerson(ctx context.Context, i claim.Issue) error {
	if err := c.onlyForWorkers("outcome", "pr", "transition-to"); err != nil {
		return err
	}
	hold := c.Ledger.Rules().Scheme.Hold
	f, _, err := c.Ledger.Check(ctx, i, c.seeker())
	if err != nil {
		return err
	}
	if !labels.Has(f.Labels, hold) {
		no := &answerNo{fmt.Sprintf("no person holds it (no label %s), and this work tree has no worker's hold on it", hold)}
		return &failure{err: no, hint: "see who holds it: label-state status " + i.String()}
	}
	if c.Bool("dry-run") {
		return c.answer(reply{Issue: i.String(), Answer: "dry-run"}, fmt.Sprintf("would take %s off %s\n", hold, i))
	}
	if err := c.Client.RemoveLabel(ctx, i, hold); err != nil {
		return err
	}
	return c.answer(reply{Issue: i.String(), Answer: "released"}, fmt.Sprintf("released %s: %s is off\n", i, hold))
}
