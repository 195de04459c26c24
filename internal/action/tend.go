package action

import (
	"context"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// dry reports whether nothing is to be written, by request or because it could not be.
func (s *Step) dry() bool { return s.Inputs.DryRun || s.Event.readOnly() || s.Unusable != nil }

// tend brings issues of this repository in line with what GitHub says now.
func (s *Step) tend(ctx context.Context, issues []claim.Issue, by string) ledger.Report {
	return s.tendSnapshots(ctx, s.Hub.FactsOf(ctx, issues), by)
}

// tendSnapshots is tend for issues that were just read. Those that are not there, or no longer
// here, are left out.
func (s *Step) tendSnapshots(ctx context.Context, snapshots []lifecycle.Snapshot, by string) ledger.Report {
	read := func(yield func(lifecycle.Facts, error) bool) {
		for _, r := range snapshots {
			if absent(r.Err) {
				s.Console.line("%s", r.Err)
				continue
			}
			if !yield(r.Facts, r.Err) {
				return
			}
		}
	}

	return s.runSweep(ctx, ledger.Sweep{By: by, MaxAge: s.Inputs.MaxAge, DryRun: s.dry()},
		func(w ledger.Sweep) ledger.Report { return s.Ledger.Tend(ctx, read, w) })
}

// runSweep does work on issues. Then it takes away what two runs at once have written twice: the
// repeats that the work's own snapshots showed, and those on issues where it ended a hold or
// answered a plan. And it keeps what the guard has said under their pull requests true.
func (s *Step) runSweep(ctx context.Context, w ledger.Sweep, work func(ledger.Sweep) ledger.Report) ledger.Report {
	var found []repeat
	pulls := map[int]bool{}
	w.Seen = func(f lifecycle.Facts) {
		found = append(found, repeats(f)...)
		for _, one := range f.PRs {
			if one.State == lifecycle.PROpened && strings.EqualFold(one.Repo, s.Repo.String()) {
				pulls[one.Number] = true
			}
		}
	}

	report := work(w)
	if w.DryRun || report.Stopped != nil {
		return report
	}

	var touched []claim.Issue
	for _, f := range report.Findings {
		if len(f.Ended) > 0 || f.Answered != nil {
			touched = append(touched, f.Issue)
		}
	}

	s.deleteRepeats(ctx, found, touched...)
	report.Skipped = append(report.Skipped, s.refreshComments(ctx, pulls)...)

	return report
}

// deleteRepeats deletes the repeats that were found, and those on issues on which records were
// written since. A repeat that stays does no harm.
func (p Place) deleteRepeats(ctx context.Context, found []repeat, touched ...claim.Issue) {
	if len(touched) > 0 {
		for _, r := range p.Hub.FactsOf(ctx, touched) {
			if r.Err == nil {
				found = append(found, repeats(r.Facts)...)
			}
		}
	}

	for _, one := range found {
		_ = p.Hub.DeleteComment(ctx, one.issue, one.comment) // the next run sees it again
	}
}

// A repeat is a comment of ours that says again, in somebody's name, what the log had said already.
type repeat struct {
	issue   claim.Issue
	comment int64
}

// repeats finds what runs at the same time wrote twice: an end of a hold that had ended, a reset
// for the same attempt, an answer to a plan that had one. Only the first of such records means
// anything, so taking the others away changes no state.
func repeats(f lifecycle.Facts) []repeat {
	var out []repeat
	again := func(c claim.Comment, r claim.Record) {
		if r.By != "" && claim.SameLogin(c.Author, f.Viewer) {
			out = append(out, repeat{f.Issue, c.ID})
		}
	}

	for _, e := range f.Log.Idle {
		again(e.Comment, e.Record)
	}

	for _, i := range f.Log.Ignored {
		r, ok, _ := claim.Decode(i.Comment.Body)
		said := func(e claim.Entry) bool { return e.Record.Kind == r.Kind && e.Record.Worker == r.Worker }
		if ok && r.Kind.About().Once && slices.ContainsFunc(f.Log.Log, said) {
			again(i.Comment, r)
		}
	}

	return out
}
