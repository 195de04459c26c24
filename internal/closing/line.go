package closing

import "strings"

// A line is what is left of one: text[at:]. It is a value: readers advance a copy.
type line struct {
	text string // the whole text up to the end of this line
	at   int
	col  int // the column of at; within a tab, the columns of it already used are counted
}

// A fence is the mark that opened a block of code.
type fence struct {
	char   byte
	length int
}

// An item is the mark that opens a list item.
type item struct {
	width      int  // columns from the start of the mark's line to the content
	interrupts bool // may follow a paragraph without an empty line between
}

// peek returns the next byte, 0 at the end.
func (l line) peek() byte {
	if l.at >= len(l.text) {
		return 0
	}
	return l.text[l.at]
}

func (l line) isBlank() bool { return strings.Trim(l.text[l.at:], " \t") == "" }

// indent returns the columns of blanks ahead.
func (l line) indent() int {
	from := l.col
	for l.peek() == ' ' || l.peek() == '\t' {
		l.next()
	}
	return l.col - from
}

// next goes past one byte; a tab reaches to the next multiple of four columns.
func (l *line) next() {
	if l.peek() == '\t' {
		l.col += 4 - l.col%4
	} else {
		l.col++
	}
	l.at++
}

// skip goes past that many columns of blanks, if need be into the middle of a tab.
func (l *line) skip(columns int) {
	for to := l.col + columns; l.col < to; {
		if l.peek() == '\t' && l.col+4-l.col%4 > to {
			l.col = to
			return
		}
		l.next()
	}
}

// cutQuote goes past the mark of a block quote.
func (l *line) cutQuote() bool {
	rest, ok := l.unindented()
	if !ok || rest.peek() != '>' {
		return false
	}

	rest.next()
	if rest.peek() == ' ' || rest.peek() == '\t' {
		rest.skip(1)
	}

	*l = rest
	return true
}

// unindented goes past an indent that is too small for code.
func (l line) unindented() (line, bool) {
	n := l.indent()
	if n >= 4 {
		return l, false
	}
	l.skip(n)
	return l, true
}

// item reads the mark of a list item and returns the line after it.
func (l line) item() (line, item, bool) {
	rest, ok := l.unindented()
	if !ok {
		return l, item{}, false
	}

	text, digits, allowed := rest.text[rest.at:], 0, ".)"
	for digits < len(text) && digits <= 9 && isDigit(text[digits]) {
		digits++
	}

	if digits == 0 {
		allowed = "-+*"
	}

	if digits > 9 || digits == len(text) || strings.IndexByte(allowed, text[digits]) < 0 {
		return l, item{}, false
	}
	mark := text[:digits+1]
	for range mark {
		rest.next()
	}

	padding := rest.indent()
	empty := rest.isBlank()
	if padding == 0 && !empty {
		return l, item{}, false
	}

	if empty || padding > 4 {
		padding = 1
	}
	width := rest.col - l.col + padding
	if empty {
		rest.at = len(rest.text)
	} else {
		rest.skip(padding)
	}

	ordinal := strings.TrimLeft(mark[:len(mark)-1], "0")
	return rest, item{width: width, interrupts: !empty && (len(mark) == 1 || ordinal == "1")}, true
}

// isUnderline reports whether l makes a heading of the paragraph before it.
func (l line) isUnderline() bool {
	l, ok := l.unindented()
	mark := strings.TrimRight(l.text[l.at:], " \t")
	return ok && mark != "" && (strings.Trim(mark, "=") == "" || strings.Trim(mark, "-") == "")
}

// isRule reports whether l is a thematic break: three or more of the same *, - or _.
func (l line) isRule() bool {
	l, ok := l.unindented()
	char := l.peek()
	if !ok || char != '*' && char != '-' && char != '_' {
		return false
	}

	text := l.text[l.at:]
	return strings.Trim(text, string(char)+" \t") == "" && strings.Count(text, string(char)) >= 3
}
