package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// lines are the entries for people: when, who, and what it did to the issue.
func lines(entries []entryView) []string {
	wide := 0
	for _, e := range entries {
		wide = max(wide, len(e.actor()))
	}
	begun := map[string]string{}
	out := make([]string, len(entries))
	for n, e := range entries {
		if e.Kind == string(claim.KindClaim) {
			begun[e.Worker] = e.At
		}
		out[n] = oneLine(fmt.Sprintf("%s  %-*s  %s", e.At, wide, e.actor(), e.deed(begun[e.Worker]))) + "\n"
	}
	return out
}

// actor is whose record it is: the worker's, or for one that does not count the login's.
func (e entryView) actor() string { return oneLine(cmp.Or(e.Worker, e.Author)) }

// deed is what the record says, in words; begun is when its worker claimed.
func (e entryView) deed(begun string) string {
	switch {
	case e.Ignored != "":
		return "wrote a record that does not count: " + e.Ignored
	case e.Kind == string(claim.KindRelease):
		return e.end(begun) + e.detail()
	case e.Kind == string(claim.KindClaim) && e.State == "asked":
		return "asked for it"
	case e.Kind == string(claim.KindClaim):
		return "claimed it" + strings.Replace(strings.TrimPrefix(e.State, "held"), "renewed 1 time", "renewed once", 1)
	}
	text := map[string]string{
		string(claim.KindRevoke): "was asked to stop", string(claim.KindPlan): "posted a plan, and waits", string(claim.KindApprove): "had its plan approved",
		string(claim.KindReject): "had its plan rejected", string(claim.KindReset): "attempts are counted anew",
	}[e.Kind]
	return cmp.Or(text, e.Kind) + e.detail()
}

// end is how the hold, or the claim before it was one, came to its end.
func (e entryView) end(begun string) string {
	if winner, yielded := claim.Yielded(e.Outcome); yielded {
		return "lost the race to " + winner.String()
	}
	switch e.Outcome {
	case claim.OutcomeSuccess, claim.OutcomeAlreadyImplemented:
		return fmt.Sprintf("delivered it%s: %s", heldFor(begun, e.At), e.Outcome)
	case claim.OutcomeStaleSwept:
		return fmt.Sprintf("lost it%s without a sign of life: %s", heldFor(begun, e.At), e.Outcome)
	case claim.OutcomeForced:
		return fmt.Sprintf("lost it%s: %s", heldFor(begun, e.At), e.Outcome)
	case claim.OutcomeAdvanced:
		return fmt.Sprintf("moved it on%s to stage %s: %s", heldFor(begun, e.At), cmp.Or(e.Stage, "?"), e.Outcome)
	case claim.OutcomeAbandoned:
		return "gave up its claim: " + e.Outcome
	}
	return fmt.Sprintf("gave it back%s: %s", heldFor(begun, e.At), cmp.Or(e.Outcome, "no outcome told"))
}

// detail is who else had a hand in it, why, and what came of it.
func (e entryView) detail() string {
	text := ""
	for _, p := range [][2]string{{" by ", e.By}, {", because ", e.Reason}, {", ", e.PR}} {
		if p[1] != "" {
			text += p[0] + p[1]
		}
	}
	return text
}

// heldFor is how long after the claim something was, when that is worth telling.
func heldFor(begun, at string) string {
	from, err := time.Parse(time.RFC3339, begun)
	to, err2 := time.Parse(time.RFC3339, at)
	if err != nil || err2 != nil || to.Sub(from) < time.Minute {
		return ""
	}
	return " after " + round(to.Sub(from))
}
