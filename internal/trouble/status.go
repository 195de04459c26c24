package trouble

import (
	"cmp"
	"slices"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// Status is what a snapshot shows, and the verdict about it. Other people's texts are made fit for a
// line; the caller knows the store.
func Status(r lifecycle.Rules, f lifecycle.Facts, v lifecycle.Verdict) answer.Status {
	sum := r.Summary(f)
	s := answer.Status{
		Issue:    f.Issue.String(),
		Title:    printable.Line(f.Title),
		URL:      f.URL,
		Open:     f.Open,
		Pull:     f.PullRequest,
		Answer:   answer.Word(v.Answer.String()),
		Reasons:  append([]answer.Reason{}, Reasons(v)...),
		State:    answer.State(sum.State.String()),
		Why:      printable.Line(sum.Why),
		Stage:    printable.Line(r.StageName(f)),
		Labels:   LabelNames(f.Labels),
		Stranded: printable.Line(sum.Stranded),
		Holder:   holder(r, f),
		Blockers: []answer.Blocker{},
		Attempts: []answer.Attempt{},
		PRs:      []answer.PullRequest{},
		Ignored:  []answer.Ignored{},
		Now:      Second(f.Now),
	}

	if sum.Unmanaged {
		s.State = "unmanaged" // the log says nothing about its labels
	}

	if !sum.Drift.Empty() {
		s.Drift = &answer.Drift{
			Add:    LabelNames(sum.Drift.Add),
			Remove: LabelNames(sum.Drift.Remove),
			Why:    printable.Line(sum.DriftWhy),
		}
	}

	if h, held := r.Shown(f); held && h.Plan != nil {
		plan := Plan(f.Issue, h, r.Terms)
		s.Plan = &plan
	}

	for _, b := range f.Blockers {
		s.Blockers = append(s.Blockers, answer.Blocker{Issue: b.Issue.String(), Open: b.Open, URL: b.URL})
	}

	for _, t := range f.Tried() {
		s.Attempts = append(s.Attempts, answer.Attempt{
			Worker:  t.Worker.String(),
			Person:  t.Person,
			Outcome: t.Outcome,
			Reason:  printable.Line(t.Reason),
			At:      Second(t.At),
			Branch:  printable.Line(t.Branch),
			PR:      printable.Line(t.PR),
			Failed:  slices.ContainsFunc(f.Log.Attempts, func(a claim.Attempt) bool { return a.Worker == t.Worker }),
		})
	}

	for _, p := range f.PRs {
		s.PRs = append(s.PRs, answer.PullRequest{
			Ref:   p.String(),
			Title: printable.Line(p.Title),
			State: string(p.State),
			Draft: p.Draft,
			URL:   p.URL,
		})
	}

	for _, g := range f.Log.Ignored {
		s.Ignored = append(s.Ignored, answer.Ignored{
			URL:    g.Comment.URL,
			Author: g.Comment.Author,
			Reason: printable.Line(g.Reason),
		})
	}

	return s
}

// holder is who holds the issue, or is claiming it; nil where nobody is.
func holder(r lifecycle.Rules, f lifecycle.Facts) *answer.Holder {
	h, held := r.Shown(f)
	if !held {
		return nil
	}

	out := &answer.Holder{
		Codename:  h.Record.Worker.Codename,
		FiringID:  h.Record.Worker.FiringID,
		Person:    h.Person,
		Author:    h.Author,
		Since:     Second(h.Created),
		Confirmed: h.Held(),
		Expired:   h.Expired(r.Terms, f.Now),
		Token:     h.Record.Token,
		Branch:    h.Record.Branch,
		Bundle:    printable.Line(h.Record.Bundle),
		URL:       h.URL,
		Note:      printable.Line(h.Record.Reason),
	}

	if h.Updated.After(h.Created) {
		out.Renewed = Second(h.Updated)
	}

	if end, ends := h.Until(r.Terms); ends {
		out.Until = Second(end)
	}

	return out
}

// Plan is the plan of a claim; over is the answer when the hold ended without one.
func Plan(i claim.Issue, c claim.Claim, t claim.Terms) answer.Answer {
	v := answer.Answer{Issue: i.String(), Worker: c.Record.Worker.String(), Answer: answer.Word(c.PlanAnswer())}
	if c.Plan != nil {
		v.URL, v.By = c.Plan.URL, c.Plan.Who()
	}

	if c.End != nil {
		v.By, v.Reason = c.End.Who(), printable.Line(c.End.Reason)
		if c.PlanAnswer() == claim.PlanOver {
			v.Reason = cmp.Or(v.Reason, c.End.Outcome)
		}
	}

	if end, limited := c.Until(t); limited && c.PlanAnswer() == claim.PlanWaiting {
		v.Until = Second(end)
	}

	return v
}

// Second is a server time as an answer has it: in UTC, to the second.
func Second(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// LabelNames are labels in JSON, where no label is a list, too.
func LabelNames(labels []string) []string { return append([]string{}, labels...) }
