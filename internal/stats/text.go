package stats

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// barCells is how long the longest bar of a text is.
const barCells = 20

// Text is the figures for people, in at most 80 columns.
func (f Figures) Text(name string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %s to %s: %s with something in the log\n", printable.Line(name), date(f.From), date(f.To), plural(f.Issues, "issue", "issues"))
	b.WriteString(f.ends() + f.compared() + f.merges() + f.states() + f.days() + f.workers())
	return b.String()
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02") }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// share is a bar of n in whole, of spaces where there is nothing to compare.
func share(n, whole int) string {
	if whole == 0 {
		return strings.Repeat(" ", barCells)
	}
	full, rest := printable.Bar(float64(n)/float64(whole), barCells)
	return full + rest
}

// A figure is a total with its name and what it means.
type figure struct {
	name string
	n    int
	note string
}

// ended are the ways in which holds ended.
func (t Totals) ended() []figure {
	return []figure{
		{"delivered", t.Delivered, "a pull request, or it was done already"},
		{"failed", t.Failed, "by the worker's own word"},
		{"expired", t.Expired, "no heartbeat"},
		{"forced", t.Forced, "ended by somebody else"},
		{"returned", t.Returned, "cancelled, rate limits, plans"},
	}
}

func (t Totals) ends() (n int) {
	for _, e := range t.ended() {
		n += e.n
	}
	return n
}

func (f Figures) ends() string {
	all := f.Totals.ends()
	text := fmt.Sprintf("\n%s begun, %d ended, %s yielded, %s merged\n", plural(f.Totals.Holds, "hold", "holds"), all,
		plural(f.Totals.Yielded, "race", "races"), plural(f.Totals.Merged, "pull request", "pull requests"))
	if all == 0 {
		return text
	}
	for _, e := range f.Totals.ended() {
		text += fmt.Sprintf("  %-10s %4d  %s  %s\n", e.name, e.n, share(e.n, all), e.note)
	}
	return text
}

// compared are the totals beside those of as much time before.
func (f Figures) compared() string {
	if f.Before == nil {
		return ""
	}
	now, then := f.Totals, f.Before.Totals
	text := fmt.Sprintf("\n%-17s %7s %7s\n", "COMPARED", "NOW", "BEFORE")
	for _, row := range []struct {
		name      string
		now, then int
		note      string
	}{
		{"holds begun", now.Holds, then.Holds, ""},
		{"delivered", now.Delivered, then.Delivered, ""},
		{"failed, expired", now.Failed + now.Expired, then.Failed + then.Expired, ""},
		{"prevented", now.Yielded, then.Yielded, "claims that lost to an earlier one"},
		{"done twice", now.Twice, then.Twice, "issues with a second pull request"},
		{"merged", now.Merged, then.Merged, "pull requests"},
	} {
		text += strings.TrimRight(fmt.Sprintf("  %-15s %7d %7d  %s", row.name, row.now, row.then, row.note), " ") + "\n"
	}
	return text + fmt.Sprintf("  %-15s %7s %7s  %s\n", "ready to merged", f.median(), f.Before.median(), "median")
}

// median is how long issues took from ready to merged.
func (f Figures) median() string {
	if len(f.Merges) == 0 {
		return "-"
	}
	return printable.Span(f.Merges[0].Median)
}

// merges are the times from ready to merged, by who delivered.
func (f Figures) merges() string {
	if len(f.Merges) == 0 {
		return ""
	}
	text := fmt.Sprintf("\n%-30s %7s %7s %7s\n", "READY TO MERGED", "MERGED", "MEDIAN", "P90")
	for _, m := range f.Merges {
		name := printable.Line(m.Who)
		switch {
		case m.Who == "":
			name = "all"
		case m.Person:
			name = ansi.Truncate(name, 16, "…") + " (a person)"
		}
		name = ansi.Truncate(name, 28, "…")
		text += fmt.Sprintf("  %s%s %7d %7s %7s\n", name, strings.Repeat(" ", 28-ansi.StringWidth(name)), m.Merged, printable.Span(m.Median), printable.Span(m.P90))
	}
	return text
}

// stateName is a state in a person's words.
func stateName(s labels.State) string {
	switch s {
	case labels.Available:
		return "ready again" // after a hold that brought nothing
	case labels.Claimed:
		return "in flight"
	case labels.PlanPending:
		return "plan waits"
	}
	return "pull request"
}

// length is a length of time, or a dash when there were none to take it from.
func length(d time.Duration, of int) string {
	if of == 0 {
		return "-"
	}
	return printable.Span(d)
}

func (f Figures) states() string {
	if len(f.States) == 0 {
		return ""
	}
	longest := time.Duration(1)
	for _, s := range f.States {
		longest = max(longest, s.Median)
	}
	text := fmt.Sprintf("\n%-15s %s  %7s %7s %6s %5s\n", "TIME IN STATE", strings.Repeat(" ", barCells), "MEDIAN", "P90", "ENDED", "NOW")
	for _, s := range f.States {
		text += fmt.Sprintf("  %-13s %s  %7s %7s %6d %5d\n", stateName(s.State), share(int(s.Median/time.Second), int(max(longest/time.Second, 1))),
			length(s.Median, s.Ended), length(s.P90, s.Ended), s.Ended, s.Now)
	}
	return text
}

// levels are the heights of a line of small bars.
var levels = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// line draws a number for each day, as many of the last days as there is room for.
func line(days []Day, of func(Day) int) string {
	const most = 60
	days = days[max(len(days)-most, 0):]
	top := 0
	for _, d := range days {
		top = max(top, of(d))
	}
	var b strings.Builder
	for _, d := range days {
		if n := of(d); n == 0 {
			b.WriteByte(' ')
		} else {
			b.WriteRune(levels[(n*len(levels)+top-1)/top-1])
		}
	}
	return b.String() + fmt.Sprintf("│ %d at most", top)
}

func (f Figures) days() string {
	if f.Totals.Holds+f.Totals.ends() == 0 {
		return ""
	}
	text := "\nA DAY\n"
	for _, row := range []struct {
		name string
		of   func(Day) int
	}{
		{"holds", func(d Day) int { return d.Holds }},
		{"delivered", func(d Day) int { return d.Delivered }},
		{"trouble", func(d Day) int { return d.Troubled }},
	} {
		text += fmt.Sprintf("  %-10s %s\n", row.name, line(f.Days, row.of))
	}
	return text
}

func (f Figures) workers() string {
	if len(f.Workers) == 0 {
		return ""
	}
	text := fmt.Sprintf("\n%-18s %6s %9s %6s %6s %6s %7s %7s\n", "WORKER", "HOLDS", "DELIVERED", "FAILED", "EXPIRED", "FORCED", "YIELDED", "MEDIAN")
	for _, w := range f.Workers {
		name := ansi.Truncate(printable.Line(w.Codename), 16, "…")
		text += fmt.Sprintf("  %s%s %6d %9d %6d %6d %6d %7d %7s\n", name, strings.Repeat(" ", 16-ansi.StringWidth(name)),
			w.Holds, w.Delivered, w.Failed, w.Expired, w.Forced, w.Yielded, length(w.Median, int(w.Median)))
	}
	return text
}
