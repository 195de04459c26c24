package closing

import "strings"

// WithoutCode returns markdown, as long as it was and with the same line ends, but with a byte
// that is neither word nor blank in place of every other byte of code and of HTML comments.
func WithoutCode(markdown string) string {
	b := blocks{text: markdown, out: []byte(markdown)}
	for from, end := 0, 0; from < len(markdown); from = end {
		end = len(markdown)
		if length := strings.IndexAny(markdown[from:], "\r\n"); length >= 0 {
			end = from + length
		}

		b.line(line{text: markdown[:end], at: from})
		if strings.HasPrefix(markdown[end:], "\r\n") {
			end++
		}

		end++
	}

	b.endParagraph()
	return string(b.out)
}

// blank takes bytes out of the text, except line ends.
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

	runs, open := map[int][]int{}, true // where the runs of backticks of each length begin, in order
	for at := strings.IndexByte(text, '`'); at >= 0 && at < len(text); {
		n := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if n > 0 {
			runs[n] = append(runs[n], at)
		} else if n = strings.IndexByte(text[at:], '`'); n < 0 {
			break
		}

		at += n
	}

	for at := 0; at < len(text); {
		end := at + 1
		switch {
		case text[at] == '\\':
			end++
		case text[at] == '`':
			length := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
			end = at + length
			for len(runs[length]) > 0 && runs[length][0] < end {
				runs[length] = runs[length][1:] // no later run of backticks asks for it
			}

			if len(runs[length]) > 0 {
				end = runs[length][0] + length
				b.blank(from+at, from+end)
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
