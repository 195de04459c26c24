package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"short\n", 20, "short\n"},
		{"nobody knows how wide it is", 0, "nobody knows how wide it is"},
		{"one two three four\nfive\n", 9, "one two\nthree\nfour\nfive\n"},
		{"  holder  lucius (run l1), login agents\n", 26, "  holder  lucius (run l1),\n          login agents\n"},
		{"warn  labels    missing: a, b, c\n", 32, "warn  labels    missing: a, b, c\n"},
		{"warn  labels    missing: a, b, c\n", 31, "warn  labels    missing: a, b,\n                c\n"},
		{"warn  labels    missing: a, b, c\n", 23, "warn  labels missing:\n      a, b, c\n"}, // the last column begins too far right, and is none
		{"  a column  that begins on the right\n", 17, "  a column that\n  begins on the\n  right\n"},
		{"  issue  http://127.0.0.1/acme/app/issues/1\n", 20, "  issue  http://127.0.0.1/acme/app/issues/1\n"},
		{"  issue  open, http://127.0.0.1/acme\n", 20, "  issue  open,\n         http://127.0.0.1/acme\n"},
		{"\x1b[31mwarn\x1b[0m  漢字 漢字 漢字", 12, "\x1b[31mwarn\x1b[0m  漢字\n      漢字\n      漢字"},
	} {
		if got := Wrap(c.text, c.width); got != c.want {
			t.Errorf("wrap(%q, %d)\n%q, want\n%q", c.text, c.width, got, c.want)
		}
	}
}

// TestWrapKeepsWords: no word is lost, and only one that stands alone, or alone behind its label,
// is too wide.
func TestWrapKeepsWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`( {0,3}[a-z漢:/]{1,12}){0,12}\n?`).Draw(t, "text")
		width := rapid.IntRange(1, 60).Draw(t, "width")
		got := Wrap(text, width)
		if have, want := strings.Join(strings.Fields(got), " "), strings.Join(strings.Fields(text), " "); have != want {
			t.Fatalf("%q became %q", want, have)
		}

		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			before := strings.TrimRight(line[:strings.LastIndex(line, " ")+1], " ")
			if ansi.StringWidth(line) > width && ansi.StringWidth(before) > width*2/3 {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}
