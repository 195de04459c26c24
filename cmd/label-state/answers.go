package main

import (
	"errors"
	"slices"
)

// The exit codes of every command (PRODUCT ruling 1).
const (
	exitYes     = 0
	exitNo      = 1 // held, refused, lost
	exitCalled  = 2 // called wrongly, or a bad configuration
	exitUnknown = 3 // offline, rate limited, no permission: could not find out
	exitNoWork  = 4 // nothing to do, nothing started (PRODUCT ruling 18)
)

// An answer knows one kind of error: how it counts, and the next command for a tired person, which may be
// empty. Of any other error it says that it is not of its kind.
type answer func(err error) (code int, hint string, is bool)

// answers are those of every feature. The first of an error's kind that has a hint gives it; what they say
// of its code never mixes: whoever called wrongly is told so, a no is a no, and all else could not be
// found out.
func answers() []answer {
	return slices.Concat(chainAnswers(), calledAnswers(), undertakingAnswers(), noAnswers(), hookAnswers(), planAnswers(), migrateAnswers(),
		pushAnswers(), storeAnswers(), reachAnswers(), hereAnswers(), lastAnswers())
}

// on answers errors of the type E.
func on[E error](code int, hint func(e E, at failure) string) answer {
	return func(err error) (int, string, bool) {
		e, is := errors.AsType[E](err)
		if !is {
			return exitUnknown, "", false
		}
		var at failure
		if f, named := errors.AsType[*failure](err); named {
			at = *f
		}
		return code, hint(e, at), true
	}
}

// says is one hint for all errors of a type.
func says[E error](hint string) func(E, failure) string {
	return func(E, failure) string { return hint }
}

// help leads to the help of the command that failed.
func help[E error](_ E, at failure) string {
	if at.doing == "" {
		return ""
	}
	return "label-state " + at.doing + " --help"
}

// exitCode sorts errors into no, called wrongly and could not find out; they never mix.
func exitCode(err error) int {
	if err == nil {
		return exitYes
	}
	found := map[int]bool{}
	for _, ask := range answers() {
		code, _, is := ask(err)
		found[code] = found[code] || is
	}
	for _, code := range []int{exitCalled, exitNoWork, exitNo} {
		if found[code] {
			return code
		}
	}
	return exitUnknown
}

// hintFor gives a tired person the next command.
func hintFor(err error) string {
	if hint := hintGiven(err); hint != "" {
		return hint
	}
	for _, ask := range answers() {
		if _, hint, is := ask(err); is && hint != "" {
			return hint
		}
	}
	return ""
}

// hintGiven is the hint of the innermost failure that has one: it knows best.
func hintGiven(err error) (hint string) {
	var f *failure
	for errors.As(err, &f) {
		if f.hint != "" {
			hint = f.hint
		}
		err = f.err
	}
	return hint
}
