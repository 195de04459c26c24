package action

import (
	"errors"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
)

// TestMirroredIsTold: a hold that only the lease store knew and that a sweep wrote into the log is
// told as a change, though no label moved; so is one that a sweep ended and whose labels failed.
func TestMirroredIsTold(t *testing.T) {
	w := claim.Worker{Codename: "lucius", FiringID: "retry"}
	r := result{report: ledger.Report{Findings: []ledger.Finding{{
		Repair: ledger.Repair{
			Issue: claim.Issue{Owner: "acme", Repo: "app", Number: 7},
			Was:   []string{"agent:in-flight"}, Is: []string{"agent:in-flight"},
		},
		Mirrored: &claim.Claim{Record: claim.Record{Worker: w}},
	}, {
		Ended: []claim.Claim{{Record: claim.Record{Worker: w}}},
		Err:   errors.New("labels are late"),
	}}}}

	moved, err := r.transitions()
	for _, want := range []string{`"why":"recorded the hold of lucius:retry"`, `"error":"labels are late"`} {
		if err != nil || !strings.Contains(moved, want) {
			t.Errorf("transitions = %s, %v, want %s", moved, err, want)
		}
	}

	if _, _, got := r.report.Totals(); got != 1 {
		t.Errorf("repaired = %d, want 1", got)
	}
}
