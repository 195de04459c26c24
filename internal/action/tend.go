package action

import (
	"context"
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

// runSweep does work on issues, and keeps what the guard has said under their pull requests true.
func (s *Step) runSweep(ctx context.Context, w ledger.Sweep, work func(ledger.Sweep) ledger.Report) ledger.Report {
	pulls := map[int]bool{}
	w.Seen = func(f lifecycle.Facts) {
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

	report.Skipped = append(report.Skipped, s.refreshComments(ctx, pulls)...)

	return report
}
