package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Repair is what a reconcile did to the labels of an issue.
type Repair struct {
	Issue   claim.Issue
	Title   string
	URL     string
	Was, Is []string // lifecycle labels before and after
	Change  labels.Change
	Why     string
	Picture labels.Picture
	// Stranded says why nothing will move the issue from here; empty when something will.
	Stranded string
}

// Reconcile brings the labels of an issue in line with its facts (PROTOCOL section 7): add what
// is missing, then remove what is surplus, read again, until nothing differs. What people are to be
// told of it is told first (lifecycle.Rules.Due). Labels that did
// not settle are a *LabelsError wrapping ErrDirty; a reading that failed is an *UnknownError.
func (l *Ledger) Reconcile(ctx context.Context, i claim.Issue) (Repair, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return Repair{Issue: i}, err
	}
	return l.reconcile(ctx, f)
}

// reconcile starts from a reading that is fresh.
func (l *Ledger) reconcile(ctx context.Context, f lifecycle.Facts) (Repair, error) {
	rep := Repair{Issue: f.Issue, Title: f.Title, URL: f.URL, Was: l.lifecycleOf(f)}
	for n := range l.set.Reconciles {
		f, err := l.round(ctx, f, n)
		if err != nil {
			return rep, &LabelsError{rep.Issue, err}
		}
		l.unrepeat(ctx, f)
		told, err := l.announce(ctx, f)
		if err != nil {
			return rep, &LabelsError{f.Issue, err}
		}
		picture, why := l.set.Rules.Label(f)
		change := l.set.Rules.Scheme.Change(f.Labels, picture)
		rep.Is, rep.Picture, rep.Stranded = l.lifecycleOf(f), picture, l.set.Rules.Stranded(f)
		if n == 0 || rep.Why == "" {
			rep.Why = why
		}
		if change.Empty() && !told {
			return rep, nil
		}
		if err := l.relabel(ctx, f.Issue, change); err != nil {
			return rep, &LabelsError{f.Issue, err}
		}
		rep.Change.Add = append(rep.Change.Add, change.Add...)
		rep.Change.Remove = append(rep.Change.Remove, change.Remove...)
	}
	return rep, &LabelsError{f.Issue, ErrDirty}
}

// round is the reading that round n of a reconcile works from: f in the first, then a new one, and from the third round
// on it waits before it reads, so that two reconcilers do not keep step.
func (l *Ledger) round(ctx context.Context, f lifecycle.Facts, n int) (lifecycle.Facts, error) {
	if n == 0 {
		return f, nil
	}
	if n > 1 {
		if err := l.clock.Sleep(ctx, l.jitter(n)); err != nil {
			return f, err
		}
	}
	return l.facts(ctx, f.Issue)
}

// relabel adds before it removes, one label a request, and stops at the first failure.
func (l *Ledger) relabel(ctx context.Context, i claim.Issue, c labels.Change) error {
	for _, name := range c.Add {
		if err := l.forge.AddLabel(ctx, i, name); err != nil {
			return err
		}
	}
	for _, name := range c.Remove {
		if err := l.forge.RemoveLabel(ctx, i, name); err != nil {
			return err
		}
	}
	return nil
}

func (l *Ledger) lifecycleOf(f lifecycle.Facts) []string {
	return l.set.Rules.Scheme.Shown(f.Labels)
}
