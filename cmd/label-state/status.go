package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/urfave/cli/v2"
)

func dedupCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "dedup-check", Usage: "may it be taken? 0 free, 1 held, 3 could not find out", ArgsUsage: "REF",
		Description: "For scripts. A hold of the asking run itself counts as free." + refForms + "   label-state dedup-check acme/app#42 --json",
		Flags:       common(identityFlags()...),
		Action:      t.on(checkIssue),
	}
}

// seeker is who asks, as far as flags, environment and this work tree tell.
func (c *call) seeker() lifecycle.Seeker { return lifecycle.Seeker{Worker: c.worker()} }

func checkIssue(ctx context.Context, c *call, i claim.Issue) error {
	who := c.seeker()
	if w, _, err := c.holder(i); err == nil {
		who.Worker = w
	}
	f, v, err := c.Ledger.Check(ctx, i, who)
	if err != nil {
		return err
	}
	own := v.Has(lifecycle.CodeOwn)
	v.Reasons = slices.DeleteFunc(v.Reasons, func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeOwn })
	if len(v.Reasons) > 0 {
		return &ledger.HeldError{Issue: i, Verdict: v}
	}
	text := "free"
	if own {
		text = "free: you hold it"
	}
	return c.answer(reply{Issue: i.String(), Answer: "free"}, fmt.Sprintf("%s %s is %s\n", i, oneLine(f.Title), text))
}

func statusCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "status", Aliases: []string{"status-issue"}, Usage: "everything known about an issue", ArgsUsage: "REF",
		Description: "Who holds it and until when, what its labels should say, attempts, pull requests, records that do not count. " +
			"When issues wait for each other in a circle, it says so: it follows blockers over 4 steps and 20 issues at most." + refForms +
			"   label-state status 42\n   label-state status acme/app#42 --json",
		Flags:  common(),
		Action: t.on(showStatus),
	}
}

// A statusView is the JSON of status.
type statusView struct {
	Issue    string        `json:"issue"`
	Title    string        `json:"title"`
	URL      string        `json:"url"`
	Open     bool          `json:"open"`
	Answer   string        `json:"answer"`
	Reasons  []reason      `json:"reasons"`
	State    string        `json:"state"` // what the facts say
	Why      string        `json:"why"`
	Labels   []string      `json:"labels"`
	Drift    *driftView    `json:"drift,omitempty"` // labels to add and remove
	Store    string        `json:"lease_store"`     // what decides: comments, refs, redis or etcd
	Holder   *claimView    `json:"holder,omitempty"`
	Plan     *planView     `json:"plan,omitempty"` // of the holder
	Blockers []blockerView `json:"blockers"`
	Circle   *circleView   `json:"circle,omitempty"` // of the open blockers
	Attempts []attemptView `json:"attempts"`
	PRs      []pullView    `json:"pull_requests"`
	Ignored  []ignoredView `json:"ignored"`
	Now      string        `json:"server_time"`
}

type driftView struct {
	Add    []string `json:"add"`
	Remove []string `json:"remove"`
}

type blockerView struct {
	Issue string `json:"issue"`
	Open  bool   `json:"open"`
	URL   string `json:"url"`
}

type attemptView struct {
	Worker  string `json:"worker"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	At      string `json:"at"`
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

func showStatus(ctx context.Context, c *call, i claim.Issue) error {
	f, v, err := c.Ledger.Check(ctx, i, lifecycle.Seeker{})
	if err != nil {
		return err
	}
	view := viewStatus(c.Ledger.Rules(), f, v)
	view.Store, view.Circle = c.Config.Claim.Lease, c.circle(ctx, f)
	return c.tell(view, c.headed(describeStatus(c.Ledger.Rules().Terms, f, v, view), v.Answer))
}

func viewStatus(r lifecycle.Rules, f lifecycle.Facts, v lifecycle.Verdict) statusView {
	picture, why := r.Label(f)
	s := statusView{
		Issue: f.Issue.String(), Title: oneLine(f.Title), URL: f.URL, Open: f.Open, Answer: v.Answer.String(), Reasons: append([]reason{}, reasons(v)...),
		State: picture.State.String(), Why: oneLine(why), Labels: names(f.Labels), Now: stamp(f.Now),
		Blockers: []blockerView{}, Attempts: []attemptView{}, PRs: []pullView{}, Ignored: []ignoredView{},
	}
	if picture.Keep {
		s.State = "unmanaged"
	}
	if change := r.Scheme.Change(f.Labels, picture); !change.Empty() {
		s.Drift = &driftView{names(change.Add), names(change.Remove)}
	}
	if h, ok := f.Log.Holder(); ok {
		view := viewClaim(h, r.Terms, f.Now)
		s.Holder = &view
		if h.Plan != nil {
			plan := viewPlan(f.Issue, h, r.Terms)
			s.Plan = &plan
		}
	}
	for _, b := range f.Blockers {
		s.Blockers = append(s.Blockers, blockerView{b.Issue.String(), b.Open, b.URL})
	}
	for _, a := range f.Log.Attempts {
		s.Attempts = append(s.Attempts, attemptView{a.Worker.String(), a.Release.Outcome, oneLine(a.Release.Reason), stamp(a.Release.At)})
	}
	for _, p := range f.PRs {
		s.PRs = append(s.PRs, pullView{p.String(), oneLine(p.Title), string(p.State), p.Draft, p.URL})
	}
	for _, g := range f.Log.Ignored {
		s.Ignored = append(s.Ignored, ignoredView{g.Comment.URL, g.Comment.Author, oneLine(g.Reason)})
	}
	return s
}
