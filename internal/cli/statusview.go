package cli

import (
	"slices"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/trouble"
)

// A StatusView is the JSON of status.
type StatusView struct {
	Issue    string          `json:"issue"`
	Title    string          `json:"title"`
	URL      string          `json:"url"`
	Open     bool            `json:"open"`
	Pull     bool            `json:"pull_request,omitempty"` // the number is a pull request's
	Answer   string          `json:"answer"`
	Reasons  []answer.Reason `json:"reasons"`
	State    string          `json:"state"` // what the facts say
	Why      string          `json:"why"`
	Stage    string          `json:"stage,omitempty"` // of a pipeline
	Labels   []string        `json:"labels"`
	Drift    *driftView      `json:"drift,omitempty"`    // labels to add and remove
	Stranded string          `json:"stranded,omitempty"` // why nothing will move it; a person must
	Store    string          `json:"lease_store"`        // what decides: comments, refs or redis
	Holder   *ClaimView      `json:"holder,omitempty"`
	Ended    string          `json:"ended,omitempty"` // what became of the hold recorded here, and what to do
	Plan     *answer.Answer  `json:"plan,omitempty"`  // of the holder
	Blockers []BlockerView   `json:"blockers"`
	Cycle    *CycleView      `json:"cycle,omitempty"` // of the open blockers
	Attempts []attemptView   `json:"attempts"`
	PRs      []pullView      `json:"pull_requests"`
	Ignored  []ignoredView   `json:"ignored"`
	Now      string          `json:"server_time"`
	Next     string          `json:"next,omitempty"`    // the command for the person who sets the repository up
	Guessed  string          `json:"guessed,omitempty"` // that whose records count is a guess, and why
}

type driftView struct {
	Add    []string `json:"add"`
	Remove []string `json:"remove"`
	Why    string   `json:"why"`
}

type BlockerView struct {
	Issue string `json:"issue"`
	Open  bool   `json:"open"`
	URL   string `json:"url"`
}

// A ClaimView is the JSON of the claim that holds an issue, in status.
type ClaimView struct {
	Codename string `json:"codename"`
	Firing   string `json:"firing_id"`
	Person   string `json:"person,omitempty"` // whose hold it is, when a person's
	Author   string `json:"author"`
	Since    string `json:"since"`
	Renewed  string `json:"renewed,omitempty"`
	Until    string `json:"until,omitempty"`
	Renew    string `json:"renew_before,omitempty"` // of a hold of one's own
	Held     bool   `json:"confirmed"`
	Expired  bool   `json:"expired"`
	Token    int64  `json:"token,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Bundle   string `json:"bundle,omitempty"`
	URL      string `json:"url"`
	Note     string `json:"note,omitempty"` // the last one of its renewals
}

type attemptView struct {
	Worker  string `json:"worker"`
	Person  string `json:"person,omitempty"` // whose hold it was, when a person's
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	At      string `json:"at"`
	Branch  string `json:"branch,omitempty"`
	PR      string `json:"pr,omitempty"`
	Failed  bool   `json:"failed,omitempty"` // it counts against the issue
}

type pullView struct {
	Ref   string `json:"ref"`
	Title string `json:"title"`
	State string `json:"state"`
	Draft bool   `json:"draft"`
	URL   string `json:"url"`
}

type ignoredView struct {
	URL    string `json:"url"`
	Author string `json:"author"`
	Reason string `json:"reason"`
}

// ViewStatus is everything that status shows, from one snapshot and the verdict about it. Other
// people's texts are made fit for a line.
func ViewStatus(r lifecycle.Rules, f lifecycle.Facts, v lifecycle.Verdict) StatusView {
	sum := r.Summary(f)
	s := StatusView{
		Issue:    f.Issue.String(),
		Title:    OneLine(f.Title),
		URL:      f.URL,
		Open:     f.Open,
		Pull:     f.PullRequest,
		Answer:   v.Answer.String(),
		Reasons:  append([]answer.Reason{}, trouble.Reasons(v)...),
		State:    sum.State.String(),
		Why:      OneLine(sum.Why),
		Stage:    OneLine(r.StageName(f)),
		Labels:   LabelNames(f.Labels),
		Now:      Stamp(f.Now),
		Stranded: OneLine(sum.Stranded),
		Blockers: []BlockerView{},
		Attempts: []attemptView{},
		PRs:      []pullView{},
		Ignored:  []ignoredView{},
	}

	if sum.Unmanaged {
		s.State = "unmanaged"
	}

	if !sum.Drift.Empty() {
		s.Drift = &driftView{LabelNames(sum.Drift.Add), LabelNames(sum.Drift.Remove), OneLine(sum.DriftWhy)}
	}

	if h, ok := r.Shown(f); ok {
		s.Holder = &ClaimView{
			Codename: h.Record.Worker.Codename,
			Firing:   h.Record.Worker.FiringID,
			Person:   h.Person,
			Author:   h.Author,
			Since:    Stamp(h.Created),
			Held:     h.Held(),
			Expired:  h.Expired(r.Terms, f.Now),
			Token:    h.Record.Token,
			Branch:   h.Record.Branch,
			Bundle:   OneLine(h.Record.Bundle),
			Note:     OneLine(h.Record.Reason),
			URL:      h.URL,
		}

		if h.Updated.After(h.Created) {
			s.Holder.Renewed = Stamp(h.Updated)
		}

		if end, ok := h.Until(r.Terms); ok {
			s.Holder.Until = Stamp(end)
		}

		if h.Plan != nil {
			plan := ViewPlan(f.Issue, h, r.Terms)
			s.Plan = &plan
		}
	}

	for _, b := range f.Blockers {
		s.Blockers = append(s.Blockers, BlockerView{b.Issue.String(), b.Open, b.URL})
	}

	for _, t := range f.Tried() {
		s.Attempts = append(s.Attempts, attemptView{
			Worker:  t.Worker.String(),
			Person:  t.Person,
			Outcome: t.Outcome,
			Reason:  OneLine(t.Reason),
			At:      Stamp(t.At),
			Branch:  OneLine(t.Branch),
			PR:      OneLine(t.PR),
			Failed:  slices.ContainsFunc(f.Log.Attempts, func(a claim.Attempt) bool { return a.Worker == t.Worker }),
		})
	}

	for _, p := range f.PRs {
		s.PRs = append(s.PRs, pullView{p.String(), OneLine(p.Title), string(p.State), p.Draft, p.URL})
	}

	for _, g := range f.Log.Ignored {
		s.Ignored = append(s.Ignored, ignoredView{g.Comment.URL, g.Comment.Author, OneLine(g.Reason)})
	}

	return s
}
