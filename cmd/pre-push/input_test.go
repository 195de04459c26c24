package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/label-state/label-state/internal/outgoing"
)

// TestInputInPieces: what git has not written yet is waited for.
func TestInputInPieces(t *testing.T) {
	t.Parallel()
	built(t) // else all is written before it runs
	in, out := pipe(t)
	go func() {
		for _, piece := range []string{
			"(delete) " + strings.Repeat("0", 40), " refs/heads/work ",
			strings.Repeat("1", 40) + "\n",
		} {
			time.Sleep(100 * time.Millisecond)
			_, _ = out.WriteString(piece) // the program says whether it came
		}
		out.Close()
	}()

	if said, err := saidOf(t, in); err != nil || said != "" {
		t.Errorf("%v with\n%s", err, said)
	}
}

// TestLongInput: no line is lost of an input that is longer than what one read gives, or a pipe holds.
func TestLongInput(t *testing.T) {
	t.Parallel()
	in, out := pipe(t)
	none, some := strings.Repeat("0", 40), strings.Repeat("1", 40)
	deleted := strings.Repeat("(delete) "+none+" refs/heads/old "+some+"\n", 2000)
	pushed := "refs/heads/work " + some + " refs/heads/work " + none + "\n"
	go func() {
		_, _ = out.WriteString(pushed + deleted) // the program says whether it came
		out.Close()
	}()

	// the second stage, which is asked because of the first line alone, finds no repository
	want := "label-state: not checked, pushing anyway: not in a git repository\n"
	if said, err := saidOf(t, in); err != nil || said != want {
		t.Errorf("%v with\n%s", err, said)
	}
}

// TestInputShared: hooks that run side by side, each with the same pipe, of which one takes what
// git has written; all of them end.
func TestInputShared(t *testing.T) {
	t.Parallel()
	built(t)
	in, out := pipe(t)
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			said, err := saidOf(t, in)
			if err != nil || !strings.HasSuffix(said, ": the input does not end\n") {
				t.Errorf("%v with\n%s", err, said)
			}
		})
	}

	time.Sleep(200 * time.Millisecond) // all of them wait
	if _, err := out.WriteString("refs/heads/work " + strings.Repeat("1", 40)); err != nil {
		t.Fatal(err)
	}

	running.Wait()
}

// TestReadTimed: a file that does not end is left at that time.
func TestReadTimed(t *testing.T) {
	in, out := pipe(t)
	if _, err := out.WriteString("x"); err != nil {
		t.Fatal(err)
	}

	if input, err := readTimed(in, time.Now().Add(10*time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", input, err)
	}
	out.Close()
	file := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(file, []byte("whole"), 0o600); err != nil {
		t.Fatal(err)
	}

	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}

	defer f.Close()
	if input, err := readTimed(f, time.Now().Add(time.Minute)); string(input) != "whole" || err != nil {
		t.Errorf("%q, %v", input, err)
	}
}

// TestWalkEndsWithBudget: a push is not looked through when the time of both stages is over.
func TestWalkEndsWithBudget(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), "git",
			append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		text, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}

		return strings.TrimSpace(string(text))
	}

	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "one")
	updates := []outgoing.Update{{
		LocalRef:  "refs/heads/work",
		LocalOID:  git("rev-parse", "HEAD"),
		RemoteRef: "refs/heads/work",
		RemoteOID: strings.Repeat("0", 40),
	}}

	for used, want := range map[time.Duration]error{0: nil, outgoing.Budget: os.ErrDeadlineExceeded} {
		s := &stage{
			args: []string{"origin", "https://github.com/acme/app.git"}, environ: os.Environ(),
			start: time.Now().Add(-used),
		}
		if err := s.walk(t.Context(), dir, updates); (err == nil) != (want == nil) || s.walked != (want == nil) {
			t.Errorf("after %s: %v, walked: %t", used, err, s.walked)
		}
	}
}
