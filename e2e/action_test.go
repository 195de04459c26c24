//go:build e2e

package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSweepReleasesExpiredClaim(t *testing.T) {
	w := newWorld(t, held("Retry the upload", 6*time.Hour), held("Cache the index", time.Hour), free("Name the port"))
	r := w.run(t, sweep())
	wantExit(t, r, 0)
	w.wantLabels(t, 1, implt)
	w.wantLabels(t, 2, inFlight)
	w.wantLabels(t, 3, implt)
	if log := w.comments(t, 1); len(log) != 2 ||
		!strings.HasPrefix(log[1], "<!-- agent-release:codename=lucius firing_id=run-1 outcome=stale-swept") {
		t.Errorf("log of #1 = %q, want the claim and one stale-swept release", log)
	}

	wantOutput(t, r, "swept", "1")
	wantOutput(t, r, "examined", "3")
	wantOutput(t, r, "failed", "0")
	wantOutput(t, r, "incomplete", "false")
	if declared := slices.Sorted(maps.Keys(w.meta.Outputs)); !slices.Equal(slices.Sorted(maps.Keys(r.outputs)),
		declared) {
		t.Errorf("outputs written %q, declared %q", slices.Sorted(maps.Keys(r.outputs)), declared)
	}

	var moved []struct {
		Issue   string
		Was, Is []string
	}

	if err := json.Unmarshal([]byte(r.outputs["transitions"]), &moved); err != nil {
		t.Fatalf("output transitions: %v", err)
	}

	if len(moved) != 1 || moved[0].Issue != repo+"#1" || !slices.Equal(moved[0].Was, []string{inFlight}) ||
		!slices.Equal(moved[0].Is, []string{implt}) {
		t.Errorf("transitions = %+v", moved)
	}

	for _, want := range []string{"/acme/app/issues/1", "Retry the upload", "```mermaid"} {
		if !strings.Contains(r.summary, want) {
			t.Errorf("summary lacks %q:\n%s", want, r.summary)
		}
	}

	again := w.run(t, sweep())
	wantExit(t, again, 0)
	wantOutput(t, again, "swept", "0")
	if log := w.comments(t, 1); len(log) != 2 {
		t.Errorf("a second sweep left %d comments, want 2", len(log))
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	w := newWorld(t, held("Retry the upload", 6*time.Hour))
	s := sweep()
	s.with = map[string]string{"dry-run": "true"}
	r := w.run(t, s)
	wantExit(t, r, 0)
	wantOutput(t, r, "swept", "0") // what a run would do is in its summary; the outputs count what it did
	if len(w.Requests()) == 0 {
		t.Error("the run asked nothing, so it shows nothing")
	}

	if wrote := w.writes(0); len(wrote) != 0 {
		t.Errorf("a dry run wrote: %q", wrote)
	}
	w.wantLabels(t, 1, inFlight)
}

func TestPullRequestFromOpenToMerged(t *testing.T) {
	w := newWorld(t, free("Retry the upload"))
	opened := w.opened(t, tokDev)
	wantExit(t, w.run(t, opened), 0)
	w.wantLabels(t, 1, prOpen)

	comments := len(w.comments(t, 1))
	asked := len(w.Requests())
	wantExit(t, w.run(t, opened), 0) // GitHub delivers twice
	w.wantLabels(t, 1, prOpen)
	if wrote := w.writes(asked); len(wrote) != 0 || len(w.comments(t, 1)) != comments {
		t.Errorf("the second delivery wrote %q", wrote)
	}

	merged := w.after(t, "pull_request", "closed", func() {
		w.send(t, tokDev, http.MethodPut, "/pulls/2/merge", map[string]string{})
	})
	wantExit(t, w.run(t, merged), 0)
	w.wantLabels(t, 1, done)
}

func TestPullRequestClosedUnmerged(t *testing.T) {
	w := newWorld(t, free("Retry the upload"))
	wantExit(t, w.run(t, w.opened(t, tokDev)), 0)
	w.wantLabels(t, 1, prOpen)
	closed := w.after(t, "pull_request", "closed", func() {
		w.send(t, tokDev, http.MethodPatch, "/pulls/2", map[string]string{"state": "closed"})
	})
	wantExit(t, w.run(t, closed), 0)
	w.wantLabels(t, 1, implt)
}

func TestHoldersPullRequestReleasesTheClaim(t *testing.T) {
	w := newWorld(t, held("Retry the upload", time.Hour))
	wantExit(t, w.run(t, w.opened(t, tokDev)), 0)
	w.wantLabels(t, 1, prOpen)
	log := w.comments(t, 1)
	if last := log[len(log)-1]; len(log) != 2 ||
		!strings.HasPrefix(last, "<!-- agent-release:codename=lucius firing_id=run-1") ||
		!strings.Contains(last, "/acme/app/pull/2") {
		t.Errorf("log = %q, want the claim and a release that names the pull request", log)
	}
}

func TestGuardRefusesSomebodyElsesIssue(t *testing.T) {
	w := newWorld(t, held("Retry the upload", time.Hour))
	s := w.opened(t, tokEve)
	s.with = map[string]string{"guard": "fail"}
	r := w.run(t, s)
	wantExit(t, r, 1)
	wantOutput(t, r, "refused", "1")
	if !strings.Contains(r.log, "lucius") {
		t.Errorf("the log does not name the holder:\n%s", r.log)
	}

	w.wantLabels(t, 1, inFlight)
}

// TestGuardStory: the guard refuses and says why under the pull request; somebody who may releases
// the issue with a comment; the check, run again, passes and takes its comment away.
func TestGuardStory(t *testing.T) {
	w := newWorld(t, held("Retry the upload", time.Hour))
	opened := w.opened(t, tokEve)
	refused := w.run(t, opened)
	wantExit(t, refused, 1)
	if said := w.comments(t, 2); len(said) != 1 || !strings.Contains(said[0], "lucius") ||
		!strings.Contains(said[0], "/release") {
		t.Errorf("the guard said %q, want one comment with the holder and the way out", said)
	}

	wantExit(t, w.run(t, opened), 1)
	if said := w.comments(t, 2); len(said) != 1 {
		t.Errorf("after a second run there are %d comments: %q", len(said), said)
	}

	wantExit(t, w.run(t, w.commented(t, tokDev, "/release")), 0)
	passed := w.run(t, opened)
	wantExit(t, passed, 0)
	wantOutput(t, passed, "refused", "0")
	if said := w.comments(t, 2); len(said) != 0 {
		t.Errorf("the guard is content and still says %q", said)
	}

	w.wantLabels(t, 1, prOpen)
}

func TestForkTokenStaysGreen(t *testing.T) {
	w := newWorld(t, free("Retry the upload"))
	s := fromFork(t, w.opened(t, tokDev))
	asked := len(w.Requests())
	r := w.run(t, s)
	wantExit(t, r, 0)
	if n := strings.Count(r.log, "::notice"); n != 1 {
		t.Errorf("%d notices, want one that says why nothing moved:\n%s", n, r.log)
	}

	if wrote := w.writes(asked); len(wrote) != 0 {
		t.Errorf("a token that may only read was used to write: %q", wrote)
	}
}

// fromFork is the same delivery for a pull request from a fork that is gone, with the token that
// its run gets.
func fromFork(t *testing.T, s step) step {
	t.Helper()
	var payload map[string]any
	if err := json.Unmarshal(s.file, &payload); err != nil {
		t.Fatal(err)
	}

	payload["pull_request"].(map[string]any)["head"].(map[string]any)["repo"] = nil
	s.file, _ = json.Marshal(payload) // it was JSON a moment ago
	s.token = tokFork
	return s
}

func TestBadTokenIsOneClearError(t *testing.T) {
	w := newWorld(t, held("Retry the upload", 6*time.Hour))
	s := sweep()
	s.token = "ghs_wrong"
	r := w.run(t, s)
	if r.code == 0 {
		t.Fatalf("exit 0 with a bad token\n%s", r.log)
	}

	if n := strings.Count(r.log, "::error"); n != 1 {
		t.Errorf("%d errors, want one:\n%s", n, r.log)
	}

	if strings.Contains(strings.ReplaceAll(r.log, "::add-mask::"+s.token, ""), s.token) {
		t.Errorf("the token is in the log:\n%s", r.log)
	}
	w.wantLabels(t, 1, inFlight)
}

func TestBadInputIsRefusedBeforeAnyRequest(t *testing.T) {
	for name, value := range map[string]string{
		"mode": "swept", "max-age-hours": "-1", "dry-run": "perhaps",
		"guard": "loud",
	} {
		w := newWorld(t)
		s := sweep()
		s.with = map[string]string{name: value}
		r := w.run(t, s)
		wantExit(t, r, 2)
		if !strings.Contains(r.log, "::error") || !strings.Contains(r.log, name) {
			t.Errorf("%s=%s: the log does not say which input:\n%s", name, value, r.log)
		}

		if len(w.Requests()) != 0 {
			t.Errorf("%s=%s: %d requests", name, value, len(w.Requests()))
		}
	}
}

// TestTitleForgesNothing runs a sweep over titles that try to be workflow commands, outputs and
// Markdown.
func TestTitleForgesNothing(t *testing.T) {
	w := newWorld(t,
		held("::error::forged", 6*time.Hour),
		held("x ##[set-output name=swept]99", 6*time.Hour),
		held("a | b <!-- c --> ](http://x) @everyone #1 \x1b[31m", 6*time.Hour),
	)
	r := w.run(t, sweep())
	wantExit(t, r, 0)
	wantOutput(t, r, "swept", "3")

	for line := range strings.Lines(r.log) {
		if strings.Contains(line, "##[") || strings.HasPrefix(strings.TrimSpace(line), "::error") ||
			strings.Contains(line, "\x1b") {
			t.Errorf("a title reached the log as a command: %q", line)
		}
	}

	for _, raw := range []string{"<!--", "](http://x)", "@everyone", "\x1b"} {
		if strings.Contains(r.summary, raw) {
			t.Errorf("a title reached the summary as %q:\n%s", raw, r.summary)
		}
	}
}
