package protocol

import (
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

	step       relabelingStep
	round      int
	holdIsOurs bool // it has put the label of a person's hold on itself
	told       bool // there was something to tell in this round
	notices    []claim.Notice
	posting    recording

	over bool
	err  error
}

type relabelingStep int

const (
	relabelingJudges relabelingStep = iota
	relabelingErases
	relabelingTells
	relabelingWrites
	relabelingWaits
	relabelingLooks
)

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

// next goes on until over is set.
func (l *relabeling) next(s Seen) Effects {
	if s.Ending != nil && !l.dogged {
		return l.late(s.Ending)
	}

	switch l.step {
	case relabelingJudges:
		return l.erase()
	case relabelingErases: // a notice that stays does no harm, and the next sweep sees it again
		return l.begin()
	case relabelingTells:
		return l.tell(s)
	case relabelingWrites:
		if last := s.last(); last.Did != Applied {
			return l.late(last.Err)
		}
		return l.again(s)

	case relabelingWaits:
		l.step = relabelingLooks
		return l.cfg.look()
	}

	return l.looked(s)
}

// late ends it with an error.
func (l *relabeling) late(err error) Effects {
	l.over, l.err = true, &LabelsError{l.rep.Issue, err}
	return Effects{}
}

// erase begins a round: it takes own notices away that say what an earlier one said, because two
// sweeps ran at once, and assignments off that no longer keep anybody off.
func (l *relabeling) erase() Effects {
	if last, ended := l.facts.Log.LastPerson(); ended && l.holdIsOurs {
		// a label that this very reconcile put on is left behind when the hold has ended meanwhile
		l.facts.HoldAt = last.End.At.Add(-time.Second)
	}

	l.notices = l.rules.Due(l.facts)
	l.told = len(l.notices) > 0

	var writes []Write
	for _, n := range l.facts.Log.Repeats(l.facts.Viewer) {
		writes = append(writes, Write{Kind: WriteErase, Comment: n.Comment.ID, Optional: true})
	}

	for _, login := range l.rules.Unassigns(l.facts) {
		writes = append(writes, Write{Kind: WriteUnassign, Login: login, Optional: true})
	}

	if len(writes) == 0 {
		return l.begin()
	}
	l.step = relabelingErases

	return Effects{Writes: writes}
}

// begin tells people the next thing that is due; when nothing is, it writes labels.
func (l *relabeling) begin() Effects {
	if len(l.notices) == 0 {
		return l.write()
	}

	n := l.notices[0]
	l.notices = l.notices[1:]
	l.step = relabelingTells
	l.posting = recording{
		cfg:    l.cfg,
		body:   n.Mark() + "\n" + l.words(n) + printable.Footer,
		notice: &n,
		had:    l.facts.Log,
		plain:  true,
	}

	return l.tell(Seen{})
}

// tell posts a notice.
func (l *relabeling) tell(s Seen) Effects {
	if effects := l.posting.next(s); !l.posting.over {
		return effects
	}
	if l.posting.err != nil {
		return l.late(l.posting.err)
	}

	return l.begin()
}

// write changes the labels that differ, or ends.
func (l *relabeling) write() Effects {
	f := l.facts
	projection, _ := l.rules.Label(f)
	change := l.rules.Scheme.Change(f.Labels, projection)
	l.rep.Is, l.rep.Projection, l.rep.Stranded = l.rules.Scheme.Shown(f.Labels), projection, l.rules.Stranded(f)
	if l.round == 0 && l.rep.Change.Empty() || l.rep.Why == "" {
		l.rep.Why = l.rules.Explain(f, change)
	}

	if change.Empty() && !l.told {
		l.over = true
		return Effects{}
	}

	l.holdIsOurs = l.holdIsOurs || labels.Has(change.Add, l.rules.Scheme.Hold)
	l.rep.Change.Add = append(l.rep.Change.Add[:len(l.rep.Change.Add):len(l.rep.Change.Add)], change.Add...)
	l.rep.Change.Remove = append(l.rep.Change.Remove[:len(l.rep.Change.Remove):len(l.rep.Change.Remove)],
		change.Remove...)
	if change.Empty() {
		return l.again(Seen{})
	}

	l.step = relabelingWrites
	effects := Effects{Writes: []Write{{Kind: WriteRelabel, Labels: change}}}
	if l.round == 0 && l.cfg.Reconciles > 1 {
		effects.Read, effects.Ask = true, l.cfg.look().Ask
	}

	return effects
}

// again begins the next round: by the snapshot that came with the change, or else by a new one.
// From the third round on it waits before it looks, up to twice Backoff by chance, so that two
// reconcilers do not keep step.
func (l *relabeling) again(s Seen) Effects {
	l.round++
	if l.round == l.cfg.Reconciles {
		return l.late(ErrDirty)
	}
	if s.Read || s.Err != nil {
		return l.looked(s)
	}
	if l.round > 1 {
		l.step = relabelingWaits
		return Effects{Wait: 2 * Backoff(l.round), Spread: true}
	}

	l.step = relabelingLooks
	return l.cfg.look()
}

// looked takes in the snapshot of the next round.
func (l *relabeling) looked(s Seen) Effects {
	if s.Err != nil {
		return l.late(s.Err)
	}
	l.facts = l.cfg.Ruled(s.Facts, s.Lease)
	return l.erase()
}
