package app

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Cells of a picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 19
	margin     = 14
)

// An appearance is how text is drawn: colours as SVG has them, empty for the terminal's own.
type appearance struct {
	ink, paper    string
	bold, reverse bool
}

// picture draws a screen with its escapes as SVG: a dark window, text as text.
func picture(styled string, width int) string {
	lines := strings.Split(strings.TrimRight(styled, "\n"), "\n")
	w, h := float64(width)*cellWidth+2*margin, len(lines)*cellHeight+2*margin
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" font-family="ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">`+"\n", w, h, w, h)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="#0d1117"/>`+"\n")
	var now appearance
	for n, line := range lines {
		now = drawLine(&b, line, margin+n*cellHeight, now)
	}

	b.WriteString("</svg>\n")
	return b.String()
}

// drawLine draws one line whose cells begin at top, and returns how the next one begins.
func drawLine(b *strings.Builder, line string, top int, now appearance) appearance {
	column := 0
	for line != "" {
		if strings.HasPrefix(line, "\x1b[") {
			end := strings.IndexFunc(line[2:], func(r rune) bool { return r >= '@' && r <= '~' }) + 2
			if end >= 2 && line[end] == 'm' {
				now = now.after(strings.Split(line[2:end], ";"))
			}
			line = line[end+1:]
			continue
		}

		text, rest := line, ""
		if i := strings.IndexByte(line, 0x1b); i >= 0 {
			text, rest = line[:i], line[i:]
		}

		now.text(b, text, column, top)
		column += ansi.StringWidth(text)
		line = rest
	}

	return now
}

func (a appearance) text(b *strings.Builder, text string, column, top int) {
	ink, paper := a.ink, a.paper
	if ink == "" {
		ink = "#e6edf3"
	}

	if a.reverse {
		ink, paper = "#0d1117", ink
	}
	x, wide := margin+float64(column)*cellWidth, float64(ansi.StringWidth(text))*cellWidth
	if paper != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`, x, top, wide, cellHeight, paper)
	}

	if strings.TrimSpace(text) == "" {
		return
	}
	weight := ""
	if a.bold {
		weight = ` font-weight="bold"`
	}

	fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="%s"%s textLength="%.1f" lengthAdjust="spacingAndGlyphs" xml:space="preserve">`, x, top+14, ink, weight, wide)
	_ = xml.EscapeText(b, []byte(text)) // a Builder takes everything
	b.WriteString("</text>\n")
}

// after is the appearance after an SGR sequence.
func (a appearance) after(codes []string) appearance {
	for i := 0; i < len(codes); i++ {
		n, _ := strconv.Atoi(codes[i]) // an empty one is 0
		switch {
		case n == 0:
			a = appearance{}
		case n == 1:
			a.bold = true
		case n == 22:
			a.bold = false
		case n == 7, n == 27:
			a.reverse = n == 7
		case n == 39:
			a.ink = ""
		case n == 49:
			a.paper = ""
		case n >= 30 && n <= 37:
			a.ink = sixteen[n-30]
		case n >= 90 && n <= 97:
			a.ink = sixteen[n-90+8]
		case n == 38 && i+2 < len(codes):
			a.ink = indexed(codes[i+2])
			i += 2

		case n == 48 && i+2 < len(codes):
			a.paper = indexed(codes[i+2])
			i += 2
		}
	}

	return a
}

// indexed is one of the 256 colours that tmux has: sixteen, a cube, greys.
func indexed(code string) string {
	n, _ := strconv.Atoi(code)
	switch {
	case n < 16:
		return sixteen[n]
	case n >= 232:
		grey := 8 + 10*(n-232)
		return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
	}

	level := [...]int{0, 95, 135, 175, 215, 255}
	n -= 16
	return fmt.Sprintf("#%02x%02x%02x", level[n/36], level[n/6%6], level[n%6])
}

var sixteen = [...]string{
	"#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
	"#6e7681", "#ffa198", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#ffffff",
}
