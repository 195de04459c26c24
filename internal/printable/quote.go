package printable

import (
	"strings"
)

// Fence puts text into a code block that it cannot end: the fence is longer than any run of the
// same character in it (CommonMark, "Fenced code blocks"). Language names how it is coloured.
func Fence(language, text string) string {
	text = Lines(text)
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
	text = Short(text, most)
	if text == "" {
		return "` `"
	}
	return "`" + strings.ReplaceAll(text, "`", "'") + "`"
}

// Footer is the last line of every comment of ours.
const Footer = "\n\n<sub>label-state keeps two workers from doing the same issue. " +
	"[What you can do](https://github.com/label-state/label-state/blob/main/docs/people.md)</sub>"
