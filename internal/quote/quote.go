// Package quote shows other people's text as text: nothing in it can become markup, a mention, an
// escape of a terminal, or the end of what it stands in.
package quote

import (
	"strings"
	"unicode"
)

// Fence puts text into a code block that it cannot end: the fence is longer than any run of the same
// character in it (CommonMark, "Fenced code blocks"). Language names how it is coloured.
func Fence(language, text string) string {
	text = Printable(text)
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

// Code is text as one line of code, of at most n characters; backquotes become apostrophes.
func Code(text string, n int) string {
	text = strings.Join(strings.Fields(Printable(text)), " ")
	if r := []rune(text); len(r) > n {
		text = string(r[:n-1]) + "…"
	}
	if text == "" {
		return "` `"
	}
	return "`" + strings.ReplaceAll(text, "`", "'") + "`"
}

// Printable keeps lines and tabs and drops what a terminal or a reader could trip over: control
// characters, escapes, invisible and direction-changing ones.
func Printable(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(text, "\ufffd"))
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, text)
}

// Line makes text one line of at most n bytes and an ellipsis.
func Line(text string, n int) string {
	return Clip(strings.Join(strings.Fields(Printable(Clip(text, 4*n))), " "), n)
}

// Clip cuts text at a character's end so that at most n bytes, and an ellipsis, are left.
func Clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "…"
}
