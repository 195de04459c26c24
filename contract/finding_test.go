package contract

import (
	"slices"
	"strings"
	"testing"
)

// A finding is one point in which we differ from what GitHub says of itself.
type finding struct{ where, what string }

func (f finding) String() string { return f.where + ": " + f.what }

// An exception is a difference that is meant, because the description is wrong or behind. Where is a part of the place and
// what a part of the difference.
type exception struct{ where, what, reason string }

func (e exception) covers(f finding) bool {
	return strings.Contains(f.where, e.where) && strings.Contains(f.what, e.what)
}

// report fails the test for every finding without an exception, once each.
func report(t *testing.T, findings []finding, exceptions []exception) {
	t.Helper()
	seen := map[finding]bool{}
	for _, f := range findings {
		if !seen[f] && !slices.ContainsFunc(exceptions, func(e exception) bool { return e.covers(f) }) {
			t.Error(f)
		}
		seen[f] = true
	}
}

// reportAll is report for all findings there are: an exception that none of them needs is a failure too.
func reportAll(t *testing.T, findings []finding, exceptions []exception) {
	t.Helper()
	report(t, findings, exceptions)
	for _, e := range exceptions {
		if !slices.ContainsFunc(findings, e.covers) {
			t.Errorf("exception %q %q is not needed any more", e.where, e.what)
		}
	}
}
