package action

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
)

const skippedShown = 3 // of what was not examined, as annotations; the log and the summary have all

// log prints what was done: one line that sums up, what changed folded, and what went wrong as
// annotations.
func (s *Step) log(r result) {
	if s.Unusable != nil {
		s.Console.warn("%s; nothing is written until it is corrected", s.Unusable.Brief())
	}
	rep := r.report
	changed, failed := r.findings()
	back, repaired := "released", "repaired"
	if s.dry() {
		back, repaired = "would be released", "would be repaired"
	}

	ended, _, mended := rep.Totals()
	s.Console.line("%s: %d examined, %d %s, %d %s, %d failed, %d not examined",
		r.mode, len(rep.Examined), ended, back, mended, repaired, rep.Failed, len(rep.Skipped))
	var moves []string
	for _, f := range changed {
		move := ""
		if f.Moved() {
			move = fmt.Sprintf("%s -> %s: ", state(f.Was), state(f.Is))
		}
		moves = append(moves, fmt.Sprintf("%s: %s%s", f.Issue, move, explained(f, s.dry())))
	}

	verb := "changed"
	if s.dry() {
		verb = "would change"
	}

	s.Console.group(printable.Count(len(changed), "issue", "issues")+" "+verb, moves)
	var unwritten, shelf, stranded []string
	for _, f := range failed {
		unwritten = append(unwritten, fmt.Sprintf("%s: %s", f.Issue, f.Err))
	}

	s.Console.group(printable.Count(len(failed), "issue", "issues")+" failed", unwritten)
	for _, l := range r.labels {
		shelf = append(shelf, fmt.Sprintf("%s %s: %s", l.repo, l.name, l.status))
	}

	s.Console.group("labels", shelf)
	for _, note := range append(r.notes, r.left...) {
		s.Console.line("%s", note)
	}

	if rep.Minimized > 0 {
		s.Console.line("%s of ended holds minimized", printable.Count(rep.Minimized, "comment", "comments"))
	}

	for _, one := range rep.Stranded {
		stranded = append(stranded, fmt.Sprintf("%s: %s", one.Issue, one.Why))
	}
	s.Console.group(fmt.Sprintf("%d stranded", len(rep.Stranded)), stranded)
	for _, one := range slices.Concat(r.refused, r.unclaimed) {
		tell := s.Console.warn
		if one.fails {
			tell = s.Console.fail
		}
		tell("%s (%s)", one, one.reason.URL)
	}

	if r.proposed != nil {
		for _, one := range append([]*config.Error{r.proposed}, r.proposed.More...) {
			beside := s.Console.at(one.File, one.Line)
			tell := beside.fail
			if s.Guard != guardFail {
				tell = beside.warn
			}
			tell("the configuration that this pull request proposes: %s", one.First())
		}
	}

	refuse := s.Console.warn
	if s.fails() {
		refuse = s.Console.fail
	}

	for _, one := range r.unjudged {
		refuse("guard: %s", one)
	}
	if r.excess != "" {
		refuse("guard: the %s", r.excess)
	}

	told := slices.ContainsFunc(r.unjudged, func(u unjudged) bool { return r.err != nil && errors.Is(u.err, r.err) })

	// what was not done; a token that may only read is one notice: the sweep does the work, unless
	// this is the sweep
	switch {
	case r.readOnly() && s.sweepDoes(r):
		if s.Unusable == nil { // else no sweep does anything either
			s.Console.notice("the token of this run may only read (%s); the next sweep brings the labels in line",
				s.missingPermission(r))
		}
		return

	case r.readOnly():
		s.Console.fail("%s: the token may not write; %s", r.mode, s.missingPermission(r))
		return

	case r.err != nil:
		if !told {
			s.Console.fail("%s: %s", r.mode, r.err)
		}
		return
	}

	if !rep.Complete() {
		s.Console.fail("%s: incomplete, %d failed, %d not examined", r.mode, rep.Failed, len(rep.Skipped))
	}

	for _, f := range rep.Findings {
		if f.Err != nil && !errors.Is(f.Err, rep.Stopped) { // what stopped the run is told once, below
			s.Console.fail("%s: %s", f.Issue, f.Err)
		}
	}

	for _, one := range rep.Unshown[:min(skippedShown, len(rep.Unshown))] {
		s.Console.warn("%s", one)
	}

	if rep.NotMinimized != nil {
		s.Console.notice("comments of ended holds stay as they are: %s", rep.NotMinimized)
	}

	if rep.Stopped != nil {
		s.Console.warn("stopped early: %s; %d not examined", rep.Stopped, len(rep.Skipped))
	} else {
		for _, one := range rep.Skipped[:min(skippedShown, len(rep.Skipped))] {
			s.Console.warn("not examined: %s", one)
		}
	}

	s.Console.group(fmt.Sprintf("%d not examined", len(rep.Skipped)), rep.Skipped)
}

// sweepDoes reports whether the next sweep does what this run was not permitted to. What a person
// asks for in a comment only this run can do.
func (s *Step) sweepDoes(r result) bool {
	return s.Event.readOnly() || r.mode == modeLifecycle || r.mode == modeGuard || r.mode == modeReconcile
}

// missingPermission says why a token may not write: by the permission that GitHub asked for, where
// it said so.
func (s *Step) missingPermission(r result) string {
	if s.Event.readOnly() {
		return "a pull request from a fork, or Dependabot's"
	}

	for _, err := range []error{r.err, r.report.Stopped} {
		var denied *github.PermissionError
		if errors.As(err, &denied) && denied.Needs != "" && !strings.Contains(denied.Needs, "issues: write") {
			return "the job needs permissions: " + denied.Needs
		}
	}

	return "the job needs permissions: issues: write, pull-requests: write"
}

func state(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return strings.Join(names, " ")
}

// explained says what was done to an issue and for what reason; in a run that may write nothing,
// what would be done.
func explained(f ledger.Finding, dry bool) string {
	var parts []string
	give := "released"
	if dry {
		give = "would release"
	}

	for _, c := range f.Ended {
		parts = append(parts, give+" the hold of "+c.HolderKey())
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
