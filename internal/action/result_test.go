package action

import (
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// TestMirroredIsTold: a hold that only the lease store knew and that a sweep wrote into the log is
// told as a change, though no label moved.
func TestMirroredIsTold(t *testing.T) {
	w := claim.Worker{Codename: "lucius", FiringID: "retry"}
	r := result{report: ledger.Report{Examined: 1, Findings: []ledger.Finding{{
		Repair: ledger.Repair{
			Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 7},
			Was:   []string{"agent:in-flight"}, Is: []string{"agent:in-flight"},
		},
		Mirrored: &claim.Claim{Record: claim.Record{Worker: w}},
	}}}}
	moved, err := r.transitions()
	if err != nil || !strings.Contains(moved, `"why":"recorded the hold of lucius:retry"`) {
		t.Errorf("transitions = %s, %v", moved, err)
	}

	if _, _, got := r.report.Totals(); got != 1 {
		t.Errorf("repaired = %d, want 1", got)
	}
}
