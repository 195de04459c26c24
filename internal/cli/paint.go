package cli

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/label-state/label-state/internal/lifecycle"
)

// Colours by the numbers of the sixteen that every terminal has and its owner has chosen; light and dark is theirs to know.
const (
	InkBold   = "1"
	inkFaint  = "2"
	InkGreen  = "32"
	InkYellow = "33"
	InkCyan   = "36"
	InkAlarm  = "1;31"
)

// Paint colours a text on a terminal that may be coloured. What it says, it says without colours as well.
func (c *Call) Paint(ink, text string) string {
	if text == "" || c.Flags.Bool("no-color") || !c.Terminal.Env.Color(c.Terminal.Out) {
		return text
	}
	return "\x1b[" + ink + "m" + text + "\x1b[0m"
}

// Headed paints the first line, an issue with its title, and the second, what it comes to.
func Headed(c *Call, text string, answer lifecycle.Answer) string {
	title, rest, _ := strings.Cut(text, "\n")
	verdict, facts, _ := strings.Cut(rest, "\n")
	ink := map[lifecycle.Answer]string{lifecycle.Free: InkGreen, lifecycle.Held: InkYellow}[answer]
	if ink == "" {
		ink = InkAlarm
	}
	return c.Paint(InkBold, title) + "\n" + c.Paint(ink, verdict) + "\n" + facts
}

// charts finds the filled part of a bar, the rest of one, and a heading.
var charts = regexp.MustCompile(`(?m)[▏▎▍▌▋▊▉█▁▂▃▄▅▆▇]+|░+|^[A-Z][A-Z0-9 ]+\b`)

// Charted paints the bars and the headings of figures.
func Charted(c *Call, text string) string {
	return charts.ReplaceAllStringFunc(text, func(part string) string {
		switch {
		case part[0] < utf8.RuneSelf:
			return c.Paint(InkBold, part)
		case strings.HasPrefix(part, "░"):
			return c.Paint(inkFaint, part)
		}
		return c.Paint(InkCyan, part)
	})
}

// Dated paints the moment with which a line of a log begins.
func Dated(c *Call, line string) string {
	at, rest, _ := strings.Cut(line, " ")
	return c.Paint(inkFaint, at) + " " + rest
}
