package printable

import (
	"fmt"
	"strings"
	"time"
)

// Span prints a length of time in one short unit or two: 45s, 12m, 3h20m, 5d4h.
func Span(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	}

	n, unit, rest, small := d/time.Hour, "h", d%time.Hour/time.Minute, "m"
	if d >= 24*time.Hour {
		n, unit, rest, small = d/(24*time.Hour), "d", d%(24*time.Hour)/time.Hour, "h"
	}

	if rest == 0 || n >= 10 {
		return fmt.Sprintf("%d%s", n, unit)
	}

	return fmt.Sprintf("%d%s%d%s", n, unit, rest, small)
}

// Exact prints a length of time without units that are zero: 4h, 30m, 1m30s.
func Exact(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}

	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}

	return s
}

// Count prints a number with the word for one or for many: 1 hold, 2 holds.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Minute prints a moment to the minute, in UTC: 2026-05-01 19:42 UTC.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// eighths are the parts of a character cell, filled from the left.
var eighths = [...]string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}

// Bar draws part, 0 to 1, of a bar that is width cells long: what is filled, and the rest.
func Bar(part float64, width int) (full, rest string) {
	n := int(min(max(part, 0), 1)*float64(width*8) + 0.5)
	full = strings.Repeat("█", n/8) + eighths[n%8]
	return full, strings.Repeat("░", width-(n+7)/8)
}
