package cli

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks the lines of a text that are wider than width cells between words. What goes on
// stands below what the line says, to the right of its label: below the last column that begins in
// the left two thirds; other gaps in a line that is too wide close to one space. A word alone, such
// as a URL, is never broken. A width of 0 or less is one that nobody knows, and breaks nothing.
func Wrap(text string, width int) string {
	if width <= 0 {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		line, end := strings.CutSuffix(line, "\n")
		if ansi.StringWidth(line) > width {
			label := line[:column(line, width*2/3)]
			indent := "\n" + strings.Repeat(" ", ansi.StringWidth(label))
			wrapped, used := label, ansi.StringWidth(label)
			for n, word := range strings.Fields(line[len(label):]) {
				wide := ansi.StringWidth(word)
				switch {
				case n == 0:
				case used+1+wide > width:
					wrapped, used = wrapped+indent, len(indent)-1
				default:
					wrapped, used = wrapped+" ", used+1
				}

				wrapped, used = wrapped+word, used+wide
			}

			line = wrapped
		}

		out.WriteString(line)
		if end {
			out.WriteByte('\n')
		}
	}

	return out.String()
}

// column is the byte at which the last column begins that does so left of most: after two spaces or
// more, or those at the start.
func column(line string, most int) int {
	at := len(line) - len(strings.TrimLeft(line, " "))
	for from := at; ; {
		gap := strings.Index(line[from:], "  ")
		if gap < 0 {
			return at
		}

		rest := line[from+gap:]
		next := from + gap + len(rest) - len(strings.TrimLeft(rest, " "))
		if ansi.StringWidth(line[:next]) > most {
			return at
		}

		at, from = next, next
	}
}
