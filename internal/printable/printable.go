// Package printable makes other people's texts, moments, lengths of time and shares fit to be
// shown: nothing in them can steer a terminal, turn the direction of writing, or begin a line that
// was not meant to be one.
package printable

import (
	"errors"
	"io/fs"
	"strings"
	"unicode"
)

// Line returns s as one line, character for character: white space becomes blanks, bytes that are
// no UTF-8 become U+FFFD; control characters, escapes, invisible and direction-changing characters
// are left out.
func Line(s string) string { return strings.Map(inLine, strings.ToValidUTF8(s, "\ufffd")) }

// Lines is Line for text that may have several: line breaks and tabs stay.
func Lines(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.ToValidUTF8(s, "\ufffd"))
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return inLine(r)
	}, s)
}

// inLine is what becomes of a character in a line; -1 leaves it out.
func inLine(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsPrint(r):
		return r
	}

	return -1
}

// Short is Line with every run of white space as one blank, none at the ends, and at most most
// characters; when something was cut, the last of them is an ellipsis. It stops reading there,
// however long s is.
func Short(s string, most int) string {
	var line []rune
	blank := false
	for _, r := range s {
		switch r = inLine(r); {
		case r == ' ':
			blank = len(line) > 0
			continue
		case r < 0:
			continue
		case blank:
			line, blank = append(line, ' '), false
		}

		if line = append(line, r); len(line) > most {
			return strings.TrimRight(string(line[:most-1]), " ") + "…"
		}
	}

	return string(line)
}

// Cause is what the system said of a file, without the path that the message around it names
// already; any other error is its own cause.
func Cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Clip cuts s at a character's end so that at most most bytes, and an ellipsis, are left. It drops
// nothing else.
func Clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
