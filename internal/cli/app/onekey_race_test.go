package app

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/githubsim"
)

// TestOneKeyRace has processes with one codename and one firing id ask at once, as the jobs of a CI
// matrix with one run id do. GitHub takes its time with every answer, so that all have seen the
// issue free. Exactly one is told yes, the others that another process of their run has it, and the
// winner's hold stands when all are done.
func TestOneKeyRace(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	for _, c := range []struct {
		name, config string
		processes    int
		words        []string
	}{
		{"claim", "", 5, []string{"claim", contested}},
		{"run", "", 3, []string{"run", contested}},
		{"bundle", "", 3, []string{"bundle", "claim", "pair", contested, "acme/app#2"}},
		{"claim, quiet", "claim: {comments: quiet}", 3, []string{"claim", contested}},
		{"claim, refs", "claim: {lease: refs}", 5, []string{"claim", contested}},
		{"bundle, refs", "claim: {lease: refs}", 3, []string{"bundle", "claim", "pair", contested, "acme/app#2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			oneKeyRace(t, a, c.config, c.processes, c.words)
		})
	}
}

// TestOneKeyNext: next gives each process of a run an issue of its own.
func TestOneKeyNext(t *testing.T) {
	t.Parallel()
	a := newArena(t)
	_, codes, said := startTogether(t, a, "", 3, []string{"next", "--repo", "acme/app"})
	taken := map[string]bool{}
	for n, code := range codes {
		issue := regexp.MustCompile(`claimed (acme/app#[0-9]+)`).FindStringSubmatch(said[n].String())
		if code != answer.ExitYes || issue == nil || taken[issue[1]] {
			t.Errorf("process %d: exit code %d\n%s", n, code, &said[n])
			continue
		}
		taken[issue[1]] = true
	}
}

func oneKeyRace(t *testing.T, a *arena, conf string, processes int, words []string) {
	w, codes, said := startTogether(t, a, conf, processes, words)
	won := 0
	for n, code := range codes {
		t.Logf("process %d: exit code %d\n%s", n, code, &said[n])
		switch {
		case code == answer.ExitYes:
			won++
		case code != answer.ExitNo || !strings.Contains(said[n].String(), "another process of this run has "):
			t.Errorf("process %d: exit code %d\n%s", n, code, &said[n])
		}
	}

	transcribe(t, w, 1)
	if won != 1 {
		t.Errorf("%d of %d processes were told that they have it", won, processes)
	}

	checkStillHeld(t, w, words[0] == "run")
}

// startTogether runs so many processes of one run at once, each in a place of its own, on a GitHub
// that takes its time. It returns their exit codes and what they said.
func startTogether(t *testing.T, a *arena, conf string, processes int, words []string) (*world, []int, []bytes.Buffer) {
	t.Helper()
	w, err := newWorldWith(t.TempDir(), func(s *githubsim.Seed) {
		if conf != "" {
			s.Repos[0].Files = map[string]string{config.Path: "version: 1\n" + conf + "\n"}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	slow := func(*http.Request) *githubsim.Fault { return &githubsim.Fault{Delay: 150 * time.Millisecond} }
	w.fault.Store(&slow)
	base, stop, err := w.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(stop)

	codes, said := make([]int, processes), make([]bytes.Buffer, processes)
	start := make(chan struct{})
	var running sync.WaitGroup
	for n := range processes {
		args := append([]string{}, words...)
		args = append(args, "--codename", "lucius", "--firing-id", "matrix-1")
		if words[0] == "run" { // it holds the issue until the others have their answer
			args = append(args, "--", "sleep", "4")
		}

		cmd := a.command(t.Context(), args...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(cmd.Env, "LABEL_STATE_API_URL="+base, "LABEL_STATE_STATE_DIR="+t.TempDir(), "XDG_STATE_HOME="+
			t.TempDir())
		cmd.Stdout, cmd.Stderr = &said[n], &said[n]
		running.Go(func() {
			<-start
			codes[n] = exitOf(cmd.Run())
		})
	}

	close(start)
	running.Wait()

	return w, codes, said
}

// checkStillHeld looks at the labels: the hold of the winner stands, or was ended by it alone.
func checkStillHeld(t *testing.T, w *world, ended bool) {
	t.Helper()
	i, err := w.Issue("acme/app", 1)
	if err != nil {
		t.Fatal(err)
	}

	held := false
	for _, l := range i.Labels {
		held = held || l == "agent:in-flight"
	}

	if held == ended {
		t.Errorf("labels %v", i.Labels)
	}
}
