package app

import (
	"bytes"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/sample"
	"github.com/label-state/label-state/internal/setup"
)

// mortal is a connection of a process that is killed at its n-th writing request: before it is
// sent, or when it has been answered.
type mortal struct {
	next  http.RoundTripper
	left  int
	after bool
}

func (m *mortal) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet || strings.HasSuffix(r.URL.Path, "/graphql") {
		return m.next.RoundTrip(r)
	}
	m.left--
	if m.left == 0 && !m.after {
		runtime.Goexit()
	}

	resp, err := m.next.RoundTrip(r)
	if m.left == 0 {
		runtime.Goexit()
	}

	return resp, err
}

// TestBundleKilled kills "bundle claim" before and after every request that writes, in an ordinary
// run every second. What comes next, on the same machine, is a release that leaves the labels
// exactly as they were, in a clone of another GitHub, or a claim that wins.
func TestBundleKilled(t *testing.T) {
	dir, git := t.TempDir(), new(gitAnswers)
	elsewhere := t.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", "https://git.example.com/acme/app.git"}} {
		if out, err := exec.Command("git", append([]string{"-C", elsewhere}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}

	const claim = "label-state bundle claim checkout acme/app#1 acme/web#1 --codename lucius"
	for then, there := range map[string]string{"label-state bundle release checkout": elsewhere, claim: dir} {
		for _, after := range []bool{false, true} {
			deaths := 0
			first, stride := sample.Steps(fmt.Sprint(then, after), 2)
			for at := first; ; at += stride {
				finished := false
				synctest.Test(t, func(t *testing.T) { finished = killBundle(t, dir, there, git, claim, then, at, after) })
				if t.Failed() {
					t.Fatalf("killed at request %d, after it: %t, then %s", at, after, then)
				}

				if finished {
					break
				}
				deaths++
			}

			if deaths < sample.Size(2, 5) {
				t.Errorf("killed %d times", deaths)
			}
		}
	}
}

// killBundle plays it in two folders and reports whether the first command came to its end alive.
func killBundle(t *testing.T, dir, there string, git *gitAnswers, first, then string, at int, after bool) (finished bool) {
	w, err := newWorld("")
	if err != nil {
		t.Fatal(err)
	}

	if err := w.RemoveLabel("acme/web", 1, "olga", "agent:implement"); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{"GH_TOKEN": "tok-agents", "HOME": t.TempDir()}
	var out bytes.Buffer
	do := func(line, dir string, through http.RoundTripper) int {
		env := setup.OS()
		env.Getenv, env.Dir, env.Stderr, env.HTTP = func(name string) string { return vars[name] }, dir, &out, through
		env.Exec = git.answer
		return cli.Run(t.Context(), strings.Fields(line), cli.Terminal{
			Verbs: Verbs(),
			In:    strings.NewReader(""),
			Out:   &out,
			Err:   &out,
			Env:   env,
		})
	}

	done := make(chan struct{})
	go func() {
		defer close(done)
		do(first, dir, &mortal{w.Transport(), at, after})
		finished = true
	}()

	<-done
	time.Sleep(time.Minute)
	if finished {
		return true
	}

	code := do(then, there, w.Transport())
	if code != answer.ExitYes {
		t.Errorf("exit code %d\n%s", code, &out)
	}

	for issue, was := range map[string][]string{"acme/app": {"agent:implement"}, "acme/web": nil} {
		got, err := w.Labels(issue, 1)
		if want := expected(then, was); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s#1 has the labels %q, want %q: %v\n%s", issue, got, want, err, &out)
		}
	}

	return false
}

func expected(then string, was []string) []string {
	if strings.Contains(then, "release") {
		return was
	}
	return []string{"agent:in-flight", "agent:bundle:checkout"}
}
