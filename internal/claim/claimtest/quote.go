package claimtest

import (
	"fmt"
	"strconv"
	"strings"
)

// Unquote reads a quoted string of the vectors.
func Unquote(s string) (string, error) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return "", fmt.Errorf("string %q: want it in double quotes", s)
	}
	rest := s[1 : len(s)-1]
	var b strings.Builder
	for rest != "" {
		text, after, err := next(rest)
		if err != nil {
			return "", fmt.Errorf("string %q: %w", s, err)
		}
		b.WriteString(text)
		rest = after
	}

	return b.String(), nil
}

// next reads one character or escape.
func next(s string) (text, rest string, err error) {
	if s[0] != '\\' {
		return s[:1], s[1:], nil
	}
	if len(s) < 2 {
		return "", "", fmt.Errorf("a backslash at the end")
	}

	switch s[1] {
	case '{': // N:TEXT}
		inside, rest, closed := strings.Cut(s[2:], "}")
		count, text, found := strings.Cut(inside, ":")
		n, err := strconv.Atoi(count)
		if !closed || !found || err != nil || n < 0 || n > 1<<24 {
			return "", "", fmt.Errorf(`want \{N:TEXT}`)
		}

		return strings.Repeat(text, n), rest, nil

	case 'x':
		if len(s) < 4 {
			return "", "", fmt.Errorf(`\x without two digits`)
		}
		n, err := strconv.ParseUint(s[2:4], 16, 8)
		return string([]byte{byte(n)}), s[4:], err
	}

	i := strings.IndexByte(`nrt\"`, s[1])
	if i < 0 {
		return "", "", fmt.Errorf(`unknown escape \%c`, s[1])
	}

	return "\n\r\t\\\""[i : i+1], s[2:], nil
}

// Quote writes a string so that Unquote reads it, in printable ASCII.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02X`, c)
		default:
			b.WriteByte(c)
		}
	}

	b.WriteByte('"')
	return b.String()
}
