package cli

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/config"
)

// Report prints an error as one line and a hint, and returns the exit code.
func Report(t Terminal, err error) int {
	if err == nil {
		return answer.ExitYes
	}
	var own *ExitStatus
	if errors.As(err, &own) {
		return own.Code
	}

	lines := Lines(err)
	if n := len(lines) - shownLines; n > 1 { // the hint says how to see all
		lines = append(lines[:shownLines], fmt.Sprintf("and %d more problems", n))
	}

	for _, line := range lines {
		fmt.Fprintf(t.Err, "label-state: %s\n", OneLine(line))
	}
	fmt.Fprintf(t.Err, "hint: %s\n", OneLine(t.Hint(err)))

	return ExitCode(err)
}

// shownLines are as many problems of a configuration as a person reads before the first is
// corrected.
const shownLines = 2

// Lines is an error in one line, but for a configuration: a line for each of its problems.
func Lines(err error) []string {
	var conf *config.Error
	if errors.As(err, &conf) {
		return strings.Split(err.Error(), "\n")
	}
	return []string{strings.ReplaceAll(err.Error(), "\n", "; ")}
}

// SameConfiguration reports whether two errors are what is wrong with one configuration.
func SameConfiguration(a, b error) bool {
	one, is := errors.AsType[*config.Error](a)
	other, too := errors.AsType[*config.Error](b)
	return is && too && one.File == other.File && one.Same(other)
}

// Warnf prints a warning, which does not change the answer, and adds it to the warnings of the next
// one.
func (t Terminal) Warnf(format string, args ...any) {
	text := OneLine(fmt.Sprintf(format, args...))
	fmt.Fprintf(t.Err, "label-state: warning: %s\n", text)
	t.warnings.add(text)
}

// warnings are what was said since the last answer that could tell it.
type warnings struct {
	mu   sync.Mutex
	said []string
}

func (w *warnings) add(text string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

// take empties the list.
func (w *warnings) take() []string {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.said
	w.said = nil

	return said
}

// Warned is an answer that has a place for what was warned of on the way.
type Warned interface{ warn(warnings []string) }

// WithWarnings is that place in a view, which embeds it and is answered by its address.
type WithWarnings struct {
	Warnings []string `json:"warnings,omitempty"` // what does not change the answer
}

func (w *WithWarnings) warn(warnings []string) { w.Warnings = append(w.Warnings, warnings...) }

// warned is an answer with what was warned of, if it has a place for that.
func (t Terminal) warned(v any) any {
	switch v := v.(type) {
	case answer.Answer:
		v.Warnings = append(v.Warnings, t.warnings.take()...)
		return v
	case Warned:
		v.warn(t.warnings.take())
	}

	return v
}
