package main

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/label-state/label-state/internal/lifecycle"
)

// Colours by the numbers of the sixteen that every terminal has and its owner has chosen; light and dark is theirs to know.
const (
	inkBold   = "1"
	inkFaint  = "2"
	inkGreen  = "32"
	inkYellow = "33"
	inkCyan   = "36"
	inkAlarm  = "1;31"
)

// paint colours a text on a terminal that may be coloured. What it says, it says without colours as well.
func (c *call) paint(ink, text string) string {
	if text == "" || c.Bool("no-color") || !c.env.Color(c.out) {
		return text
	}
	return "\x1b[" + ink + "m" + text + "\x1b[0m"
}

// headed paints the first line, an issue with its title, and the second, what it comes to.
func (c *call) headed(text string, answer lifecycle.Answer) string {
	title, rest, _ := strings.Cut(text, "\n")
	verdict, facts, _ := strings.Cut(rest, "\n")
	ink := map[lifecycle.Answer]string{lifecycle.Free: inkGreen, lifecycle.Held: inkYellow}[answer]
	if ink == "" {
		ink = inkAlarm
	}
	return c.paint(inkBold, title) + "\n" + c.paint(ink, verdict) + "\n" + facts
}

// charts finds the filled part of a bar, the rest of one, and a heading.
var charts = regexp.MustCompile(`(?m)[▏▎▍▌▋▊▉█▁▂▃▄▅▆▇]+|░+|^[A-Z][A-Z0-9 ]+\b`)

// charted paints the bars and the headings of figures.
func (c *call) charted(text string) string {
	return charts.ReplaceAllStringFunc(text, func(part string) string {
		switch {
		case part[0] < utf8.RuneSelf:
			return c.paint(inkBold, part)
		case strings.HasPrefix(part, "░"):
			return c.paint(inkFaint, part)
		}
		return c.paint(inkCyan, part)
	})
}

// dated paints the moment with which a line of a log begins.
func (c *call) dated(line string) string {
	at, rest, _ := strings.Cut(line, " ")
	return c.paint(inkFaint, at) + " " + rest
}
