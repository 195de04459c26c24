package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/label-state/label-state/internal/outgoing"
)

// started tells the second stage, in nanoseconds since 1970, when the first one began: they share
// one budget.
const started = "LABEL_STATE_HOOK_STARTED"

// exitPass lets the push go; git refuses it for every other code.
const exitPass = 0

// handOver runs the second stage in place of the first and returns its exit code. Without a second
// stage nothing is known, and the push goes, with a line that says so.
func (s *stage) handOver() int {
	// Whoever reads our messages may have gone; that alone must not end us with a signal, which git
	// would take for a refusal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	path, err := secondStage()
	if err != nil {
		return unchecked(err)
	}

	cmd := exec.Command(path, append(before(path), s.args...)...)
	cmd.Env = append(s.environ, started+"="+strconv.FormatInt(s.start.UnixNano(), 10))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr

	switch {
	case s.walked:
		cmd.Stdin = bytes.NewReader(outgoing.HandOver(s.input, s.commits, s.exact))
	case s.whole:
		cmd.Stdin = bytes.NewReader(s.input)
	}

	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return exit.ExitCode()
	case err != nil:
		return unchecked(fmt.Errorf("run %s: %w", filepath.Base(path), err))
	}

	return exitPass
}

func unchecked(err error) int {
	fmt.Fprintln(os.Stderr, "label-state: not checked, pushing anyway:", err)
	return exitPass
}

// secondStage finds the program that is called as this one with "-check" after its name, or
// label-state, which plays the whole hook: beside this one, or beside what it is a link to; else on
// PATH.
func secondStage() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the second stage: %w", err)
	}

	places := []string{self}
	if real, err := filepath.EvalSymlinks(self); err == nil && real != self {
		places = append(places, real)
	}

	var names []string
	for _, place := range places {
		names = append(names, beside(place)...)
	}

	names = append(names, "label-state-pre-push-check", whole)
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}

	return "", fmt.Errorf("neither %s-check nor %s was found beside it or on PATH", filepath.Base(self), whole)
}

// whole is the program that plays both stages.
const whole = "label-state"

// beside are the names that a second stage has in the folder of the first.
func beside(first string) []string {
	name, windows := strings.CutSuffix(first, ".exe")
	names := []string{name + "-check", filepath.Join(filepath.Dir(first), whole)}
	if windows {
		for k := range names {
			names[k] += ".exe"
		}
	}

	return names
}

// before are the arguments that a second stage wants in front of git's.
func before(path string) []string {
	if strings.TrimSuffix(filepath.Base(path), ".exe") == whole {
		return []string{"hook", "pre-push"}
	}
	return nil
}
