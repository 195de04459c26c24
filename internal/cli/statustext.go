package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// A StatusView is the JSON of status: what the snapshot shows, and what is known here besides.
type StatusView struct {
	answer.Status
	Ended   string     `json:"ended,omitempty"`   // what became of the hold recorded here, and what to do
	Cycle   *CycleView `json:"cycle,omitempty"`   // of the open blockers
	Next    string     `json:"next,omitempty"`    // the command for the person who sets the repository up
	Guessed string     `json:"guessed,omitempty"` // that whose records count is a guess, and why
}

// DescribeStatus is status for people: what it comes to in one sentence, then the facts.
func DescribeStatus(r lifecycle.Rules, f lifecycle.Facts, v lifecycle.Verdict, s StatusView) string {
	open := "open"
	if !s.Open {
		open = strings.TrimSpace("closed " + OneLine(f.StateReason))
	}

	what := "  issue"
	if s.Pull {
		what = "  pull request"
	}

	rows := [][2]string{{what, open + ", " + s.URL}}
	add := func(name, text string) { rows = append(rows, [2]string{name, text}) }
	if s.Store != lease.Comments {
		add("  decided by", s.Store)
	}

	if h, held := r.Shown(f); held {
		rows = append(rows, describeHolder(r.Terms, f, h)...)
	}

	add("  your hold", s.Ended)
	add("  assigned to", OneLine(strings.Join(f.Assignees, ", ")))
	switch {
	case s.Cycle == nil:
	case len(s.Cycle.Path) == 0:
		add("  cycle", OneLine("whether it waits in a dependency cycle is not known: "+s.Cycle.Unknown))
	default:
		add("  cycle", OneLine(lifecycle.Round(s.Cycle.Path)+", so none of them can start"))
		add("", CycleRemedy)
	}

	add("  stage", s.Stage)
	add("  labels", OneLine(cmp.Or(strings.Join(s.Labels, ", "), "none")))
	if s.Drift != nil {
		var parts []string
		if len(s.Drift.Add) > 0 {
			parts = append(parts, strings.Join(s.Drift.Add, ", ")+" is missing")
		}

		if len(s.Drift.Remove) > 0 {
			parts = append(parts, strings.Join(s.Drift.Remove, ", ")+" does not belong there")
		}

		add("  drift", OneLine(strings.Join(parts, ", ")+": "+s.Drift.Why))
		add("", "labels decide nothing; the next sweep repairs them, or: label-state reconcile "+s.Issue)
	}

	if s.Stranded != "" {
		add("  stranded", s.Stranded)
		add("", "start it again: label-state release "+s.Issue+" --force")
	}

	// What came before, and what does not count.
	for _, a := range f.Tried() {
		who := cmp.Or(a.Person, a.Worker.String())
		text := fmt.Sprintf("%s by %s, %s", a.Outcome, who, when(a.At, f.Now))
		if a.By != "" {
			text = fmt.Sprintf("%s, %s by %s, %s", who, a.Outcome, a.By, when(a.At, f.Now))
		}
		for _, more := range [][2]string{{": ", a.Reason}, {"; branch ", a.Branch}, {"; pull request ", a.PR}} {
			if more[1] != "" {
				text += more[0] + more[1]
			}
		}

		add("  attempt", OneLine(text))
	}

	for _, p := range s.PRs {
		draft := ""
		if p.Draft {
			draft = " (a draft)"
		}
		add("  pull request", fmt.Sprintf("%s is %s%s, %s", p.Ref, p.State, draft, p.URL))
	}

	for _, g := range f.Log.Ignored {
		add("  ignored", OneLine(fmt.Sprintf("a record by %s, %s, does not count: %s", g.Comment.Author,
			distance(g.Comment.Created.Sub(f.Now)), g.Reason)))
		add("", g.Comment.URL)
	}

	add("  next", s.Next)
	return fmt.Sprintf("%s %s\n%s\n", s.Issue, s.Title, OneLine(Standing(r, f, v))) + Table(rows)
}

