package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/printable"
)

// A Failure is an error on its way to the user: what was being done, to what, and why.
type Failure struct {
	Doing  string // "claim", "repo pause"; empty when a failure around this one says it
	Object string // "o/r#7"; may be empty
	Err    error
	Hint   string // the next command; empty lets the error choose
}

func (f *Failure) Error() string {
	if f.Doing == "" {
		return f.Reason()
	}
	return strings.TrimSpace(f.Doing+" "+f.Object) + ": " + f.Reason()
}

// Reason is the error without the object, which is named already.
func (f *Failure) Reason() string {
	text := f.Err.Error()
	for _, kind := range []string{"read ", "bundle ", "feature "} {
		text = strings.TrimPrefix(text, kind+f.Object+": ")
	}
	return text
}

func (f *Failure) Unwrap() error { return f.Err }

// A cause is the error that another one is about.
type cause struct{ err error }

func (c cause) Unwrap() error { return c.err }

// A timeoutError is what --timeout did not leave time for.
type timeoutError struct {
	cause
	after time.Duration
	store string // the lease store that did not answer, if it was one
}

func (e *timeoutError) Error() string {
	text := "no answer within " + printable.Exact(e.after)
	if e.store != "" {
		text += " from the lease store " + e.store
	}
	return text + undone(e.err)
}

// An interruptedError is what a signal ended.
type interruptedError struct{ cause }

func (e *interruptedError) Error() string { return "interrupted" + undone(e.err) }

// A NoAnswer is a no that is neither a hold nor a lost hold.
type NoAnswer struct{ Text string }

func (e *NoAnswer) Error() string { return e.Text }

// Report prints an error as one line and a hint, and returns the exit code.
func Report(t Terminal, err error) int {
	if err == nil {
		return ExitYes
	}
	var own *ExitStatus
	if errors.As(err, &own) {
		return own.Code
	}
	for _, line := range Problems(err) {
		fmt.Fprintf(t.Err, "label-state: %s\n", OneLine(line))
	}
	fmt.Fprintf(t.Err, "hint: %s\n", OneLine(t.HintFor(err)))
	return ExitCode(err)
}

// Problems is one line, but for a configuration: a line for each of its problems.
func Problems(err error) []string {
	var conf *config.Error
	if errors.As(err, &conf) {
		return strings.Split(err.Error(), "\n")
	}
	return []string{strings.ReplaceAll(err.Error(), "\n", "; ")}
}

// OneLine makes text from anywhere printable in one line of a terminal: no control characters, no escapes.
func OneLine(s string) string { return printable.Line(s) }

// Warnf says something that does not change the answer.
func Warnf(w io.Writer, format string, args ...any) {
	fmt.Fprintf(w, "label-state: warning: %s\n", OneLine(fmt.Sprintf(format, args...)))
}

// interrupted reports whether a person or --timeout ended it.
func interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
