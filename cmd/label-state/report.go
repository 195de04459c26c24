package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/printable"
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
func (f *failure) reason() string {
	text := f.err.Error()
	for _, kind := range []string{"read ", "bundle ", "feature "} {
		text = strings.TrimPrefix(text, kind+f.object+": ")
	}
	return text
}

func (f *failure) Unwrap() error { return f.err }

// A timeoutError is what --timeout did not leave time for.
type timeoutError struct {
	after time.Duration
	err   error
}

func (e *timeoutError) Error() string {
	text := "no answer within " + printable.Exact(e.after)
	if store := e.store(); store != "" {
		text += " from the lease store " + store
	}
	return text + undone(e.err)
}

// store is the lease store that did not answer, if it was one.
func (e *timeoutError) store() string {
	if late, is := errors.AsType[*lease.Error](e.err); is {
		return late.Kind
	}
	return ""
}

func (e *timeoutError) Unwrap() error { return e.err }

// An interruptedError is what a signal ended.
type interruptedError struct{ err error }

func (e *interruptedError) Error() string { return "interrupted" + undone(e.err) }

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
