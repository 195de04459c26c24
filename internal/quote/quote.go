// Package quote shows other people's text as text in Markdown: nothing in it can become markup, a
// mention, or the end of what it stands in.
package quote

import (
	"strings"

	"github.com/label-state/label-state/internal/printable"
)

// Fence puts text into a code block that it cannot end: the fence is longer than any run of the
// same character in it (CommonMark, "Fenced code blocks"). Language names how it is coloured.
func Fence(language, text string) string {
	text = printable.Lines(text)
	longest, run := 2, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}

	bar := strings.Repeat("`", longest+1)
	return bar + language + "\n" + strings.TrimRight(text, "\n") + "\n" + bar + "\n"
}

// Code is text as one line of code, of at most most characters; backquotes become apostrophes.
func Code(text string, most int) string {
	text = printable.Short(text, most)
	if text == "" {
		return "` `"
	}
	return "`" + strings.ReplaceAll(text, "`", "'") + "`"
}
