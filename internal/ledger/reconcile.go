package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A Repair is what a reconcile did to the labels of an issue.
type Repair struct {
	Issue      claim.Issue
	Title      string
	URL        string
	Was, Is    []string // lifecycle labels before and after
	Change     labels.Change
	Why        string
	Projection labels.Projection
	// Stranded says why nothing will move the issue from here; empty when something will.
	Stranded string
}

// Reconcile brings the labels of an issue in line with its facts (spec.md#reconcile): add what
// is missing, then remove what is surplus, read again, until nothing differs. What people are to be
// told of it is told first (lifecycle.Rules.Due). Labels that did
// not settle are a *LabelsError wrapping ErrDirty; a snapshot that failed is an *UnknownError.
func (l *Ledger) Reconcile(ctx context.Context, i claim.Issue) (Repair, error) {
	f, err := l.facts(ctx, i)
	if err != nil {
		return Repair{Issue: i}, err
	}
	return l.reconcile(ctx, f)
}

// reconcile starts from a snapshot that is fresh.
func (l *Ledger) reconcile(ctx context.Context, f lifecycle.Facts) (Repair, error) {
	holdIsOurs := false
	rep := Repair{Issue: f.Issue, Title: f.Title, URL: f.URL, Was: l.lifecycleOf(f), Is: l.lifecycleOf(f)}
	var next *lifecycle.Facts // read along with the first change
	for n := range l.set.Reconciles {
		f, err := l.round(ctx, f, next, n)
		if err != nil {
			return rep, &LabelsError{rep.Issue, err}
		}
		if last, ended := f.Log.LastPerson(); ended && holdIsOurs {
			f.HoldAt = last.End.At.Add(-time.Second) // a label that this very reconcile put on is left behind when the hold has ended meanwhile
		}
		l.unrepeat(ctx, f)
		told, err := l.announce(ctx, f)
		if err != nil {
			return rep, &LabelsError{f.Issue, err}
		}
		projection, _ := l.set.Rules.Label(f)
		change := l.set.Rules.Scheme.Change(f.Labels, projection)
		rep.Is, rep.Projection, rep.Stranded = l.lifecycleOf(f), projection, l.set.Rules.Stranded(f)
		if n == 0 || rep.Why == "" {
			rep.Why = l.set.Rules.Explain(f, change)
		}
		if change.Empty() && !told {
			return rep, nil
		}
		if next, err = l.relabel(ctx, f, change, n); err != nil {
			return rep, &LabelsError{f.Issue, err}
		}
		holdIsOurs = holdIsOurs || labels.Has(change.Add, l.set.Rules.Scheme.Hold)
		rep.Change.Add = append(rep.Change.Add, change.Add...)
		rep.Change.Remove = append(rep.Change.Remove, change.Remove...)
	}
	return rep, &LabelsError{f.Issue, ErrDirty}
}

// round is the snapshot that round n of a reconcile works from: f in the first, then next, which came with the change, or else a
// new one, and from the third round on it waits before it reads, so that two reconcilers do not keep step.
func (l *Ledger) round(ctx context.Context, f lifecycle.Facts, next *lifecycle.Facts, n int) (lifecycle.Facts, error) {
	switch {
	case n == 0:
		return f, nil
	case next != nil:
		return *next, nil
	}
	if n > 1 {
		if err := l.clock.Sleep(ctx, l.jitter(n)); err != nil {
			return f, err
		}
	}
	return l.facts(ctx, f.Issue)
}

// relabel adds before it removes. In the first round of a reconcile it is one request where the forge can, and the issue as it is
// after that is returned; else it is one a label, stops at the first failure, and returns nil.
func (l *Ledger) relabel(ctx context.Context, f lifecycle.Facts, c labels.Change, round int) (*lifecycle.Facts, error) {
	if at, able := l.forge.(Relabeler); able && round == 0 && !c.Empty() {
		next, err := at.Relabel(ctx, f.Issue, c)
		switch {
		case err == nil:
			if next, err = l.whole(f.Issue, next, nil); err == nil {
				next, err = l.Ruled(ctx, next)
			}
			return &next, err
		case !errors.Is(err, errors.ErrUnsupported):
			return nil, err
		}
	}
	for _, name := range c.Add {
		if err := l.forge.AddLabel(ctx, f.Issue, name); err != nil {
			return nil, err
		}
	}
	for _, name := range c.Remove {
		if err := l.forge.RemoveLabel(ctx, f.Issue, name); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (l *Ledger) lifecycleOf(f lifecycle.Facts) []string {
	return l.set.Rules.Scheme.Shown(f.Labels)
}
