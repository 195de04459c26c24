package workflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/workflow"
)

const uses = "jobs: {tend: {%s steps: [{uses: label-state/label-state@v1%s}]}}\n"

func TestLacks(t *testing.T) {
	for _, c := range []struct{ top, job, with, want, refs string }{
		{
			"permissions: {}", "", "", "contents: read, issues: write, pull-requests: write",
			"contents: write, issues: write, pull-requests: write",
		},
		{"permissions: {issues: write, pull-requests: write, contents: read}", "", "", "", "contents: write"},
		{"permissions: {}", "permissions: {issues: write, pull-requests: write, contents: write},", "", "", ""},
		{
			"permissions: {issues: write, pull-requests: write, contents: write}", "permissions: {issues: read},", "",
			"contents: read, issues: write, pull-requests: write",
			"contents: write, issues: write, pull-requests: write",
		},
		{"permissions: write-all", "", "", "", ""},
		{
			"permissions: read-all", "", "", "issues: write, pull-requests: write",
			"contents: write, issues: write, pull-requests: write",
		},
		{"", "", "", "", ""},
		{"permissions:", "", "", "", ""},
		{"permissions: {}", "", ", with: {token: '${{ steps.app.outputs.token }}'}", "", ""},
		{
			"permissions: {}", "", ", with: {token: '${{ github.token }}', mode: guard}",
			"contents: read, issues: read, pull-requests: read", "contents: read, issues: read, pull-requests: read",
		},
		{"permissions: read-all", "", ", with: {mode: guard}", "", ""},
	} {
		w, err := workflow.Parse([]byte(c.top + "\n" + fmt.Sprintf(uses, c.job, c.with)))
		if err != nil || len(w.Jobs) != 1 {
			t.Fatalf("%+v: %v, %v", c, w, err)
		}

		jobs := w.Jobs
		for refs, want := range map[bool]string{false: c.want, true: c.refs} {
			if got := strings.Join(jobs[0].Lacks(workflow.Needs(jobs[0].Guard, refs)), ", "); got != want {
				t.Errorf("%+v, refs %v: lacks %q", c, refs, got)
			}
		}
	}

	if _, err := workflow.Parse([]byte("jobs: [")); err == nil {
		t.Error("broken YAML was read")
	}

	for job, runs := range map[string]bool{
		"steps: [{uses: actions/stale@v9}]":                  false,
		"uses: ./.github/workflows/tend.yml":                 true,
		"uses: ./.github/workflows/tend.yml}, b: {uses: a/b": true,
	} {
		if w, err := workflow.Parse([]byte("jobs: {a: {" + job + "}}")); err != nil || len(w.Jobs) != 0 || w.Runs != runs {
			t.Errorf("%s: %v, %v", job, w, err)
		}
	}
}

// TestExamples: the examples lack no permission, and name the Action as the first one does.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}

	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		w, err := workflow.Parse(text)
		if err != nil || len(w.Jobs) == 0 {
			t.Errorf("%s: %v, %v", file, w, err)
		}

		for _, j := range w.Jobs {
			if j.Uses != workflow.Action+"@"+workflow.Ref {
				t.Errorf("%s: job %s uses %s", file, j.Name, j.Uses)
			}
			if lacks := j.Lacks(workflow.Needs(j.Guard, false)); len(lacks) > 0 {
				t.Errorf("%s: job %s lacks %v", file, j.Name, lacks)
			}
		}
	}
}

// TestVariables: those of the workflow, the job and the step reach a step of the Action, which may be of the
// workflow's own repository.
func TestVariables(t *testing.T) {
	const text = "on: push\nenv: {A: 1}\njobs: {x: {env: {B: 1}, steps: [{uses: ./, env: {C: 1}}, {uses: acme/x@v1}]}}\n"
	w, err := workflow.Parse([]byte(text))
	if err != nil || len(w.Jobs) != 1 || strings.Join(w.Jobs[0].Variables, "") != "ABC" {
		t.Errorf("%+v, %v", w, err)
	}
}

// A step's variables do not reach a later job, also where the workflow has variables of its own.
func TestVariablesOfAStepStayThere(t *testing.T) {
	w, err := workflow.Parse([]byte(`on: push
env: {SHARED: x}
jobs:
  a:
    steps:
      - {uses: label-state/label-state@v1, env: {OWN: x}}
  b:
    steps:
      - {uses: label-state/label-state@v1}
`))
	if err != nil || len(w.Jobs) != 2 {
		t.Fatalf("Parse: %+v, %v; want two jobs", w, err)
	}

	if got, want := w.Jobs[1].Variables, []string{"SHARED"}; !slices.Equal(got, want) {
		t.Errorf("variables of the second job = %q, want %q", got, want)
	}
}
