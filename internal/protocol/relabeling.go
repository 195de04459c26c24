package protocol

import (
	"cmp"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
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
	// Unproven says of a release that it was a success which nothing shows, so that the issue is
	// ready again.
	Unproven bool
}

// A relabeling brings the labels of an issue in line with its facts (spec-writing.md#reconcile): it
// adds what is missing, then removes what is surplus, and looks again, until nothing differs. What
// people are to be told of it is told first (lifecycle.Rules.Due). Labels that did not settle are a
// *LabelsError wrapping ErrDirty; a *LabelsError is every other failure, too, because what the
// labels follow counts already.
type relabeling struct {
	cfg    *Config
	rules  lifecycle.Rules
	facts  lifecycle.Facts // the latest snapshot
	rep    Repair
	dogged bool // it goes on when the caller has given up

	holdIsOurs bool // it has put the label of a person's hold on itself
	err        error
}

// relabel begins with a snapshot that is fresh. late says that a record was just written: then a
// claimed label that is newer than it is a late write of our own, and gets no grace.
func (c *Config) relabel(f lifecycle.Facts, late bool) relabeling {
	rules := c.Rules
	if late {
		rules.Stray = 0
	}

	shown := rules.Scheme.Shown(f.Labels)
	return relabeling{
		cfg:   c,
		rules: rules,
		facts: f,
		rep: Repair{
			Issue: f.Issue,
			Title: f.Title,
			URL:   f.URL,
			Was:   shown,
			Is:    shown,
		},
	}
}

// after takes in a change that was made before, with the record that the labels follow.
func (l *relabeling) after(change labels.Change) {
	l.rep.Change, l.rep.Why = change, l.rules.Explain(l.facts, change)
}

// foreseen is how the labels will change once the log is log; nothing where people are to be told
// something first.
func (c *Config) foreseen(f lifecycle.Facts, log claim.State) labels.Change {
	rules := c.Rules
	rules.Stray = 0
	before := f.Labels
	f.Log = log
	projection, _ := rules.Label(f)
	if projection.Keep || len(rules.Due(f)) > 0 || len(f.Log.Repeats(f.Viewer)) > 0 {
		return labels.Change{}
	}

	return rules.Scheme.Change(before, projection)
}

// run brings the labels in line.
func (l *relabeling) run(do Do) {
	if err := l.settle(do); err != nil {
		l.err = &LabelsError{l.rep.Issue, err}
	}
}

// settle changes labels and looks again, round by round, until nothing differs: by the snapshot
// that came with the change, or else by a new one. From the third round on it waits before it
// looks, up to twice Backoff by chance, so that two reconcilers do not keep step.
func (l *relabeling) settle(do Do) error {
	for round := 0; ; {
		told, err := l.tell(do)
		if err != nil {
			return err
		}

		change := l.differs()
		if change.Empty() && !told {
			return nil
		}

		var s Seen
		if !change.Empty() {
			effects := Effects{Writes: []Write{{Kind: WriteRelabel, Labels: change}}}
			if round == 0 && l.cfg.Reconciles > 1 {
				effects.Read, effects.Ask = true, l.cfg.look().Ask
			}
			if s, err = l.see(do, effects); err == nil && s.last().Did != Applied {
				err = s.last().Err
			}
		}

		if round++; err == nil && round == l.cfg.Reconciles {
			err = ErrDirty
		}
		if looked := s.Read || s.Err != nil; err == nil && !looked && round > 1 {
			_, err = l.see(do, Effects{Wait: 2 * Backoff(round), Spread: true})
		}
		if looked := s.Read || s.Err != nil; err == nil && !looked {
			s, err = l.see(do, l.cfg.look())
		}
		if err = cmp.Or(err, s.Err); err != nil {
			return err
		}
		l.facts = l.cfg.Ruled(s.Facts, s.Lease)
	}
}

// see carries effects out. The error is that the caller has given up, unless it goes on then.
func (l *relabeling) see(do Do, e Effects) (Seen, error) {
	s := do(e)
	if l.dogged {
		return s, nil
	}
	return s, s.Ending
}

// tell takes own notices away that say what an earlier one said, because two sweeps ran at once,
// and assignments off that no longer keep anybody off. Then it tells people what is due, and
// reports whether anything was.
func (l *relabeling) tell(do Do) (told bool, err error) {
	if last, ended := l.facts.Log.LastPerson(); ended && l.holdIsOurs {
		// a label that this very reconcile put on is left behind when the hold has ended meanwhile
		l.facts.HoldAt = last.End.At.Add(-time.Second)
	}

	var writes []Write
	for _, n := range l.facts.Log.Repeats(l.facts.Viewer) {
		writes = append(writes, Write{Kind: WriteErase, Comment: n.Comment.ID, Optional: true})
	}

	for _, login := range l.rules.Unassigns(l.facts) {
		writes = append(writes, Write{Kind: WriteUnassign, Login: login, Optional: true})
	}

	due := l.rules.Due(l.facts)
	if len(writes) > 0 { // a notice that stays does no harm, and the next sweep sees it again
		_, err = l.see(do, Effects{Writes: writes})
	}

	for k := 0; err == nil && k < len(due); k++ {
		posting := recording{
			cfg:    l.cfg,
			body:   due[k].Mark() + "\n" + l.words(due[k]) + printable.Footer,
			notice: &due[k],
			had:    l.facts.Log,
			plain:  true,
		}
		s, unsure := posting.write(do)
		if err = unsure; s.Ending != nil && !l.dogged {
			err = s.Ending
		}
	}

	return len(due) > 0, err
}

// differs is the change that the labels need, which the report takes in.
func (l *relabeling) differs() labels.Change {
	f := l.facts
	projection, _ := l.rules.Label(f)
	change := l.rules.Scheme.Change(f.Labels, projection)
	l.rep.Is, l.rep.Projection, l.rep.Stranded = l.rules.Scheme.Shown(f.Labels), projection, l.rules.Stranded(f)
	if l.rep.Change.Empty() {
		l.rep.Why = l.rules.Explain(f, change)
	}

	l.holdIsOurs = l.holdIsOurs || labels.Has(change.Add, l.rules.Scheme.Hold)
	l.rep.Change.Add = append(l.rep.Change.Add, change.Add...)
	l.rep.Change.Remove = append(l.rep.Change.Remove, change.Remove...)
	return change
}
