//go:build e2e

package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A play runs one workflow for a delivery.
type play func(t *testing.T, w world, s step) actRun

// scenarios are what happens on GitHub, by the event that tells of it, and what must be true after
// the run.
var scenarios = map[string]func(*testing.T, play){
	"schedule": func(t *testing.T, run play) {
		w := newWorld(t, held("Retry the upload", 6*time.Hour), held("Cache the index", time.Hour))
		run(t, w, sweep()).wantGreen(t)
		w.wantLabels(t, 1, implt)
		w.wantLabels(t, 2, inFlight)
	},
	"workflow_dispatch": func(t *testing.T, run play) {
		w := newWorld(t, held("Retry the upload", 6*time.Hour))
		run(t, w, step{event: "workflow_dispatch", file: json.RawMessage(`{}`), token: tokAct}).wantGreen(t)
		w.wantLabels(t, 1, implt)
	},
	"pull_request": func(t *testing.T, run play) {
		w := newWorld(t, free("Retry the upload"))
		run(t, w, w.opened(t, tokDev)).wantGreen(t)
		w.wantLabels(t, 1, prOpen)
		merged := w.after(t, "pull_request", "closed", func() {
			w.send(t, tokDev, http.MethodPut, "/pulls/2/merge", map[string]string{})
		})
		run(t, w, merged).wantGreen(t)
		w.wantLabels(t, 1, done)
	},
	"merge_group": func(t *testing.T, run play) {
		w := newWorld(t, free("Retry the upload"))
		run(t, w, w.queued(t, tokDev)).wantGreen(t)
		w = newWorld(t, held("Retry the upload", time.Hour))
		if r := run(t, w, w.queued(t, tokEve)); !r.failed || !strings.Contains(r.log, "lucius") {
			t.Errorf("the queue merges a pull request that closes lucius' issue:\n%s", r.log)
		}

		w.wantLabels(t, 1, inFlight)
	},
	"issues": func(t *testing.T, run play) {
		w := newWorld(t, held("Retry the upload", time.Hour))
		taken := w.after(t, "issues", "unlabeled", func() {
			w.send(t, tokEve, http.MethodDelete, "/issues/1/labels/"+inFlight, nil)
		})
		run(t, w, taken).wantGreen(t)
		w.wantLabels(t, 1, implt)
		if log := w.comments(t, 1); len(log) != 2 || !strings.Contains(log[1], "by=eve") {
			t.Errorf("log = %q, want a release in eve's name", log)
		}
	},
	"issue_comment": func(t *testing.T, run play) {
		w := newWorld(t, held("Retry the upload", time.Hour))
		run(t, w, w.commented(t, tokEve, "/release it is mine")).wantGreen(t)
		w.wantLabels(t, 1, implt)
		talk := w.commented(t, tokEve, "Shall we /release it?")
		asked := len(w.Requests())
		run(t, w, talk).wantGreen(t)
		if wrote := w.writes(asked); len(wrote) != 0 {
			t.Errorf("ordinary talk led to %q", wrote)
		}
	},
}

// TestUsesCheckout runs the Action as a workflow of this repository has it, with "uses: ./" and a
// Dockerfile to build.
func TestUsesCheckout(t *testing.T) {
	const path = "e2e/testdata/label-state.yml"
	run := func(t *testing.T, w world, s step) actRun { return w.act(t, path, s) }
	for _, event := range slices.Sorted(maps.Keys(scenarios)) {
		t.Run(event, func(t *testing.T) { scenarios[event](t, run) })
	}

	t.Run("outputs", func(t *testing.T) {
		w := newWorld(t, held("Retry the upload", 6*time.Hour))
		if r, want := run(t, w, sweep()), "examined=1 swept=1 incomplete=false"; !strings.Contains(r.log, want) {
			t.Errorf("the next step does not see %q:\n%s", want, r.log)
		}
	})
}

// TestExamples runs every example, unchanged, for every event that it declares.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}

	for _, file := range files {
		name := filepath.Base(file)
		path := "examples/" + name
		run := func(t *testing.T, w world, s step) actRun { return w.act(t, path, s) }
		for _, event := range slices.Sorted(maps.Keys(readWorkflow(t, "../"+path).On)) {
			t.Run(name+"/"+event, func(t *testing.T) {
				scenario, found := special[path+" "+event]
				if !found {
					scenario, found = scenarios[event]
				}

				if !found {
					t.Fatalf("no scenario for the event %s", event)
				}
				scenario(t, run)
			})
		}
	}
}

// special are the scenarios of examples that do something else for an event than the others.
var special = map[string]func(*testing.T, play){
	"examples/single-repository.yml workflow_dispatch": func(t *testing.T, run play) {
		scenarios["workflow_dispatch"](t, run)
		w := newWorld(t)
		setup := step{event: "workflow_dispatch", file: json.RawMessage(`{"inputs":{"mode":"setup"}}`), token: tokAct}
		run(t, w, setup).wantGreen(t)
		names, err := w.RepoLabels(repo)
		if err != nil {
			t.Fatal(err)
		}

		for _, want := range []string{implt, inFlight, prOpen, done, "do-not-pickup", "needs:human-scope"} {
			if !slices.Contains(names, want) {
				t.Errorf("setup made %q, want %s as well", names, want)
			}
		}
	},

	"examples/many-repositories.yml schedule":          bothRepositories,
	"examples/many-repositories.yml workflow_dispatch": bothRepositories,

	"examples/forks.yml pull_request":       onlyTheGuard,
	"examples/open-source.yml pull_request": onlyTheGuard,

	"examples/agents.yml pull_request": func(t *testing.T, run play) {
		scenarios["pull_request"](t, run)
		w := newWorld(t, held("Retry the upload", time.Hour))
		if r := run(t, w, w.opened(t, tokEve)); !r.failed {
			t.Errorf("the guard let a pull request pass that closes lucius' issue:\n%s", r.log)
		}
	},
}

// onlyTheGuard wants a run of a pull request to judge it and to write nothing.
func onlyTheGuard(t *testing.T, run play) {
	w := newWorld(t, held("Retry the upload", time.Hour))
	theirs := fromFork(t, w.opened(t, tokEve))
	asked := len(w.Requests())
	if r := run(t, w, theirs); !r.failed || !strings.Contains(r.log, "lucius") {
		t.Errorf("the guard let a pull request pass that closes lucius' issue:\n%s", r.log)
	}

	if wrote := w.writes(asked); len(wrote) != 0 {
		t.Errorf("a run of a fork's pull request wrote %q", wrote)
	}
	w.wantLabels(t, 1, inFlight)
	w = newWorld(t, free("Retry the upload"))
	run(t, w, fromFork(t, w.opened(t, tokEve))).wantGreen(t)
	w.wantLabels(t, 1, implt)
}

// bothRepositories wants the claims released in the repository of the workflow and in another one.
func bothRepositories(t *testing.T, run play) {
	w := newWorld(t, held("Retry the upload", 6*time.Hour))
	s := sweep()
	s.token = "tok-nobody" // the App's token does the work
	run(t, w, s).wantGreen(t)
	w.wantLabels(t, 1, implt)
	got, err := w.Labels(tools, 1)
	if err != nil {
		t.Fatal(err)
	}

	if !slices.Equal(got, []string{implt}) {
		t.Errorf("labels of %s#1 = %q, want %q", tools, got, implt)
	}
}
