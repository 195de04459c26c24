// Package printable makes texts, moments, lengths of time and shares fit for one line.
package printable

import (
	"strings"
	"unicode"
)

// Line returns s without control characters, escapes, invisible and direction-changing characters;
// line breaks and tabs become spaces, bytes that are no UTF-8 become U+FFFD.
func Line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
