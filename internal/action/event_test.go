package action_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/action"
	"github.com/label-state/label-state/internal/ledger"
)

func TestInputs(t *testing.T) {
	for name, bad := range map[string]string{
		"mode": "guess", "guard": "maybe", "max-age-hours": "-5",
		"dry-run": "perhaps", "fail-on-incomplete": "1",
	} {
		_, err := action.ReadInputs(func(n string) string {
			if n == name {
				return bad
			}
			return ""
		})

		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, bad, err)
		}
	}

	for _, hours := range []string{"0", "NaN", "Inf", "-Inf", "1e99", "1e-9", "four"} {
		if _, err := action.ReadInputs(func(n string) string { return map[string]string{"max-age-hours": hours}[n] }); err == nil {
			t.Errorf("max-age-hours %s was accepted", hours)
		}
	}

	for want, given := range map[string]map[string]string{
		"{Token: Mode:auto Repos:[] MaxAge:0s DryRun:true Guard: Config: APIURL: FailOnIncomplete:true}": {"dry-run": "True"},
		"{Token:t Mode:sweep Repos:[a/b c/d] MaxAge:30m0s DryRun:false Guard:off Config:c.yml APIURL:u FailOnIncomplete:false}": {
			"token": "t", "mode": "sweep", "repos": "a/b, c/d", "max-age-hours": "0.5", "guard": "off", "config": "c.yml",
			"api-url": "u", "fail-on-incomplete": "false",
		},
	} {
		in, err := action.ReadInputs(func(n string) string { return given[n] })
		if got := fmt.Sprintf("%+v", in); got != want || err != nil {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

// TestStepOfEvent: which events have the guard judge, and which have a sweep look so far back.
func TestStepOfEvent(t *testing.T) {
	sweeps := "sweeps " + ledger.Lookback.String()
	for name, want := range map[string]string{
		"schedule": sweeps, "workflow_dispatch": sweeps, "repository_dispatch": sweeps,
		"pull_request": "judges", "pull_request_target": "judges", "merge_group": "judges",
		"issues": "", "issue_comment": "", "push": "",
	} {
		s := &action.Step{Inputs: action.Inputs{Mode: "auto"}, Event: action.Event{Name: name}, Now: time.Now()}
		got := map[bool]string{true: "judges"}[s.Judges()]
		if since := s.SweepSince(); !since.IsZero() {
			got += "sweeps " + s.Now.Sub(since).String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// FuzzEvent: whatever a payload holds, the run ends, and with one of its four codes.
func FuzzEvent(f *testing.F) {
	for _, name := range []string{"pull_request", "issues", "issue_comment", "schedule", "push"} {
		for _, payload := range []string{
			`{}`, `[]`, `null`, `{"action":"opened","number":1}`, `{"action":"closed","issue":{"number":1}}`,
			`{"action":"unlabeled","issue":{"number":1},"label":{"name":"agent:in-flight"},"sender":{"login":"olga","type":"User"}}`,
			`{"action":"created","issue":{"number":1},"comment":{"id":1,"body":"/claim","user":{"login":"olga","type":"User"}}}`,
			`{"action":"edited","number":2,"changes":{"body":{"from":"Closes #1"}},"pull_request":{"number":2,"head":{"repo":null}}}`,
			`{"number":-1,"issue":{"number":99999999999}}`,
		} {
			f.Add(name, payload)
		}
	}

	f.Fuzz(func(t *testing.T, name, payload string) {
		if _, err := action.ParseEvent(name, []byte(payload)); err != nil {
			return
		}
		w := newWorld(t)
		w.issue("Work")
		s := w.run(t.Context(), run{
			token:  tokActions,
			name:   name,
			event:  []byte(payload),
			inputs: map[string]string{"dry-run": "true"},
		})

		if s.code < 0 || s.code > 3 || s.writes > 0 {
			t.Errorf("exit %d, %d writes", s.code, s.writes)
		}
	})
}
