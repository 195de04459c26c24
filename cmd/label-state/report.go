package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/work"
)

// The exit codes of every command (PRODUCT ruling 1).
const (
	exitYes     = 0
	exitNo      = 1 // held, refused, lost
	exitCalled  = 2 // called wrongly, or a bad configuration
	exitUnknown = 3 // offline, rate limited, no permission: could not find out
	exitNoWork  = 4 // nothing to do, nothing started (PRODUCT ruling 18)
)

// A failure is an error on its way to the user: what was being done, to what, and why.
type failure struct {
	doing  string // "claim", "repo pause"; empty when a failure around this one says it
	object string // "o/r#7"; may be empty
	err    error
	hint   string // the next command; empty lets the error choose
}

func (f *failure) Error() string {
	if f.doing == "" {
		return f.reason()
	}
	return strings.TrimSpace(f.doing+" "+f.object) + ": " + f.reason()
}

// reason is the error without the object, which is named already.
func (f *failure) reason() string { return strings.TrimPrefix(f.err.Error(), "read "+f.object+": ") }

func (f *failure) Unwrap() error { return f.err }

// A timeoutError is what --timeout did not leave time for.
type timeoutError struct {
	after time.Duration
	err   error
}

func (e *timeoutError) Error() string { return fmt.Sprintf("no answer within %s", e.after) }

func (e *timeoutError) Unwrap() error { return e.err }

// An interruptedError is what a signal ended.
type interruptedError struct{ err error }

func (e *interruptedError) Error() string { return "interrupted" }

func (e *interruptedError) Unwrap() error { return e.err }

// An answerNo is a no that is neither a hold nor a lost hold.
type answerNo struct{ text string }

func (e *answerNo) Error() string { return e.text }

// report prints an error as one line and a hint, and returns the exit code.
func report(t terminal, err error) int {
	if err == nil {
		return exitYes
	}
	var own *exitStatus
	if errors.As(err, &own) {
		return own.code
	}
	for _, line := range problems(err) {
		fmt.Fprintf(t.err, "label-state: %s\n", oneLine(line))
	}
	if hint := hintFor(err); hint != "" {
		fmt.Fprintf(t.err, "hint: %s\n", oneLine(hint))
	}
	return exitCode(err)
}

// problems is one line, but for a configuration: a line for each of its problems.
func problems(err error) []string {
	var conf *config.Error
	if errors.As(err, &conf) {
		return strings.Split(err.Error(), "\n")
	}
	return []string{strings.ReplaceAll(err.Error(), "\n", "; ")}
}

// exitCode sorts errors into no, called wrongly and could not find out; they never mix.
func exitCode(err error) int {
	var (
		held  *ledger.HeldError
		lost  *ledger.LostError
		call  *ledger.CallError
		use   *usageError
		found *answerNo
		item  *work.Error
		asked *work.OptionError
		store *ledger.StoreError
	)
	switch {
	case err == nil:
		return exitYes
	case errors.As(err, &use), errors.As(err, &call), errors.As(err, &asked), errors.As(err, &store), setup.Misconfigured(err), calledHere(err),
		miscalledChain(err):
		return exitCalled
	case errors.Is(err, work.ErrNoWork):
		return exitNoWork
	case errors.As(err, &held), errors.As(err, &lost), errors.As(err, &found), noHere(err):
		return exitNo
	case errors.As(err, &item) && (item.Reason == work.AlreadyClaimed || item.Reason == work.InvalidState):
		return exitNo
	}
	return exitUnknown
}

// oneLine makes text from anywhere printable in one line of a terminal: no control characters, no escapes.
func oneLine(s string) string { return printable.Line(s) }

// warn says something that does not change the answer.
func warn(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "label-state: warning: %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// interrupted reports whether a person or --timeout ended it.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
