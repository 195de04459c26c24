package action

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/sethvargo/go-githubactions"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
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
	for _, want := range []string{
		`"why":"recorded the hold of lucius:retry"`,
		`"why":"released the hold of lucius:retry; labels are late","error":"labels are late"`,
	} {
		if err != nil || !strings.Contains(moved, want) {
			t.Errorf("transitions = %s, %v, want %s", moved, err, want)
		}
	}

	if _, _, got := r.report.Totals(); got != 1 {
		t.Errorf("repaired = %d, want 1", got)
	}
}

// TestLaterReport: how an issue stands is as the later of two reports says.
func TestLaterReport(t *testing.T) {
	report := func(numbers ...int) (r ledger.Report) {
		r.Lanes = map[claim.Issue]lifecycle.Lane{}
		for _, n := range numbers {
			i := claim.Issue{Owner: "acme", Repo: "app", Number: n}
			r.Examined, r.Lanes[i] = append(r.Examined, i), lifecycle.LaneReady
			r.Holds = append(r.Holds, ledger.Aged{Issue: i})
			r.Waiting = append(r.Waiting, ledger.Strand{Issue: i})
			r.Stranded = append(r.Stranded, ledger.Strand{Issue: i})
			r.Unshown = append(r.Unshown, ledger.Unshown{Issue: i})
		}
		return r
	}

	var r result
	r.add(report(1, 2))
	r.add(report(2))
	r.add(ledger.Report{Examined: []claim.Issue{{Owner: "acme", Repo: "app", Number: 3}}})
	got := r.report
	for name, n := range map[string]int{
		"lanes": len(got.Lanes), "holds": len(got.Holds), "waiting": len(got.Waiting),
		"stranded": len(got.Stranded), "unshown": len(got.Unshown), "examined": len(got.Examined) - 1,
	} {
		if n != 2 {
			t.Errorf("%s: %d, want 2", name, n)
		}
	}
}

// TestAdvice: what a run that is not complete advises, and what a refused one leaves in its
// outputs.
func TestAdvice(t *testing.T) {
	denied := &github.PermissionError{Write: true, Message: "Resource not accessible by integration"}
	for want, r := range map[string]result{
		"false none":                       {},
		"true correct the step's inputs":   {err: &InputError{}},
		"true run this check again":        {unjudged: []unjudged{{}}},
		"true sweep with a token that may": {err: denied},
		"true run again: nothing could":    {err: errors.New("no answer")},
		"true run again soon":              {report: ledger.Report{Skipped: []string{"x"}}},
		"true run again: a write failed":   {report: ledger.Report{Failed: 1}},
	} {
		var output, summary bytes.Buffer
		s := &Step{Output: &output, Summary: &summary, Word: func() string { return "0badcafe" }}
		if err := s.writeOutputs(r); err != nil {
			t.Fatal(err)
		}

		out := parseOutputs(t, output.String())
		if got := out["incomplete"] + " " + out["next-sweep-advice"]; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}

	for want, hint := range map[int]string{ExitCalled: "correct the workflow", ExitUnknown: "label-state doctor acme/app"} {
		var log, output, summary bytes.Buffer
		s := &Step{
			Place:  Place{Repo: claim.Repo{Owner: "acme", Name: "app"}},
			Output: &output, Summary: &summary, Word: func() string { return "0badcafe" },
			Console: NewConsole(githubactions.New(githubactions.WithWriter(&log)), &log),
		}
		code := Refuse(s, errors.New("no such mode"), want)
		if code != want || parseOutputs(t, output.String())["incomplete"] != "true" ||
			!strings.Contains(summary.String(), "no such mode") || !strings.Contains(log.String(), hint) {
			t.Errorf("exit %d, %s\n%s\n%s", code, output.String(), summary.String(), log.String())
		}
	}
}

// TestMissingPermission: a job is told which permission GitHub asked for, unless every job needs it.
func TestMissingPermission(t *testing.T) {
	const usual = "issues: write, pull-requests: write"
	for needs, want := range map[string]string{"": usual, "issues: write": usual, "contents: write": "contents: write"} {
		denied := &github.PermissionError{Needs: needs}
		for _, r := range []result{{err: denied}, {report: ledger.Report{Stopped: denied}}} {
			if got := (&Step{}).missingPermission(r); got != "the job needs permissions: "+want {
				t.Errorf("GitHub asks for %q: %q", needs, got)
			}
		}
	}
}

// TestHidden: what a token learns in no run keeps no check from passing; what it may learn in the
// next one does.
func TestHidden(t *testing.T) {
	for err, want := range map[error]bool{
		&github.HiddenRoleError{}: true, &github.PermissionError{}: true, errors.New("no answer"): false,
	} {
		if hidden(err) != want {
			t.Errorf("%v is hidden: %t, want %t", err, !want, want)
		}
	}
}
