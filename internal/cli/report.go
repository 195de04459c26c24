package cli

import (
	"errors"
	"fmt"
	"strings"

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

// Warnf says something that does not change the answer.
func (t Terminal) Warnf(format string, args ...any) {
	fmt.Fprintf(t.Err, "label-state: warning: %s\n", OneLine(fmt.Sprintf(format, args...)))
}
