package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// describeStatus is status for people: what it comes to in one sentence, then the facts.
func describeStatus(t claim.Terms, f lifecycle.Facts, v lifecycle.Verdict, s statusView) string {
	open := "open"
	if !s.Open {
		open = strings.TrimSpace("closed " + oneLine(f.StateReason))
	}
	rows := [][2]string{{"  issue", open + ", " + s.URL}}
	if s.Store != lease.Comments {
		rows = append(rows, [2]string{"  decided by", s.Store})
	}
	if h, held := f.Log.Holder(); held {
		rows = append(rows, describeHolder(t, f, h)...)
	}
	rows = append(rows, s.Circle.rows()...)
	rows = append(rows, [2]string{"  labels", oneLine(cmp.Or(strings.Join(s.Labels, ", "), "none"))})
	rows = append(append(rows, describeDrift(s)...), describeHistory(f, s)...)
	return fmt.Sprintf("%s %s\n%s\n", s.Issue, s.Title, oneLine(standing(t, f, v))) + table(rows)
}

// standing is the state of things in one sentence.
func standing(t claim.Terms, f lifecycle.Facts, v lifecycle.Verdict) string {
	h, held := f.Log.Holder()
	others := without(v, lifecycle.CodeInFlight, lifecycle.CodeClosed)
	switch {
	case v.Answer == lifecycle.Unknown:
		return "Nobody can tell whether it may be taken: " + clauses(v) + "."
	case !f.Open:
		return "It is closed."
	case held && h.Lapsed(t, f.Now):
		return also(lapsed(t, f, h), others)
	case held:
		return also(tenure(t, f, h), others)
	case len(others.Reasons) > 0:
		return "It is not to be taken: " + clauses(others) + "."
	}
	return "It is free: nobody holds it."
}

// also adds what else is in the way.
func also(sentence string, v lifecycle.Verdict) string {
	if len(v.Reasons) == 0 {
		return sentence
	}
	return sentence + " Also in the way: " + clauses(v) + "."
}

func clauses(v lifecycle.Verdict) string {
	texts := make([]string, len(v.Reasons))
	for i, r := range v.Reasons {
		texts[i] = r.Text
	}
	return strings.Join(texts, "; ")
}

func lapsed(t claim.Terms, f lifecycle.Facts, h claim.Claim) string {
	end, _ := h.Until(t)
	return fmt.Sprintf("It may be taken: the lease of %s ran out %s, and the next claim or sweep ends its hold.", h.Record.Worker.Codename, distance(end.Sub(f.Now)))
}

// tenure is who has it, and for how long.
func tenure(t claim.Terms, f lifecycle.Facts, h claim.Claim) string {
	who := h.Record.Worker.Codename
	end, ends := h.Until(t)
	left := cmp.Or(round(end.Sub(f.Now)), "a moment")
	switch {
	case h.Plan.Pending():
		return fmt.Sprintf("The plan of %s waits for a yes or a no; without one, its hold ends in %s.", who, left)
	case !h.Held():
		return who + " is claiming it just now."
	case h.Revoked != nil:
		return fmt.Sprintf("%s holds it and was asked to stop; the lease runs for another %s.", who, left)
	case !ends:
		return who + " holds it, without an end."
	}
	return fmt.Sprintf("%s holds it for another %s.", who, left)
}

func describeHolder(t claim.Terms, f lifecycle.Facts, h claim.Claim) [][2]string {
	claimed, lease, login := when(h.Created, f.Now), "never lapses", h.Author
	if len(h.Ranks) == 0 {
		claimed = "not in the log yet: label-state sweep-claims writes it"
	}
	if h.Comment == 0 { // only the lease store, or somebody who asked it, says so
		login = "not known"
	}
	if h.Updated.After(h.Created) {
		claimed += ", last sign of life " + distance(h.Updated.Sub(f.Now))
	}
	if end, ends := h.Until(t); ends {
		lease = "until " + when(end, f.Now)
	}
	token := ""
	if h.Record.Token > 0 {
		token = fmt.Sprint(h.Record.Token)
	}
	return [][2]string{
		{"  holder", oneLine(fmt.Sprintf("%s (run %s), login %s", h.Record.Worker.Codename, h.Record.Worker.FiringID, login))},
		{"  claimed", claimed},
		{"  lease", lease},
		{"  token", token},
		{"  branch", oneLine(h.Record.Branch)},
		{"  bundle", oneLine(h.Record.Bundle)},
		{"  plan", describePlan(f, h)},
		{"  record", h.URL},
	}
}

func describePlan(f lifecycle.Facts, h claim.Claim) string {
	switch {
	case h.Plan == nil:
		return ""
	case h.Plan.Pending():
		return fmt.Sprintf("waits for an answer since %s, %s", when(h.Plan.At, f.Now), h.Plan.URL)
	}
	return oneLine(fmt.Sprintf("approved by %s, %s", h.Plan.By, when(h.Plan.AnsweredAt, f.Now)))
}

// describeDrift says which labels lie, what they should say and why, and how to put them right.
func describeDrift(s statusView) [][2]string {
	if s.Drift == nil {
		return nil
	}
	var parts []string
	if len(s.Drift.Add) > 0 {
		parts = append(parts, strings.Join(s.Drift.Add, ", ")+" is missing")
	}
	if len(s.Drift.Remove) > 0 {
		parts = append(parts, strings.Join(s.Drift.Remove, ", ")+" does not belong there")
	}
	return [][2]string{
		{"  drift", oneLine(strings.Join(parts, ", ") + ": " + s.Why)},
		{"", "labels decide nothing; the next sweep repairs them, or: label-state reconcile " + s.Issue},
	}
}

// describeHistory is what came before, and what does not count.
func describeHistory(f lifecycle.Facts, s statusView) (rows [][2]string) {
	for _, a := range f.Log.Attempts {
		text := fmt.Sprintf("%s by %s, %s", a.Release.Outcome, a.Worker, when(a.Release.At, f.Now))
		if a.Release.Reason != "" {
			text += ": " + a.Release.Reason
		}
		rows = append(rows, [2]string{"  attempt", oneLine(text)})
	}
	for _, p := range s.PRs {
		draft := ""
		if p.Draft {
			draft = " (a draft)"
		}
		rows = append(rows, [2]string{"  pull request", fmt.Sprintf("%s is %s%s, %s", p.Ref, p.State, draft, p.URL)})
	}
	for _, g := range f.Log.Ignored {
		text := fmt.Sprintf("a record by %s, %s, does not count: %s", g.Comment.Author, distance(g.Comment.Created.Sub(f.Now)), g.Reason)
		rows = append(rows, [2]string{"  ignored", oneLine(text)}, [2]string{"", g.Comment.URL})
	}
	return rows
}
