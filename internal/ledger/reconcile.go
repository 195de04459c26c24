package ledger

import (
	"context"
	"errors"
	"hash/fnv"
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
	// Unproven says of a release that it was a success which nothing shows, so that the issue is ready again.
	Unproven bool
}

// labelling brings labels in line with logs.
type labelling struct {
	*base
	snapshots *snapshots
	notices   *notices
}

// Reconcile brings the labels of an issue in line with its facts (spec.md#reconcile): add what
// is missing, then remove what is surplus, read again, until nothing differs. What people are to be
// told of it is told first (lifecycle.Rules.Due). Labels that did
// not settle are a *LabelsError wrapping ErrDirty; a snapshot that failed is an *UnknownError.
func (lb *labelling) Reconcile(ctx context.Context, i claim.Issue) (Repair, error) {
	f, err := lb.snapshots.Look(ctx, i)
	if err != nil {
		return Repair{Issue: i}, err
	}
	return lb.reconcile(ctx, f)
}

// reconcile starts from a snapshot that is fresh.
func (lb *labelling) reconcile(ctx context.Context, f lifecycle.Facts) (Repair, error) {
	holdIsOurs := false
	rep := Repair{Issue: f.Issue, Title: f.Title, URL: f.URL, Was: lb.set.Rules.Scheme.Shown(f.Labels), Is: lb.set.Rules.Scheme.Shown(f.Labels)}
	var next *lifecycle.Facts // read along with the first change
	for n := range lb.set.Reconciles {
		// The first round works from the snapshot it was given, a later one from that which came with the change, or else from a new one. From
		// the third on it waits before it reads, up to twice backoff(n) by chance, so that two reconcilers do not keep step.
		var err error
		if n > 0 && next != nil {
			f = *next
		} else if n > 0 {
			word := fnv.New32a()
			if n > 1 {
				word.Write([]byte(lb.token()))
				err = lb.clock.Sleep(ctx, time.Duration(float64(2*backoff(n))*float64(word.Sum32())/float64(1<<32)))
			}
			if err == nil {
				f, err = lb.snapshots.Look(ctx, rep.Issue)
			}
		}
		if err != nil {
			return rep, &LabelsError{rep.Issue, err}
		}
		if last, ended := f.Log.LastPerson(); ended && holdIsOurs {
			f.HoldAt = last.End.At.Add(-time.Second) // a label that this very reconcile put on is left behind when the hold has ended meanwhile
		}
		told, err := lb.notices.announce(ctx, f)
		if err != nil {
			return rep, &LabelsError{f.Issue, err}
		}
		projection, _ := lb.set.Rules.Label(f)
		change := lb.set.Rules.Scheme.Change(f.Labels, projection)
		rep.Is, rep.Projection, rep.Stranded = lb.set.Rules.Scheme.Shown(f.Labels), projection, lb.set.Rules.Stranded(f)
		if n == 0 || rep.Why == "" {
			rep.Why = lb.set.Rules.Explain(f, change)
		}
		if change.Empty() && !told {
			return rep, nil
		}
		if next, err = lb.relabel(ctx, f, change, n); err != nil {
			return rep, &LabelsError{f.Issue, err}
		}
		holdIsOurs = holdIsOurs || labels.Has(change.Add, lb.set.Rules.Scheme.Hold)
		rep.Change.Add = append(rep.Change.Add, change.Add...)
		rep.Change.Remove = append(rep.Change.Remove, change.Remove...)
	}
	return rep, &LabelsError{f.Issue, ErrDirty}
}

// relabel adds before it removes. In the first round of a reconcile it is one request where the forge can, and the issue as it is
// after that is returned; else it is one a label, stops at the first failure, and returns nil.
func (lb *labelling) relabel(ctx context.Context, f lifecycle.Facts, c labels.Change, round int) (*lifecycle.Facts, error) {
	if at, able := lb.forge.(Relabeler); able && round == 0 && !c.Empty() {
		next, err := at.Relabel(ctx, f.Issue, c)
		switch {
		case err == nil:
			if next, err = lb.snapshots.whole(f.Issue, next, nil); err == nil {
				next, err = lb.snapshots.Ruled(ctx, next)
			}
			return &next, err
		case !errors.Is(err, errors.ErrUnsupported):
			return nil, err
		}
	}
	for _, name := range c.Add {
		if err := lb.forge.AddLabel(ctx, f.Issue, name); err != nil {
			return nil, err
		}
	}
	for _, name := range c.Remove {
		if err := lb.forge.RemoveLabel(ctx, f.Issue, name); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// rereadAndReconcile reads again after a record was written and reconciles; the repair tells where the labels came from.
func (lb *labelling) rereadAndReconcile(ctx context.Context, before lifecycle.Facts) (Repair, error) {
	rep, _, err := lb.reconcileAfter(ctx, before, nil)
	return rep, err
}

// reconcileOwnEnd is reconcileAfter a worker ended its hold by r. If the snapshot shows that somebody else ended it before, which can
// happen while r is on its way, the error is a *LostError.
func (lb *labelling) reconcileOwnEnd(ctx context.Context, before lifecycle.Facts, next *lifecycle.Facts, r claim.Record) (Repair, error) {
	rep, now, err := lb.reconcileAfter(ctx, before, next)
	c, _ := now.Log.Find(r.Worker)
	if c.End == nil || c.Overruled || endsAs(now, *c.End, r) {
		return rep, err
	}
	if refusal := now.Log.Refuse(r, now.Viewer, lb.set.Rules.Terms, now.Now); refusal != nil {
		return rep, lb.lost(now, r.Worker, unrecorded(refusal, r))
	}
	return rep, err
}

// reconcileAfter reconciles after a record was written: by the snapshot that came with it, or, without one, by a new one, which it
// returns; the zero Facts when that could not be read. The repair tells where the labels came from. Whatever fails now is late labels:
// the record counts. A claimed label that is newer than it is a late write of our own, so it gets no grace.
func (lb *labelling) reconcileAfter(ctx context.Context, before lifecycle.Facts, next *lifecycle.Facts) (Repair, lifecycle.Facts, error) {
	b := *lb.base
	b.set.Rules.Stray = 0
	own := assemble(b).labelling
	var f lifecycle.Facts
	var err error
	if next != nil {
		f, err = own.snapshots.Ruled(ctx, *next)
	} else {
		f, err = own.snapshots.Look(ctx, before.Issue)
	}
	if err != nil {
		was := lb.set.Rules.Scheme.Shown(before.Labels)
		late := Repair{Issue: before.Issue, Title: before.Title, URL: before.URL, Was: was, Is: was}
		return late, lifecycle.Facts{}, lateLabels(before.Issue, err)
	}
	rep, err := own.reconcile(ctx, f)
	rep.Was = lb.set.Rules.Scheme.Shown(before.Labels)
	return rep, f, lateLabels(before.Issue, err)
}

// lateLabels is the error of a reconcile whose record counts: whatever went wrong, the labels are late.
func lateLabels(i claim.Issue, err error) error {
	var late *LabelsError
	if err == nil || errors.As(err, &late) {
		return err
	}
	return &LabelsError{i, err}
}
