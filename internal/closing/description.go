package closing

import "strings"

// withoutCode returns markdown, as long as it was and with the same line ends, but with a byte
// that is neither word nor blank in place of every other byte of code and of HTML comments.
func withoutCode(markdown string) string {
	b := blocks{text: markdown, out: []byte(markdown)}
	for from := 0; from < len(markdown); {
		end, next := lineEnd(markdown, from)
		b.line(line{text: markdown[:end], at: from})
		from = next
	}
	b.endParagraph()
	return string(b.out)
}

// lineEnd returns where the line that begins at from ends, and where the next one begins.
func lineEnd(text string, from int) (end, next int) {
	length := strings.IndexAny(text[from:], "\r\n")
	if length < 0 {
		return len(text), len(text)
	}
	end = from + length
	if strings.HasPrefix(text[end:], "\r\n") {
		return end, end + 2
	}
	return end, end + 1
}

func (b *blocks) blank(from, to int) {
	for i := from; i < to; i++ {
		if b.out[i] != '\n' && b.out[i] != '\r' {
			b.out[i] = 0
		}
	}
}

// inline blanks the code spans and comments of one paragraph or heading. The marks of block quotes
// between its lines may stay: they neither begin nor end anything here.
func (b *blocks) inline(from, to int) {
	text := b.text[from:to]
	if !strings.ContainsAny(text, "`<") {
		return
	}
	runs, open := backticks(text), true
	for at := 0; at < len(text); {
		end := at + 1
		switch {
		case text[at] == '\\':
			end++
		case text[at] == '`':
			end = at + runLength(text[at:])
			if after, ok := runs.next(end, end-at); ok {
				b.blank(from+at, from+after)
				end = after
			}
		case open && strings.HasPrefix(text[at:], "<!--"):
			if after, ok := commentEnd(text, at+len("<!")); ok {
				b.blank(from+at, from+after)
				end = after
			} else {
				open = false // nor will any later comment end
			}
		}
		at = end
	}
}

// commentEnd returns what follows the end of a comment at or after from. A comment may end within
// the dashes of its own beginning: <!--> and <!---> are whole.
func commentEnd(text string, from int) (int, bool) {
	length := strings.Index(text[from:], "-->")
	return from + length + len("-->"), length >= 0
}

// spans holds where the runs of backticks of each length begin, in order.
type spans map[int][]int

func backticks(text string) spans {
	runs := spans{}
	for at := 0; at < len(text); {
		n := runLength(text[at:])
		if n == 0 {
			next := strings.IndexByte(text[at:], '`')
			if next < 0 {
				break
			}
			at += next
			continue
		}
		runs[n] = append(runs[n], at)
		at += n
	}
	return runs
}

// next returns the end of the first run of that length at or after from, and forgets those before:
// it is asked with growing from.
func (s spans) next(from, length int) (end int, ok bool) {
	starts := s[length]
	for len(starts) > 0 && starts[0] < from {
		starts = starts[1:]
	}
	s[length] = starts
	if len(starts) == 0 {
		return 0, false
	}
	return starts[0] + length, true
}

func runLength(text string) int {
	n := 0
	for n < len(text) && text[n] == '`' {
		n++
	}
	return n
}
