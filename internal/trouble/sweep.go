package trouble

import (
	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
)

// NewSweep is a sweep that has looked at nothing yet.
func NewSweep(dryRun bool) answer.Sweep {
	return answer.Sweep{
		Findings: []answer.Finding{},
		Stranded: []answer.Stranded{},
		Skipped:  []string{},
		Left:     []string{},
		DryRun:   dryRun,
	}
}

// AddSweep adds what the sweep of a repository did. Other people's texts are made fit for a line.
func AddSweep(to *answer.Sweep, r ledger.Report) {
	ended, _, repaired := r.Totals()
	to.Examined += len(r.Examined)
	to.Ended += ended
	to.Repaired += repaired
	to.Failed += r.Failed
	to.Minimized += r.Minimized

	for _, s := range r.Skipped {
		to.Skipped = append(to.Skipped, printable.Line(s))
	}

	for _, u := range r.Unshown {
		to.Unshown = append(to.Unshown, u.Issue.String())
	}

	for _, s := range r.Stranded {
		to.Stranded = append(to.Stranded, answer.Stranded{Issue: s.Issue.String(), Why: printable.Line(s.Why)})
	}

	for _, f := range r.Findings {
		one := answer.Finding{
			Issue: f.Issue.String(),
			Was:   LabelNames(f.Was),
			Is:    LabelNames(f.Is),
			Ended: Workers(f.Ended),
			Why:   printable.Line(f.Why),
			Came:  f.Change.Add,
			Went:  f.Change.Remove,
		}

		if f.Mirrored != nil {
			one.Added = f.Mirrored.Record.Worker.String()
		}

		if f.Err != nil {
			one.Error = printable.Line(f.Err.Error())
		}

		if f.Answered != nil {
			one.Why = printable.Line(f.Answered.String()) + "; " + one.Why
		}

		to.Findings = append(to.Findings, one)
	}
}

// Workers names the workers of claims, in their order.
func Workers(claims []claim.Claim) []string {
	var out []string
	for _, c := range claims {
		out = append(out, c.Record.Worker.String())
	}
	return out
}
