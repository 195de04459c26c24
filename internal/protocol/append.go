package protocol

import (
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An Append is every operation but a claim and a renewal: it looks, writes what its rule wants one
// after the other, and brings the labels in line at the end. After each record the rule is shown a
// new snapshot, which mostly came with the record.
type Append struct {
	cfg   *Config
	issue claim.Issue
	rule  rule

	step    appendStep
	turn    turn
	acted   bool  // something was written by the rule
	blind   bool  // the rule goes on without a first snapshot
	ending  error // why the caller has given up; then nothing further is begun
	posting recording
	labels  relabeling
	finish  move // that brings the labels in line
}

type appendStep int

const (
	appendWaits appendStep = iota // for its first snapshot as well
	appendLooks
	appendAsks
	appendCloses
	appendPosts
	appendRelabels
)

// A rule says by a snapshot, and by what was done so far, what comes next.
type rule interface {
	next(*Config, turn) (rule, move)
}

// A turn is what a rule goes by.
type turn struct {
	facts   lifecycle.Facts // the latest snapshot, with the lease laid over it
	before  lifecycle.Facts // the first
	err     error           // why there is none after the last record; facts are then those from before it
	looks   int             // snapshots so far
	reply   *Replies        // to move.ask, at once after it
	records []claim.Record  // written so far
	comment claim.Comment   // of the last
	closed  *Result         // of move.closes, at once after it
	wrote   error           // why it is not certain that the last record is there
}

// A move is what a rule wants done: the first of its fields that is set.
type move struct {
	again  bool             // look again after a while
	look   bool             // look again, because of what was done since
	ask    Ask              // with ask.Pull or ask.Moved
	closes bool             // close the issue
	record *claim.Record    // write it
	facts  *lifecycle.Facts // by which it is written, if not by the latest snapshot
	body   string           // of the record's comment, if it is not the usual one
	plain  bool             // no snapshot is needed after the record

	relabel bool // bring the labels in line, then conclude
	late    bool // a record was written just now, or will show in a moment

	// The end. err is returned in any case, after the labels are in line.
	err  error
	with Conclusion // what the rule has to say
}

// newAppend begins.
func newAppend(c *Config, i claim.Issue, r rule) Append { return Append{cfg: c, issue: i, rule: r} }

// Next implements Operation.
func (a Append) Next(s Seen) (Operation, Effects) {
	effects := a.next(s)
	return a, effects
}

// next goes on with what the operation waits for.
func (a *Append) next(s Seen) Effects {
	a.ending = s.Ending
	switch a.step {
	case appendWaits:
		if s.Ending != nil {
			return failed(a.issue, &UnknownError{a.issue, s.Ending})
		}
		a.step = appendLooks
		return a.cfg.look()
	case appendLooks:
		return a.looked(s)
	case appendAsks:
		a.turn.reply = &s.Replies
		return a.ask()

	case appendCloses:
		result := s.last()
		a.turn.closed, a.acted = &result, true
		return a.ask()
	case appendPosts:
		return a.posted(s)
	}

	return a.relabeled(s)
}

// looked takes in a snapshot.
func (a *Append) looked(s Seen) Effects {
	a.turn.err = s.Err
	a.turn.looks++
	if s.Err == nil {
		a.turn.facts = a.cfg.Ruled(s.Facts, s.Lease)
		if !a.acted {
			a.turn.before = a.turn.facts
		}
	} else if !a.acted && !a.blind {
		return failed(a.issue, s.Err)
	} else if a.turn.facts.Issue == (claim.Issue{}) {
		a.turn.facts.Issue, a.turn.before.Issue = a.issue, a.issue
	}

	return a.ask()
}

// ask asks the rule what comes next.
func (a *Append) ask() Effects {
	next, m := a.rule.next(a.cfg, a.turn)
	a.rule = next
	a.turn.reply, a.turn.closed, a.turn.wrote = nil, nil, nil

	switch {
	case m.again:
		a.step = appendWaits
		return Effects{Wait: Backoff(a.turn.looks - 1)}

	case m.look:
		a.step = appendLooks
		return a.cfg.look()

	case m.ask != Ask{}:
		a.step = appendAsks
		return Effects{Ask: m.ask}

	case m.closes && a.ending != nil:
		a.turn.closed = &Result{Did: Refused, Err: a.ending}
		return a.ask()

	case m.record != nil && a.ending != nil:
		a.turn.wrote = a.ending
		return a.ask()

	case m.closes:
		a.step = appendCloses
		return Effects{Writes: []Write{{Kind: WriteClose}}}
	case m.record != nil:
		return a.post(m)
	case m.relabel:
		return a.relabel(m)
	}

	m.with.Err = m.err
	if m.with.Repair.Issue == (claim.Issue{}) {
		m.with.Repair.Issue = a.issue
	}

	return conclude(m.with)
}

// post begins to write a record.
func (a *Append) post(m move) Effects {
	f := a.turn.facts
	if m.facts != nil {
		f = *m.facts
	}

	posting, err := a.cfg.record(f, *m.record)
	if err != nil {
		return failed(a.issue, err)
	}

	if m.body != "" {
		posting.body = m.body
	}
	posting.plain = m.plain
	if r := *m.record; a.cfg.Store != "" && r.Kind == claim.KindRelease && r.PR == "" && !m.plain {
		// Where a store decides, the log and the labels only follow, and may do so in one request.
		own, _ := f.Log.Find(r.Worker)
		ended := f.Log.Ended([]claim.Claim{own}, func(claim.Claim) string { return r.Outcome }, f.Now)
		posting.labels = a.cfg.foreseen(f, ended)
	}

	a.posting, a.step = posting, appendPosts
	return a.posted(Seen{})
}

// posted goes on with a record.
func (a *Append) posted(s Seen) Effects {
	if effects := a.posting.next(s); !a.posting.over {
		return effects
	}

	a.turn.comment, a.turn.wrote = a.posting.comment, a.posting.err
	if a.posting.err != nil {
		return a.ask()
	}

	a.acted = true
	a.turn.records = append(a.turn.records[:len(a.turn.records):len(a.turn.records)], a.posting.record)
	if a.posting.seen.Read || a.posting.seen.Err != nil {
		return a.looked(a.posting.seen)
	}
	if a.posting.plain {
		return a.ask()
	}

	a.step = appendLooks
	return a.cfg.look()
}

// relabel brings the labels in line. Without a snapshot after the last record they are late.
func (a *Append) relabel(m move) Effects {
	a.finish = m
	if a.turn.err != nil {
		a.labels = a.cfg.relabel(a.turn.before, false)
		a.labels.late(a.turn.err)
		return a.conclude()
	}

	a.labels = a.cfg.relabel(a.turn.facts, m.late)
	if a.posting.relabeled {
		a.labels.after(a.posting.labels)
	}

	a.labels.rep.Was = a.cfg.Rules.Scheme.Shown(a.turn.before.Labels)
	a.step = appendRelabels
	return a.relabeled(Seen{})
}

// relabeled goes on with the labels.
func (a *Append) relabeled(s Seen) Effects {
	if effects := a.labels.next(s); !a.labels.over {
		return effects
	}
	return a.conclude()
}

// conclude ends it once the labels are in line, or late.
func (a *Append) conclude() Effects {
	end := a.finish.with
	unproven := end.Repair.Unproven
	end.Repair, end.Err = a.labels.rep, a.finish.err
	end.Repair.Unproven = unproven
	if end.Err == nil {
		end.Err = a.labels.err
	}

	end.Facts = a.turn.facts
	return conclude(end)
}
