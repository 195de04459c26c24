package closing

import "strings"

// maxDepth bounds the containers that are told apart, and so the work per line; deeper marks are
// text.
const maxDepth = 32

// quote is the width of a block quote; a list item's is that of its marker and indent, never 0.
const quote = 0

type leaf int

const (
	noLeaf leaf = iota
	paragraph
	fenced
	comment
)

// blocks is CommonMark's block structure, as far as it decides what is code.
type blocks struct {
	text string
	out  []byte // text with code blanked
	open []int  // widths of the containers that are open, outermost first
	leaf leaf   // what is open in the innermost of them
	bare bool   // the innermost is a list item of which only the mark has been seen

	fence      fence // of an open fenced leaf
	start, end int   // of an open paragraph
}

// line takes the next line of the text.
func (b *blocks) line(l line) {
	depth := 0 // how many of the open containers the line continues
	for depth < len(b.open) && b.continues(&l, depth) {
		depth++
	}

	b.bare = b.bare && depth == len(b.open) && l.isBlank()
	if depth < len(b.open) && b.leaf != paragraph {
		b.close(depth)
	}

	switch b.leaf {
	case fenced:
		rest, ok := l.unindented()
		mark := strings.TrimRight(rest.text[rest.at:], " \t")
		if ok && len(mark) >= b.fence.length && strings.Trim(mark, string(b.fence.char)) == "" {
			b.leaf = noLeaf
		}
		b.blank(l.at, len(l.text))
	case comment:
		b.inComment(l, l.at)
	default:
		b.begin(l, depth)
	}
}

// continues goes past the mark of an open container, if the line has it. An empty line continues a
// list item, unless it is the second one at its start.
func (b *blocks) continues(l *line, depth int) bool {
	switch width := b.open[depth]; {
	case width == quote:
		return l.cutQuote()
	case l.indent() >= width:
		l.skip(width)
		return true
	}

	return l.isBlank() && !(b.bare && depth == len(b.open)-1)
}

// begin opens the containers and the leaf that l begins, depth containers being continued. A line
// that begins nothing goes on with the open paragraph, even past the end of its containers.
func (b *blocks) begin(l line, depth int) {
	for depth < maxDepth {
		width := quote
		if !l.cutQuote() {
			inParagraph := b.leaf == paragraph && depth == len(b.open)
			rest, item, ok := l.item()
			if !ok || l.isRule() || inParagraph && (l.isUnderline() || !item.interrupts) {
				break
			}
			l, width = rest, item.width
		}

		b.close(depth)
		b.open = append(b.open, width)
		depth++
		b.bare = width != quote && l.isBlank()
	}

	switch {
	case l.isBlank():
		b.close(depth)
	case b.leaf == paragraph && depth == len(b.open) && l.isUnderline():
		b.endParagraph()
	case b.beginLeaf(l, depth):
	case b.leaf == paragraph:
		b.end = len(l.text)
	default:
		b.close(depth)
		b.leaf, b.start, b.end = paragraph, l.at, len(l.text)
	}
}

// beginLeaf reports whether l was, or began, something else than a paragraph.
func (b *blocks) beginLeaf(l line, depth int) bool {
	if l.indent() >= 4 {
		if b.leaf == paragraph {
			return false
		}
		b.close(depth)
		b.blank(l.at, len(l.text))
		return true
	}

	l.skip(l.indent())
	text, char := l.text[l.at:], l.peek()
	info := strings.TrimLeft(text, string(char))
	mark := fence{char, len(text) - len(info)}
	title := strings.TrimLeft(text, "#")
	level := len(text) - len(title)
	switch {
	case mark.length >= 3 && (char == '~' || char == '`' && !strings.Contains(info, "`")):
		b.close(depth)
		b.leaf, b.fence = fenced, mark
		b.blank(l.at, len(l.text))

	case strings.HasPrefix(text, "<!--"):
		b.close(depth)
		b.leaf = comment
		b.inComment(l, l.at+len("<!"))

	case level >= 1 && level <= 6 && (title == "" || title[0] == ' ' || title[0] == '\t'): // a heading
		b.close(depth)
		b.inline(l.at, len(l.text))
	case l.isRule():
		b.close(depth)
	default:
		return false
	}

	return true
}

// inComment blanks l up to the end of the open comment, if that comes at or after from; what
// follows on the line is text.
func (b *blocks) inComment(l line, from int) {
	end, ok := commentEnd(l.text, from)
	if !ok {
		b.blank(l.at, len(l.text))
		return
	}

	b.leaf = noLeaf
	b.blank(l.at, end)
	b.inline(end, len(l.text))
}

// close ends the open leaf and the containers from depth on.
func (b *blocks) close(depth int) {
	b.endParagraph()
	b.leaf = noLeaf
	b.open = b.open[:depth]
}

// endParagraph ends the open leaf if that is a paragraph, and blanks the code in it.
func (b *blocks) endParagraph() {
	if b.leaf == paragraph {
		b.inline(b.start, b.end)
		b.leaf = noLeaf
	}
}
