package action

import (
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/ledger"
)

const skippedShown = 3 // of what was not examined, as annotations; the log and the summary have all

// log prints what was done: one line that sums up, what changed folded, and what went wrong as annotations.
func (s *Step) log(r result) {
	rep, changed := r.report, r.changed()
	s.Console.line("%s: %d examined, %d given back, %d repaired, %d failed, %d not examined",
		r.mode, rep.Examined, rep.GaveBack(), rep.Repaired(), rep.Failed, len(rep.Skipped))
	var moves []string
	for _, f := range changed {
		moves = append(moves, fmt.Sprintf("%s: %s -> %s: %s", f.Issue, state(f.Was), state(f.Is), why(f)))
	}
	s.Console.group(fmt.Sprintf("%d issues changed", len(changed)), moves)
	s.Console.group("labels", shelf(r.labels))
	for _, note := range append(r.notes, r.left...) {
		s.Console.line("%s", note)
	}
	s.Console.group(fmt.Sprintf("%d stranded", len(rep.Stranded)), strands(rep.Stranded))
	for _, one := range r.refused {
		s.stop("%s (%s)", one, one.reason.URL)
	}
	s.trouble(r)
}

// stop is what the guard says, as loud as it was set.
func (s *Step) stop(format string, args ...any) {
	if s.Guard == guardWarn {
		s.Console.warn(format, args...)
		return
	}
	s.Console.fail(format, args...)
}

// trouble says what was not done. A token that may only read is one notice: the sweep does the
// work, unless this is the sweep.
func (s *Step) trouble(r result) {
	rep := r.report
	switch {
	case r.readOnly() && r.mode != modeSweep && r.mode != modeSetup:
		s.Console.notice("the token of this run may only read (%s); the next sweep brings the labels in line", s.poorly())
		return
	case r.readOnly():
		s.Console.fail("%s: the token may not write; give the job permissions: issues: write, pull-requests: write", r.mode)
		return
	case r.err != nil:
		s.Console.fail("%s: %s", r.mode, r.err)
		return
	}
	if !rep.Complete() {
		s.Console.fail("%s: incomplete, %d failed, %d not examined", r.mode, rep.Failed, len(rep.Skipped))
	}
	for _, f := range rep.Findings {
		if f.Err != nil {
			s.Console.fail("%s: %s", f.Issue, f.Err)
		}
	}
	s.skipped(rep)
}

// skipped says what was not looked at: why, when the sweep stopped, else the first few; and all of it folded.
func (s *Step) skipped(rep ledger.Report) {
	if rep.Stopped != nil {
		s.Console.warn("stopped early: %s; %d not examined", rep.Stopped, len(rep.Skipped))
	} else {
		for _, one := range rep.Skipped[:min(skippedShown, len(rep.Skipped))] {
			s.Console.warn("not examined: %s", one)
		}
	}
	s.Console.group(fmt.Sprintf("%d not examined", len(rep.Skipped)), rep.Skipped)
}

func (s *Step) poorly() string {
	if s.Event.readOnly() {
		return "a pull request from a fork, or Dependabot's"
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
func why(f ledger.Finding) string {
	var parts []string
	for _, c := range f.Ended {
		parts = append(parts, "gave back the hold of "+c.Record.Worker.String())
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
