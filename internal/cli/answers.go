package cli

import (
	"errors"
	"slices"
)

// The exit codes of every command (cli.md#exit-codes).
const (
	ExitYes     = 0
	ExitNo      = 1 // held, refused, lost
	ExitCalled  = 2 // called wrongly, or a bad configuration
	ExitUnknown = 3 // offline, rate limited, no permission: could not find out
	ExitNoWork  = 4 // nothing to do, nothing started (cli.md#exit-codes)
)

// An answer knows one kind of error: how it counts, and the next command for a tired person, which may be
// empty. Of any other error it says that it is not of its kind.
type answer func(err error) (code int, hint string, is bool)

// answers are those of every feature. The first of an error's kind that has a hint gives it; what they say
// of its code never mixes: whoever called wrongly is told so, a no is a no, and all else could not be
// found out.
var answers = slices.Concat(chainAnswers, calledAnswers, undertakingAnswers, noAnswers, pushAnswers, reachAnswers, hereAnswers)

// on answers errors of the type E.
func on[E error](code int, hint func(e E, at Failure) string) answer {
	return func(err error) (int, string, bool) {
		e, is := errors.AsType[E](err)
		if !is {
			return ExitUnknown, "", false
		}
		var at Failure
		if f, named := errors.AsType[*Failure](err); named {
			at = *f
		}
		return code, hint(e, at), true
	}
}

// says is one hint for all errors of a type.
func says[E error](hint string) func(E, Failure) string {
	return func(E, Failure) string { return hint }
}

// help leads to the help of the command that failed.
func help[E error](_ E, at Failure) string {
	if at.Doing == "" {
		return ""
	}
	return "label-state " + at.Doing + " --help"
}

// ExitCode sorts errors into no, called wrongly and could not find out; they never mix.
func ExitCode(err error) int {
	if err == nil {
		return ExitYes
	}
	found := map[int]bool{}
	for _, ask := range answers {
		code, _, is := ask(err)
		found[code] = found[code] || is
	}
	for _, code := range []int{ExitCalled, ExitNoWork, ExitNo} {
		if found[code] {
			return code
		}
	}
	return ExitUnknown
}

// HintFor gives a tired person the next command.
func HintFor(err error) string {
	given := ""
	var f *Failure
	for inner := err; errors.As(inner, &f); inner = f.Err {
		if f.Hint != "" {
			given = f.Hint // the innermost failure knows best
		}
	}
	if given != "" {
		return given
	}
	for _, ask := range answers {
		if _, hint, is := ask(err); is && hint != "" {
			return hint
		}
	}
	return ""
}
