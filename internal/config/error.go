package config

import (
	"fmt"
	"slices"
	"strings"
)

// An Error is a configuration that cannot be used. It is the first problem of the file; More has
// the others, in the order of the file.
type Error struct {
	File    string
	Line    int    // from 1; 0 when the problem has no line
	Path    string // of the key: claim.ttl; empty for the file as a whole
	Problem string // what is there
	Allowed string // what may be there; may be empty
	// Everybodys: the key may be in no caller's file, unless that says what the repository says.
	Everybodys bool
	// Named: File is the path by which the caller named it.
	Named bool
	// Unreadable: File is a path on this machine, and the system did not let it be read.
	Unreadable bool
	More       []*Error
}

// shown is how many problems Error prints; nobody reads more at once.
const shown = 20

// Error returns one line for each problem.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.First())
	for i, m := range e.More {
		if i == shown-1 {
			fmt.Fprintf(&b, "\n%s: and %d more problems", e.File, len(e.More)-i)
			break
		}
		b.WriteString("\n" + m.First())
	}

	return b.String()
}

// Brief returns one line: the first problem, and how many more there are.
func (e *Error) Brief() string {
	text := e.First() + "; read without it"
	if n := len(e.More); n > 0 {
		text += fmt.Sprintf(", and without %d more", n)
	}
	return text
}

// First returns the first problem alone, in one line.
func (e *Error) First() string {
	text := e.File
	if e.Line > 0 {
		text += fmt.Sprintf(":%d", e.Line)
	}

	if e.Path != "" {
		text += ": " + e.Path
	}
	text += ": " + e.Problem
	if e.Allowed != "" {
		text += "; allowed: " + e.Allowed
	}

	return text
}

// Same reports whether two files have the same problems in the same places.
func (e *Error) Same(other *Error) bool {
	return e.Line == other.Line && e.Path == other.Path && e.Problem == other.Problem &&
		e.Allowed == other.Allowed && slices.EqualFunc(e.More, other.More, (*Error).Same)
}

// quote makes somebody else's text safe to print, and short.
func quote(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
