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

// ShellWord is text as one word of a shell's, in quotes where it needs them. A # begins a comment
// only at the start of a word.
func ShellWord(text string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./#-…"
	if text == "" || text[0] == '#' || strings.Trim(text, plain) != "" {
		return ShellQuote(text)
	}
	return text
}

// ShellQuote is text as one word of a shell's, in quotes.
func ShellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Footer is the last line of every comment of ours.
const Footer = "\n\n<sub>label-state keeps two workers from doing the same issue. " +
	"[What you can do](https://github.com/label-state/label-state/blob/main/docs/people.md)</sub>"
