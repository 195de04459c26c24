package action

import (
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/ledger"
)

const skippedShown = 3 // of what was not examined, as annotations; the log and the summary have all

// log prints what was done: one line that sums up, what changed folded, and what went wrong as annotations.
func (rp *reporter) log(r result) {
	rep, changed := r.report, r.changed()
	back, repaired := "released", "repaired"
	if rp.step.dry() {
		back, repaired = "would be released", "would be repaired"
	}
	rp.step.Console.line("%s: %d examined, %d %s, %d %s, %d failed, %d not examined",
		r.mode, rep.Examined, rep.GaveBack(), back, rep.Repaired(), repaired, rep.Failed, len(rep.Skipped))
	var moves []string
	for _, f := range changed {
		move := ""
		if f.Moved() {
			move = fmt.Sprintf("%s -> %s: ", state(f.Was), state(f.Is))
		}
		moves = append(moves, fmt.Sprintf("%s: %s%s", f.Issue, move, explained(f, rp.step.dry())))
	}
	verb := "changed"
	if rp.step.dry() {
		verb = "would change"
	}
	rp.step.Console.group(fmt.Sprintf("%d issues %s", len(changed), verb), moves)
	rp.step.Console.group("labels", shelf(r.labels))
	for _, note := range append(r.notes, r.left...) {
		rp.step.Console.line("%s", note)
	}
	if rep.Minimized > 0 {
		rp.step.Console.line("%d comments of ended holds minimized", rep.Minimized)
	}
	rp.step.Console.group(fmt.Sprintf("%d stranded", len(rep.Stranded)), strands(rep.Stranded))
	for _, one := range r.refused {
		rp.stop("%s (%s)", one, one.reason.URL)
	}
	rp.trouble(r)
}

// stop is what the guard says, as loud as it was set.
func (rp *reporter) stop(format string, args ...any) {
	if rp.step.Guard == guardWarn {
		rp.step.Console.warn(format, args...)
		return
	}
	rp.step.Console.fail(format, args...)
}

// trouble says what was not done. A token that may only read is one notice: the sweep does the
// work, unless this is the sweep.
func (rp *reporter) trouble(r result) {
	rep := r.report
	switch {
	case r.readOnly() && rp.sweepDoes(r):
		rp.step.Console.notice("the token of this run may only read (%s); the next sweep brings the labels in line", rp.missingPermission(r))
		return
	case r.readOnly():
		rp.step.Console.fail("%s: the token may not write; %s", r.mode, rp.missingPermission(r))
		return
	case r.err != nil:
		rp.step.Console.fail("%s: %s", r.mode, r.err)
		return
	}
	if !rep.Complete() {
		rp.step.Console.fail("%s: incomplete, %d failed, %d not examined", r.mode, rep.Failed, len(rep.Skipped))
	}
	for _, f := range rep.Findings {
		if f.Err != nil {
			rp.step.Console.fail("%s: %s", f.Issue, f.Err)
		}
	}
	for _, one := range rep.Unshown[:min(skippedShown, len(rep.Unshown))] {
		rp.step.Console.warn("%s", one)
	}
	if rep.NotMinimized != nil {
		rp.step.Console.notice("comments of ended holds stay as they are: %s", rep.NotMinimized)
	}
	rp.skipped(rep)
}

// skipped says what was not looked at: why, when the sweep stopped, else the first few; and all of it folded.
func (rp *reporter) skipped(rep ledger.Report) {
	if rep.Stopped != nil {
		rp.step.Console.warn("stopped early: %s; %d not examined", rep.Stopped, len(rep.Skipped))
	} else {
		for _, one := range rep.Skipped[:min(skippedShown, len(rep.Skipped))] {
			rp.step.Console.warn("not examined: %s", one)
		}
	}
	rp.step.Console.group(fmt.Sprintf("%d not examined", len(rep.Skipped)), rep.Skipped)
}

// sweepDoes reports whether the next sweep does what this run was not permitted to. What a person asks for in a comment only this
// run can do.
func (rp *reporter) sweepDoes(r result) bool {
	return rp.step.Event.readOnly() || r.mode == modeLifecycle || r.mode == modeGuard || r.mode == modeReconcile
}

// missingPermission says why a token may not write: by the permission that GitHub asked for, where it said so.
func (rp *reporter) missingPermission(r result) string {
	if rp.step.Event.readOnly() {
		return "a pull request from a fork, or Dependabot's"
	}
	for _, err := range []error{r.err, r.report.Stopped} {
		var denied interface{ Needed() string }
		if errors.As(err, &denied) && denied.Needed() != "" && !strings.Contains(denied.Needed(), "issues: write") {
			return "the job needs permissions: " + denied.Needed()
		}
	}
	return "the job needs permissions: issues: write, pull-requests: write"
}

func shelf(all []shelved) []string {
	var out []string
	for _, l := range all {
		out = append(out, fmt.Sprintf("%s %s: %s", l.repo, l.name, l.status))
	}
	return out
}

func state(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return strings.Join(names, " ")
}

func strands(all []ledger.Strand) []string {
	var out []string
	for _, one := range all {
		out = append(out, fmt.Sprintf("%s: %s", one.Issue, one.Why))
	}
	return out
}

// why says what was done to an issue and for what reason.
func why(f ledger.Finding) string { return explained(f, false) }

// explained is why for a run that may write nothing: then it says what would be done.
func explained(f ledger.Finding, dry bool) string {
	var parts []string
	give := "released"
	if dry {
		give = "would release"
	}
	for _, c := range f.Ended {
		who := c.Record.Worker.String()
		if c.Person != "" {
			who = c.Person
		}
		parts = append(parts, give+" the hold of "+who)
	}
	if f.Mirrored != nil {
		parts = append(parts, "recorded the hold of "+f.Mirrored.Record.Worker.String())
	}
	if f.Answered != nil {
		parts = append(parts, f.Answered.String())
	}
	if f.Err != nil {
		return strings.Join(append(parts, f.Err.Error()), "; ")
	}
	if f.Why != "" {
		parts = append(parts, f.Why)
	}
	return strings.Join(parts, "; ")
}
