package action

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sethvargo/go-githubactions"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// TestTold: what a run says in its log, its summary and its outputs, and how it ends, is in
// testdata/told.txt.
func TestTold(t *testing.T) {
	late := errors.New("labels are late")
	lucius := claim.Claim{Record: claim.Record{Worker: claim.Worker{Codename: "lucius", FiringID: "retry"}}}
	all := forged("x")
	all.report.Findings = append(all.report.Findings,
		ledger.Finding{Mirrored: &lucius}, ledger.Finding{Ended: []claim.Claim{lucius}, Err: late})

	incomplete := result{mode: modeSweep, report: ledger.Report{
		Failed:   1,
		Findings: []ledger.Finding{{Err: late}},
		Skipped:  []string{"1", "2", "3", "4"},
		Unshown:  slices.Repeat(all.report.Unshown, 4),
	}}
	stopped := incomplete
	stopped.report.Stopped = late

	judged := result{refused: []refusal{{fails: true}, {}}, unjudged: all.unjudged, proposed: all.proposed, excess: "pull request"}
	denied := func(needs string) error {
		return &github.PermissionError{Write: true, Message: "Resource not accessible by integration", Needs: needs}
	}

	forks := Event{Name: "pull_request", Sender: Account{Login: "dependabot[bot]"}}
	var told strings.Builder
	for _, c := range []struct {
		name   string
		step   Step
		result result
	}{
		{"nothing", Step{}, result{}},
		{"everything", Step{}, all},
		{"in a dry run", Step{Inputs: Inputs{DryRun: true}}, all},
		{"incomplete", Step{}, incomplete},
		{"stopped, and that is a failure", Step{Inputs: Inputs{FailOnIncomplete: true}}, stopped},
		{"failed alone", Step{}, result{report: ledger.Report{Failed: 1}}},
		{"unusable", Step{Unusable: &config.Error{File: "f", Problem: "no such key"}}, incomplete},
		{"judged", Step{Place: Place{Guard: guardFail}}, judged},
		{"judged, with warnings", Step{Place: Place{Guard: guardWarn}}, result{
			refused:  judged.refused[1:],
			unjudged: judged.unjudged,
			proposed: judged.proposed,
			excess:   judged.excess,
		}},
		{"not judged", Step{Place: Place{Guard: guardFail}}, result{err: late, unjudged: []unjudged{{err: late}}}},
		{"not judged for a contributor, where the guard only warns", Step{Place: Place{
			Guard:        guardWarn,
			Contributors: config.Contributors{PullRequests: config.PullsFail},
		}}, result{unjudged: []unjudged{{err: late}}}},
		{"too many", Step{Place: Place{Guard: guardFail}}, result{excess: judged.excess}},
		{"proposed", Step{Place: Place{Guard: guardFail}}, result{proposed: judged.proposed}},
		{"proposed, with more problems than the runner keeps", Step{Place: Place{Guard: guardFail}}, result{
			proposed: &config.Error{File: "f", Line: 1, Problem: "no such key", More: slices.Repeat(
				[]*config.Error{{File: "f", Line: 2, Problem: "is empty"}}, noticeLimit)},
		}},
		{"for a fork", Step{Event: forks}, result{err: denied("")}},
		{"for a fork, with a wrong token", Step{Event: forks}, result{err: &github.AuthError{Message: "Bad credentials"}}},
		{"for a fork, and no sweep either", Step{
			Event:    forks,
			Unusable: &config.Error{File: "f", Problem: "no such key"},
		}, result{err: denied("")}},
		{"denied", Step{}, result{mode: modeSweep, err: denied("")}},
		{"denied a usual permission", Step{}, result{mode: modeCommands, err: denied("issues: write")}},
		{"denied another one", Step{}, result{mode: modeReconcile, report: ledger.Report{Stopped: denied("contents: write")}}},
		{"called wrongly", Step{}, result{err: &InputError{"mode", "x", "y"}}},
		{"without an answer", Step{}, result{err: late}},
	} {
		var log, summary, output bytes.Buffer
		s := c.step
		s.Console = NewConsole(githubactions.New(githubactions.WithWriter(&log)), &log)
		s.Summary, s.Output, s.Word = &summary, &output, func() string { return "w" }
		s.log(c.result)
		s.write(c.result)
		fmt.Fprintf(&told, "-- %s: exit %d --\n%s\n%s\n%s\n", c.name, s.exitCode(c.result), &log, &summary, parseOutputs(t, output.String()))
	}

	golden.Check(t, "testdata/told.txt", told.String())
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

	first, second := report(1, 2), report(2)
	first.Minimized, first.NotMinimized = 2, barred{}
	second.Minimized, second.Stopped = 1, barred{}
	var r result
	r.add(first)
	r.add(second)
	r.add(ledger.Report{Examined: []claim.Issue{{Owner: "acme", Repo: "app", Number: 3}}})
	got := r.report
	if got.Minimized != 3 || got.NotMinimized == nil || got.Stopped == nil {
		t.Errorf("of one report alone: %+v", got)
	}

	for name, n := range map[string]int{
		"lanes": len(got.Lanes), "holds": len(got.Holds), "waiting": len(got.Waiting),
		"stranded": len(got.Stranded), "unshown": len(got.Unshown), "examined": len(got.Examined) - 1,
	} {
		if n != 2 {
			t.Errorf("%s: %d, want 2", name, n)
		}
	}
}

// TestRefuse: a run that could not begin says so in its outputs, with a hint.
func TestRefuse(t *testing.T) {
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
