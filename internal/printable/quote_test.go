package printable_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/label-state/label-state/internal/printable"
)

func anything(t *rapid.T) string {
	return rapid.OneOf(rapid.String(),
		rapid.StringOf(rapid.RuneFrom([]rune("`\n\r\t ~<!->@\x1b\u202e")))).Draw(t, "text")
}

// TestFence: whatever the text, its block has one beginning and one end, and they are ours.
func TestFence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := strings.Split(strings.TrimSuffix(printable.Fence("text", anything(t)), "\n"), "\n")
		bar := lines[len(lines)-1]
		if lines[0] != bar+"text" || strings.Trim(bar, "`") != "" || len(bar) < 3 {
			t.Fatalf("fences %q and %q", lines[0], bar)
		}

		for _, l := range lines[1 : len(lines)-1] {
			if strings.Contains(l, bar) {
				t.Fatalf("%q ends the block of %q", l, bar)
			}
			if strings.ContainsFunc(l, func(r rune) bool { return r != '\t' && !unicode.IsPrint(r) }) {
				t.Fatalf("%q is not printable", l)
			}
		}
	})
}

// TestCode: one line between two backquotes, no longer than asked for.
func TestCode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		got := printable.Code(anything(t), 20)
		inside := strings.TrimSuffix(strings.TrimPrefix(got, "`"), "`")
		if len(got) < 3 || got != "`"+inside+"`" || strings.ContainsAny(inside, "`\n\r\t") || len([]rune(inside)) > 20 {
			t.Fatalf("code %q", got)
		}
	})
}

// TestShellWord: what a shell would take for its own is in quotes, and nothing else is.
func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"":            "''",
		"acme/app#7":  "acme/app#7",
		"#7":          "'#7'",
		"…":           "…",
		"it's":        `'it'\''s'`,
		"a b":         "'a b'",
		"$HOME":       "'$HOME'",
		"~":           "'~'",
		"x=1,y:2@3+%": "x=1,y:2@3+%",
	} {
		if got := printable.ShellWord(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
