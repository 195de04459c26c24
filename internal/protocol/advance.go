package protocol

import (
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// An Advance is a step in a pipeline.
type Advance struct {
	Worker claim.Worker // who holds the issue; without one nobody may
	By     string       // whose decision it is when nobody holds it
	To     string       // the stage; empty is the next
}

// NewAdvance moves an issue to another stage and ends the worker's hold, by one record; then it
// brings the labels in line. Its errors are those of Target and, with somebody's hold in the way of
// a move without one, a *HeldError. A move that the log shows already is a success. word is random.
// The conclusion's Stage is where it goes.
func NewAdvance(c *Config, i claim.Issue, move Advance, word string) Operation {
	return c.looking(i, func(a *appending) Conclusion {
		to, done, err := c.Target(a.facts, move)
		a.end.Stage = to
		switch {
		case err != nil:
			return a.fail(err)
		case done:
			return a.settle(nil)
		}

		record, err := move.record(c, a.facts, to, word)
		if err == nil {
			err = a.write(record)
		}
		if err != nil {
			return a.fail(err)
		}

		return a.settleNow(a.overtaken(record))
	})
}

// Target is the stage that an advance leads to; done says that the log shows the move already. A
// repository without stages, a stage it does not have and one beyond the last are an answer.Usage,
// a hold that is not the worker's a *LostError.
func (c *Config) Target(f lifecycle.Facts, a Advance) (to labels.Stage, done bool, err error) {
	if a.Worker.IsZero() && a.By == "" {
		return labels.Stage{}, false, answer.Wrongf("who moves it?")
	}
	scheme, now := c.Rules.Scheme, c.Rules.Stage(f)
	if len(scheme.Stages) == 0 {
		return labels.Stage{}, false, answer.Wrongf("there are no stages in this repository; see preset: stages")
	}
	if f.PullRequest {
		return labels.Stage{}, false, answer.Wrongf("%s is a pull request, which has no stage", f.Issue)
	}
	if err := f.Log.RefuseLogin(a.Worker, f.Viewer); err != nil {
		return labels.Stage{}, false, c.Lost(f, a.Worker, err)
	}

	if own, found := f.Log.Find(a.Worker); found && own.End != nil && own.End.Outcome == claim.OutcomeAdvanced &&
		own.End.By == "" {
		return scheme.Stages[now], true, nil
	}

	next := now + 1
	if a.To != "" {
		next = scheme.Stage(a.To)
	}

	switch {
	case next < 0:
		names := make([]string, len(scheme.Stages))
		for n, s := range scheme.Stages {
			names[n] = s.Name
		}
		return labels.Stage{}, false, answer.Wrongf("no stage %q: there are %s", a.To, strings.Join(names, ", "))
	case next == len(scheme.Stages):
		return labels.Stage{}, false, answer.Wrongf("it is in the last stage already, %s", scheme.Stages[now].Name)
	}

	return scheme.Stages[next], a.repeats(f, scheme.Stages[next]), nil
}

// repeats reports whether a person names the stage that the log says, and no hold has ended since
// the move.
func (a Advance) repeats(f lifecycle.Facts, to labels.Stage) bool {
	if !a.Worker.IsZero() || f.Log.Stage != to.Name {
		return false
	}
	last, ended := f.Log.LastEnded(claim.Claim.Held)
	_, held := f.Log.Holder()

	return f.Open && !held && (!ended || !f.Log.StageAt.Before(last.End.At))
}

// record is the one record of a move. Without a hold it ends a key of its own that nobody ever
// uses, with the word as its firing id.
func (a Advance) record(c *Config, f lifecycle.Facts, to labels.Stage, word string) (claim.Record, error) {
	record := claim.Record{
		Kind:    claim.KindRelease,
		Worker:  a.Worker,
		Outcome: claim.OutcomeAdvanced,
		Stage:   to.Name,
		At:      f.Now,
	}

	if !f.Open {
		return claim.Record{}, &HeldError{Issue: f.Issue, Verdict: c.Rules.Verdict(f, lifecycle.Seeker{})}
	}
	if a.Worker.IsZero() {
		record.By, record.Worker = a.By, claim.Worker{Codename: byHand, FiringID: word}
		if _, held := f.Log.Holder(); held {
			return claim.Record{}, &HeldError{Issue: f.Issue, Verdict: c.Rules.Verdict(f, lifecycle.Seeker{})}
		}
		return record, nil
	}

	own, found := f.Log.Find(a.Worker)
	err := f.Log.Refuse(record, f.Viewer, c.Rules.Terms, f.Now)
	switch {
	case err != nil:
		return claim.Record{}, c.Lost(f, a.Worker, err)
	case found && !own.Held():
		return claim.Record{}, c.Lost(f, a.Worker, claim.ErrUnconfirmed)
	case own.Overdue(c.Rules.Terms, f.Now):
		return claim.Record{}, c.Lost(f, a.Worker, claim.ErrOverdue)
	case own.Plan.Pending():
		waits := lifecycle.Reason{Code: lifecycle.CodeOwn, Text: "its plan is waiting for an answer", URL: own.Plan.URL}
		v := lifecycle.Verdict{Answer: lifecycle.Held, Reasons: []lifecycle.Reason{waits}}
		return claim.Record{}, &HeldError{Issue: f.Issue, Verdict: v}
	}

	record.Attempt, record.Token = own.Record.Attempt, own.Record.Token
	return record, nil
}
