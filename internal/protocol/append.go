package protocol

import (
	"cmp"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An appending is every operation but a claim and a renewal on its way: it looks, writes records
// one after the other, and brings the labels in line at the end. After a record there is a new
// snapshot, which mostly came with it.
type appending struct {
	cfg   *Config
	issue claim.Issue
	do    Do

	facts   lifecycle.Facts // the latest snapshot, with the lease laid over it
	before  lifecycle.Facts // the last before anything was written
	unread  error           // why there is none after the last record; facts are then those from before it
	acted   bool            // something was written
	ending  error           // why the caller has given up; then nothing further is begun
	posting recording       // of the last record
	records []claim.Record  // written so far
	end     Conclusion      // with what the operation has to say
}

// appending begins.
func (c *Config) appending(i claim.Issue, do Do) *appending {
	a := &appending{cfg: c, issue: i}
	a.facts.Issue, a.before.Issue, a.end.Repair.Issue = i, i, i
	a.do = func(e Effects) Seen {
		s := do(e)
		a.ending = s.Ending
		return s
	}

	return a
}

// looking is an operation that begins with a snapshot, and ends where there is none.
func (c *Config) looking(i claim.Issue, then func(*appending) Conclusion) Operation {
	return func(do Do) Conclusion {
		a := c.appending(i, do)
		if err := a.look(); err != nil {
			return a.fail(err)
		}
		return then(a)
	}
}

// fail ends it with an error, nil for none, and leaves the labels.
func (a *appending) fail(err error) Conclusion {
	a.end.Err = err
	return a.end
}

// look makes a snapshot. The error is why there is none.
func (a *appending) look() error { return a.show(a.do(a.cfg.look())) }

// show takes in a snapshot.
func (a *appending) show(s Seen) error {
	if a.unread = s.Err; s.Err != nil {
		return s.Err
	}

	a.facts = a.cfg.Ruled(s.Facts, s.Lease)
	if !a.acted {
		a.before = a.facts
	}

	return nil
}

// lookFor looks again until the log shows what the caller knows to be there. A snapshot that lacks
// it may be stale, and an absence decides nothing at once (spec-writing.md#claim). Where a store
// decides, the log may lack it for good, and the first snapshot is the answer.
func (a *appending) lookFor(shown func(claim.State) bool) error {
	for looks := 1; looks < sightings && a.cfg.Store == "" && !shown(a.facts.Log); looks++ {
		if s := a.do(Effects{Wait: Backoff(looks - 1)}); s.Ending != nil {
			return &UnknownError{a.issue, s.Ending}
		}
		if err := a.look(); err != nil {
			return err
		}
	}

	return nil
}

// record begins to write a record by a snapshot.
func (a *appending) record(f lifecycle.Facts, r claim.Record) (recording, error) {
	posting, err := a.cfg.record(f, r)
	if err == nil && a.cfg.Store != "" && r.Kind == claim.KindRelease && r.PR == "" {
		// Where a store decides, the log and the labels only follow, and may do so in one request.
		own, _ := f.Log.Find(r.Worker)
		ended := f.Log.Ended([]claim.Claim{own}, func(claim.Claim) string { return r.Outcome }, f.Now)
		posting.labels = a.cfg.foreseen(f, ended)
	}

	return posting, err
}

// write writes a record by the latest snapshot. The error is an *UnknownError, because the record
// may be there, or an answer.Usage.
func (a *appending) write(r claim.Record) error {
	return unknownUnlessCall(a.issue, a.post(a.record(a.facts, r)))
}

// post writes a record, and looks again unless it is plain. The error is why it is not certain that
// the record is there, or why it was not begun.
func (a *appending) post(posting recording, err error) error {
	if err = cmp.Or(a.ending, err); err != nil {
		return err
	}

	s, err := posting.write(a.do)
	a.posting = posting
	if err != nil {
		return err
	}

	a.acted, a.records = true, append(a.records, posting.record)
	switch {
	case s.Read || s.Err != nil:
		_ = a.show(s) // that it failed is in unread
	case !posting.plain:
		_ = a.look()
	}

	return nil
}

// note writes records that follow from one snapshot alone, and touches no label.
func (a *appending) note(records ...claim.Record) Conclusion {
	for _, r := range records {
		posting, err := a.record(a.facts, r)
		posting.plain = true
		if a.end.Err = unknownUnlessCall(a.issue, a.post(posting, err)); a.end.Err != nil {
			break
		}
	}

	a.end.Records = a.records
	return a.end
}

// close closes the issue as completed. The error is as that of write.
func (a *appending) close() error {
	if a.ending != nil {
		return &UnknownError{a.issue, a.ending}
	}

	a.acted = true
	result := a.do(Effects{Writes: []Write{{Kind: WriteClose}}}).last()
	if result.Did == Applied {
		return nil
	}

	return unknownUnlessCall(a.issue, result.Err)
}

// settle brings the labels in line and ends it. err is its error in any case.
func (a *appending) settle(err error) Conclusion {
	return a.conclude(a.cfg.relabel(a.facts, false), err)
}

// settleNow is settle where a record was written just now, or will show in a moment.
func (a *appending) settleNow(err error) Conclusion {
	return a.conclude(a.cfg.relabel(a.facts, true), err)
}

// conclude brings the labels in line. Without a snapshot after the last record they are late.
func (a *appending) conclude(l relabeling, err error) Conclusion {
	l.rep.Was, l.rep.Unproven = a.cfg.Rules.Scheme.Shown(a.before.Labels), a.end.Repair.Unproven
	if a.unread != nil {
		l.err = &LabelsError{l.rep.Issue, a.unread}
	} else {
		if a.posting.relabeled {
			l.after(a.posting.labels)
		}
		l.run(a.do)
	}

	a.end.Repair, a.end.Facts, a.end.Err = l.rep, a.facts, cmp.Or(err, l.err)
	return a.end
}