// Standing is the state of things in one sentence.
func Standing(r lifecycle.Rules, f lifecycle.Facts, v lifecycle.Verdict) string {
	t := r.Terms
	h, held := r.Shown(f)
	others := v
	others.Reasons = slices.DeleteFunc(slices.Clone(v.Reasons),
		func(one lifecycle.Reason) bool { return one.Code.Meaning().Stated })

	switch {
	case v.Answer == lifecycle.Unknown:
		return "Whether it is free is unknown: " + v.Why() + "."
	case !f.Open:
		return "It is closed."
	case held && h.Expired(t, f.Now):
		end, _ := h.Until(t)
		text := fmt.Sprintf(" lease of %s expired %s, and the next claim or sweep ends its hold.",
			h.Record.Worker.Codename, distance(end.Sub(f.Now)))
		if len(others.Reasons) > 0 {
			return "The" + text + " It cannot be claimed now: " + others.Why() + "."
		}

		return "It is free: the" + text
	case held && len(others.Reasons) > 0:
		return tenure(t, f, h) + " Also in the way: " + others.Why() + "."
	case held:
		return tenure(t, f, h)
	case len(others.Reasons) > 0:
		return "It cannot be claimed: " + others.Why() + "."
	}

	return "It is free: nobody holds it."
}

// tenure is who has it, and for how long.
func tenure(t claim.Terms, f lifecycle.Facts, h claim.Claim) string {
	who := h.Record.Worker.Codename
	if h.Person != "" {
		who = h.Person
	}

	end, ends := h.Until(t)
	left := printable.Span(max(end.Sub(f.Now), time.Second))
	switch {
	case h.Stored && ends && f.Now.After(end): // the store goes by a clock of its own, and so does its grace
		return fmt.Sprintf("%s holds it: the lease store has not ended its lease, which by GitHub's clock expired %s.",
			who, distance(end.Sub(f.Now)))
	case h.Held() && ends && f.Now.After(end):
		return fmt.Sprintf("The lease of %s expired %s; the issue is free %s.", who, distance(end.Sub(f.Now)),
			distance(end.Add(t.Grace).Sub(f.Now)))
	case h.Plan.Pending():
		return fmt.Sprintf("The plan of %s is waiting for /approve or /reject; without an answer, its hold ends %s.", who,
			distance(end.Sub(f.Now)))
	case !h.Held():
		return who + " is claiming it just now."
	case h.Person != "" && ends:
		return fmt.Sprintf("%s has held it since %s, for another %s unless they comment or open a pull request.", who,
			Moment(h.Created), left)
	case h.Person != "" && h.Record.TTL > 0:
		return fmt.Sprintf("%s has held it since %s, as long as their pull request is open.", who, Moment(h.Created))
	case h.Person != "":
		return fmt.Sprintf("%s has held it since %s, until they release it.", who, Moment(h.Created))
	case h.Revoked != nil:
		return fmt.Sprintf("%s holds it and was asked to stop; the lease runs for another %s.", who, left)
	case !ends:
		return who + " holds it, without a time limit."
	}

	return fmt.Sprintf("%s holds it for another %s.", who, left)
}

func describeHolder(t claim.Terms, f lifecycle.Facts, h claim.Claim) [][2]string {
	claimed, lease, login := when(h.Created, f.Now), "never expires", h.Author
	if len(h.Ranks) == 0 {
		claimed = "not in the log yet: label-state sweep-claims writes it"
	}

	if h.Comment == 0 { // only the lease store, or somebody who asked it, says so
		login = "not known"
	}

	if h.Updated.After(h.Created) {
		claimed += ", last heartbeat " + distance(h.Updated.Sub(f.Now))
	}

	if end, ends := h.Until(t); ends {
		lease = "until " + when(end, f.Now)
	} else if h.Record.TTL > 0 {
		lease = "while the pull request is open"
	}

	token := ""
	if h.Record.Token > 0 {
		token = fmt.Sprint(h.Record.Token)
	}

	holder := fmt.Sprintf("%s, login %s", h.Holder(), login)
	if h.Person != "" {
		holder = h.Person + ", a person"
	}

	if h.Record.Forced != "" {
		claimed += ", forced despite: " + OneLine(h.Record.Forced)
	}
	plan := ""
	switch {
	case h.Plan == nil:
	case h.Plan.Pending():
		plan = fmt.Sprintf("has waited for an answer since %s, %s", when(h.Plan.At, f.Now), h.Plan.URL)
	default:
		plan = OneLine(fmt.Sprintf("approved by %s, %s", h.Plan.Who(), when(h.Plan.AnsweredAt, f.Now)))
	}

	return [][2]string{
		{"  holder", OneLine(holder)},
		{"  claimed", claimed},
		{"  lease", lease},
		{"  token", token},
		{"  branch", OneLine(h.Record.Branch)},
		{"  bundle", OneLine(h.Record.Bundle)},
		{"  note", OneLine(h.Record.Reason)},
		{"  plan", plan},
		{"  record", h.URL},
	}
}
