package printable_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/printable"
)

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"Retry the upload":          "Retry the upload",
		"\x1b[31mred\x1b[0m\a":      "[31mred[0m",
		"two\nlines\tand\ra return": "two lines and a return",
		"\u202eevil\u2066":          "evil",
		"bad \xff byte":             "bad \ufffd byte",
		"größer 漢字":                 "größer 漢字",
	} {
		if got := printable.Line(text); got != want {
			t.Errorf("Line(%q) = %q, want %q", text, got, want)
		}
	}
}

// TestLineIsPrintable: whatever a title, a login or an error holds, a terminal gets one line of text.
func TestLineIsPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		if got := printable.Line(text); strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("Line(%q) = %q", text, got)
		}
	})
}
