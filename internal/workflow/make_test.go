package workflow_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/label-state/label-state/internal/golden"
	"github.com/label-state/label-state/internal/workflow"
)

// TestText: what is made is a workflow, and lacks nothing that it was made for.
func TestText(t *testing.T) {
	for name, o := range map[string]workflow.Options{
		"the example": {},
		"a commit":    {Ref: strings.Repeat("a", 40), Note: "label-state v0.0.0"},
		"references":  {Refs: true},
		"a service":   {Variables: []string{"LABEL_STATE_REDIS_URL", "LABEL_STATE_REDIS_CA"}},
	} {
		text := workflow.Text(o)
		w, err := workflow.Parse([]byte(text))
		if err != nil || len(w.Jobs) != 1 || !w.Jobs[0].Stated {
			t.Fatalf("%s: %+v, %v\n%s", name, w, err, text)
		}

		j := w.Jobs[0]
		if lacks := j.Lacks(workflow.Needs(false, o.Refs)); len(lacks) > 0 {
			t.Errorf("%s lacks %v", name, lacks)
		}

		if more := j.Lacks(workflow.Permissions{"contents": "write"}); (len(more) == 0) != o.Refs {
			t.Errorf("%s has more permissions than it needs", name)
		}

		if misses := w.Misses(true); len(misses) > 0 {
			t.Errorf("%s misses %q", name, misses)
		}
		ref := workflow.Ref
		if o.Ref != "" {
			ref = o.Ref
		}

		if r, ok := workflow.Refers(j.Uses); !ok || r.Repo != workflow.Action || r.Ref != ref {
			t.Errorf("%s uses %s", name, j.Uses)
		}

		if strings.Contains(text, " # "+o.Note+"\n") != (o.Note != "") || len(j.Variables) != len(o.Variables) {
			t.Errorf("%s: %v in\n%s", name, j.Variables, text)
		}
	}
}

// TestShown: the example, to which the page of the Action leads, is the workflow that init writes. With
// -update it is written.
func TestShown(t *testing.T) {
	golden.Check(t, "../../examples/single-repository.yml", workflow.Text(workflow.Options{}))
}

// TestRef: as long as the list of changes has no release there is no tag that a workflow could
// name.
func TestRef(t *testing.T) {
	changes, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}

	want := "main"
	if m := regexp.MustCompile(`(?m)^## (v[1-9][0-9]*)\.`).FindSubmatch(changes); m != nil {
		want = string(m[1])
	}

	if workflow.Ref != want {
		t.Errorf("a workflow names %s, want %s: change Ref, then run the tests of this package with -update",
			workflow.Ref, want)
	}
}

// TestMisses: which events a workflow lacks, and which types.
func TestMisses(t *testing.T) {
	const all = "schedule: [{cron: '17 * * * *'}], pull_request: {types: [opened, reopened, closed, edited, ready_for_review, converted_to_draft, synchronize, unlabeled]}, "
	for on, want := range map[string]string{
		"push":               "schedule|pull_request|issues|issue_comment|merge_group",
		"[schedule, issues]": "pull_request|issue_comment|merge_group",
		"{" + all + "merge_group: , issues: , issue_comment: {types: created}}":  "",
		"{" + all + "issues: {types: [closed]}, issue_comment: }":                "issues: reopened, labeled, unlabeled, transferred|merge_group",
		"{pull_request: , schedule: , issues: , issue_comment: , merge_group: }": "pull_request: closed, edited, ready_for_review, converted_to_draft, unlabeled",
		"{" + all + "issues: {types: }, issue_comment: , merge_group: }":         "",
		"{" + all + "issues: , issue_comment: {types: [edited]}, merge_group: }": "issue_comment: created",
	} {
		w, err := workflow.Parse([]byte("on: " + on + "\njobs: {}\n"))
		if err != nil {
			t.Fatal(err)
		}

		for _, guard := range []bool{true, false} {
			var names []string
			for _, one := range w.Misses(guard) {
				name, _, _ := strings.Cut(one, " (")
				names = append(names, name)
			}

			want := want
			if !guard {
				want = strings.TrimPrefix(strings.TrimSuffix(want, "|merge_group"), "merge_group")
			}

			if got := strings.Join(names, "|"); got != want {
				t.Errorf("on %s, guard %t: misses %q, want %q", on, guard, got, want)
			}
		}
	}
}

// TestRefers: which action of another repository a step names.
func TestRefers(t *testing.T) {
	for uses, want := range map[string]string{
		"label-state/label-state@v1": "label-state/label-state v1", "acme/tools/sub@main": "acme/tools main", "./": "",
		"./.github/actions/x": "",
		"docker://alpine:3":   "", "docker://x/y@sha256:0": "", "label-state/label-state": "",
		"label-state/label-state@": "", "x@y": "",
	} {
		r, ok := workflow.Refers(uses)
		if got := strings.TrimSpace(r.Repo + " " + r.Ref); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %t, want %q", uses, got, ok, want)
		}
	}

	for ref, want := range map[string]bool{
		"v1": false, "main": false, "afba776": true, "afba77": false, "afba77611fa3": true,
		strings.Repeat("a", 40): false, "deadbeef1": true, "release": false,
	} {
		if got := (workflow.Reference{Ref: ref}).Short(); got != want {
			t.Errorf("%s is short: %t, want %t", ref, got, want)
		}
	}
}
