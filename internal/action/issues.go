package action

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

// byIssue signs what was done because of an issue's event.
const byIssue = "issue-event"

// reconcile follows an issue: what a person's hand on a label means is recorded, then the labels
// of the issue, and of those that it blocks, are brought in line.
func (s *Step) reconcile(ctx context.Context) result {
	var r result
	number := s.Event.Issue.Number
	if number == 0 || s.Event.Issue.PullRequest != nil {
		r.leave("the event %s has no issue", s.Event.Name)
		return r
	}

	i := s.Repo.Issue(number)
	issues := []claim.Issue{i}
	switch s.Event.Action {
	case "transferred", "deleted":
		r.leave("%s is no longer in this repository", i)
		return r
	case "unlabeled":
		r.err = s.unlabeled(ctx, i, &r)
	case "labeled":
		r.err = s.queued(ctx, i, &r)
	case "closed", "reopened": // the issues that it blocks wake or go back to sleep with it (spec.md#further-labels)
		blocked, err := s.Hub.Blocking(ctx, i)
		if err != nil {
			r.skip("%s", err)
		}
		issues = append(issues, slices.DeleteFunc(blocked, func(o claim.Issue) bool { return !s.here(o) })...)
	}

	if r.err == nil {
		snapshots := s.Hub.FactsOf(ctx, issues)
		if absent(snapshots[0].Err) {
			r.leave("%s is not in this repository, or the token may not read it", i)
		}
		r.add(s.tendSnapshots(ctx, snapshots, byIssue))
	}

	if len(r.report.Examined) == 0 && r.report.Failed > 0 {
		r.err = r.report.Findings[0].Err
	}

	return r
}

// unlabeled finds out whether a person's hand took a label off that means something: the claimed
// label is the hold (spec-writing.md#revoke-and-force), needs:human-scope is the count of attempts
// (spec.md#attempts).
func (s *Step) unlabeled(ctx context.Context, i claim.Issue, r *result) error {
	scheme := s.Ledger.Rules().Scheme
	name := s.Event.Label.Name
	steers := labels.Same(name, scheme.Claimed) || labels.Same(name, scheme.NeedsScope) ||
		labels.Same(name, scheme.Hold)
	if !steers || s.dry() || !s.Event.Sender.person() {
		return nil
	}

	removal, err := s.Hub.LastMove(ctx, i, ledger.LabelMoved{Label: name})
	if err != nil || !removal.Person {
		return unlessAbsent(err)
	}

	facts, err := s.facts(ctx, i)
	if err != nil || !facts.Open || labels.Has(facts.Labels, name) {
		return unlessAbsent(err) // until the decision is known the labels stay; tend tells what is gone
	}
	if !labels.Same(name, scheme.NeedsScope) {
		// It shows a hold: the hold that stood then is released by force. Tools of ours take labels
		// off with people's tokens, too, and events arrive late: a removal beside a record of the
		// same account is the tool's, and a later hold is none of its business.
		c, held := facts.Log.Holder()
		persons := labels.Same(name, scheme.Hold) // a person's hold is shown by this label, a worker's by the other
		if removal.ByTool(facts.Log) || !held || c.Plan.Pending() || persons != (c.Person != "") {
			return nil
		}

		before := removal.At.Add(-time.Second) // times are in whole seconds
		rep, ended, err := s.Ledger.ForceBefore(ctx, i, before, removal.By, "label taken off by hand")
		for _, c := range ended {
			r.note("%s took the label off %s: the hold of %s was released by force",
				removal.By, i, c.Holder())
		}

		return s.steered(ctx, rep, ended, err, r)
	}

	did, err := s.Ledger.Reset(ctx, i, removal.At, removal.By)
	if did {
		r.note("%s had a look at %s: its failed attempts and waits are reset", removal.By, i)
		s.deleteRepeats(ctx, nil, i)
	}

	return err
}

// queued finds out whether a person put an issue that is stuck into the queue: then it begins again
// (spec-writing.md#beginning-again).
func (s *Step) queued(ctx context.Context, i claim.Issue, r *result) error {
	name := s.Event.Label.Name
	if !labels.Has(s.Ledger.Rules().Scheme.Queues(), name) || s.dry() || !s.Event.Sender.person() {
		return nil
	}

	facts, err := s.facts(ctx, i)
	if err != nil || !s.Ledger.Rules().Wished(facts) {
		return unlessAbsent(err)
	}

	g, err := s.Hub.LastMove(ctx, i, ledger.LabelMoved{Label: name, On: true})
	if err != nil || !g.Person || g.ByTool(facts.Log) {
		return unlessAbsent(err)
	}

	did, err := s.Ledger.Restart(ctx, i, g.At, g.By, "put into the queue by hand")
	if did {
		r.note("%s put %s into the queue: it starts again", g.By, i)
		s.deleteRepeats(ctx, nil, i)
	}

	return err
}

// steered takes what a person's decision did into the result. Labels that are late are brought in
// line afterwards, with everything else.
func (p Place) steered(ctx context.Context, rep ledger.Repair, ended []claim.Claim, err error, r *result) error {
	if len(ended) > 0 || !rep.Change.Empty() {
		r.report.Findings = append(r.report.Findings, ledger.Finding{Repair: rep, Ended: ended})
		p.deleteRepeats(ctx, nil, rep.Issue)
	}

	var late *ledger.LabelsError
	if errors.As(err, &late) {
		return nil
	}

	return err
}
