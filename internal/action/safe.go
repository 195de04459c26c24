package action

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain makes other people's text fit for one line of a workflow log: no control characters,
// and nothing the runner would take for a command ("::cmd" at the start of a line, "##[cmd]" anywhere).
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' || r == '\r' {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	s = strings.ReplaceAll(s, "##[", "##\u200b[")
	if strings.HasPrefix(strings.TrimSpace(s), "::") {
		s = strings.Replace(s, "::", ":\u200b:", 1)
	}
	return s
}

// clip cuts s to at most n characters, saying so.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// markdown makes text stand for itself in a table cell: nothing in it can be markup, a mention,
// a reference, HTML, or the end of the cell.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range clip(plain(s), 300) {
		switch {
		case r == '@' || r == '#':
			b.WriteRune(r)
			b.WriteRune('\u200b')
		case strings.ContainsRune("\\`*_{}[]()<>!|~&$:", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// link is a Markdown link whose target comes from GitHub's answer; anything but a plain web
// address becomes text.
func link(text, url string) string {
	ok := strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
	if !ok || strings.ContainsAny(url, " ()<>\"'\\|`\n\r\t") {
		return markdown(text)
	}
	return "[" + markdown(text) + "](" + url + ")"
}
