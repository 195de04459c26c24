package stats

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/printable"
)

// barCells is how long the longest bar of a text is.
const barCells = 20

// wide is how many columns a text has that leaves nothing out.
const wide = 80

// Text is the figures for people, in at most 80 columns. For a terminal of fewer, its tables leave
// out notes and columns until they fit 40. A width of 0 is none that is known.
func (f Figures) Text(name string, width int) string {
	t := page{Figures: f, narrow: width > 0 && width < wide}
	return fmt.Sprintf("%s, %s to %s: %s with records\n", printable.Line(name), date(f.From), date(f.To),
		printable.Count(f.Issues, "issue", "issues")) +
		t.ends() + t.compared() + t.merges() + t.states() + t.days() + t.workers()
}

// A page is figures as text.
type page struct {
	Figures
	narrow bool
}

// note is what stands at the end of a line where there is room for it.
func (p page) note(text string) string {
	if p.narrow || text == "" {
		return ""
	}
	return "  " + text
}

func date(t time.Time) string { return t.UTC().Format("2006-01-02") }

// share is a bar of n in whole, which is not 0.
func share(n, whole int) string {
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
		{"delivered", t.Delivered, "a pull request, a stage, done already"},
		{"failed", t.Failed, "the worker said so"},
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

func (p page) ends() string {
	f := p.Figures
	all := f.Totals.ends()
	text := fmt.Sprintf("\n%s begun, %d ended, %s yielded, %s merged\n",
		printable.Count(f.Totals.Holds, "hold", "holds"), all,
		printable.Count(f.Totals.Yielded, "race", "races"), printable.Count(f.Totals.Merged, "pull request",
			"pull requests"))

	if all == 0 {
		return text
	}

	for _, e := range f.Totals.ended() {
		text += fmt.Sprintf("  %-10s %4d  %s%s\n", e.name, e.n, share(e.n, all), p.note(e.note))
	}

	return text
}

// compared are the totals beside those of as much time before.
func (p page) compared() string {
	f := p.Figures
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
		text += fmt.Sprintf("  %-15s %7d %7d%s\n", row.name, row.now, row.then, p.note(row.note))
	}

	return text + fmt.Sprintf("  %-15s %7s %7s%s\n", "ready to merged", f.median(), f.Before.median(), p.note("median"))
}

// median is how long issues took from ready to merged.
func (f Figures) median() string {
	if len(f.Merges) == 0 {
		return "-"
	}
	return f.Merges[0].Median.String()
}

// merges are the times from ready to merged, by deliverer.
func (p page) merges() string {
	if len(p.Merges) == 0 {
		return ""
	}
	room, heading := 28, "READY TO MERGED"
	if p.narrow {
		room = 14
	}

	text := fmt.Sprintf("\n%-*s %7s %7s %7s\n", room+2, heading, "MERGED", "MEDIAN", "P90")
	for _, m := range p.Merges {
		name := p.name(cmp.Or(m.Who, "all"), m.Person, room)
		text += fmt.Sprintf("  %s %7d %7s %7s\n", name, m.Merged, m.Median, m.P90)
	}

	return text
}

// name is that of a worker or a person in so many columns.
func (p page) name(who string, person bool, columns int) string {
	name := printable.Line(who)
	if person && !p.narrow {
		name = ansi.Truncate(name, columns-12, "…") + " (a person)"
	}
	return padded(name, columns)
}

// padded is a name in so many columns.
func padded(name string, columns int) string {
	name = ansi.Truncate(name, columns, "…")
	return name + strings.Repeat(" ", columns-ansi.StringWidth(name))
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
func length(l Length, of int) string {
	if of == 0 {
		return "-"
	}
	return l.String()
}

func (p page) states() string {
	f := p.Figures
	if len(f.States) == 0 {
		return ""
	}
	if p.narrow {
		text := fmt.Sprintf("\n%-15s %6s %6s %5s %4s\n", "TIME IN STATE", "MEDIAN", "P90", "ENDED", "NOW")
		for _, s := range f.States {
			text += fmt.Sprintf("  %-13s %6s %6s %5d %4d\n", stateName(s.State), length(s.Median, s.Ended),
				length(s.P90, s.Ended), s.Ended, s.Now)
		}
		return text
	}

	longest := Length(1)
	for _, s := range f.States {
		longest = max(longest, s.Median)
	}

	text := fmt.Sprintf("\n%-15s %s  %7s %7s %6s %5s\n", "TIME IN STATE", strings.Repeat(" ", barCells), "MEDIAN",
		"P90", "ENDED", "NOW")
	for _, s := range f.States {
		text += fmt.Sprintf("  %-13s %s  %7s %7s %6d %5d\n", stateName(s.State),
			share(int(s.Median/Length(time.Second)), int(max(longest/Length(time.Second), 1))),
			length(s.Median, s.Ended), length(s.P90, s.Ended), s.Ended, s.Now)
	}

	return text
}

// levels are the heights of a line of small bars.
var levels = [...]rune{'▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// line draws a number for each day, of the last days at most so many.
func line(days []Day, most int, of func(Day) int) string {
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

func (p page) days() string {
	f, most := p.Figures, 60
	if p.narrow {
		most = 14
	}

	if f.Totals.Holds+f.Totals.ends() == 0 {
		return ""
	}
	text := "\nA DAY\n"
	if len(f.Days) > most {
		text = fmt.Sprintf("\nA DAY, the last %d\n", most)
	}

	for _, row := range []struct {
		name string
		of   func(Day) int
	}{
		{"holds", func(d Day) int { return d.Holds }},
		{"delivered", func(d Day) int { return d.Delivered }},
		{"trouble", func(d Day) int { return d.Troubled }},
	} {
		text += fmt.Sprintf("  %-10s %s\n", row.name, line(f.Days, most, row.of))
	}

	return text
}

func (p page) workers() string {
	if len(p.Workers) == 0 {
		return ""
	}
	if p.narrow {
		text := fmt.Sprintf("\n%-14s %6s %9s %7s\n", "WORKER", "HOLDS", "DELIVERED", "MEDIAN")
		for _, w := range p.Workers {
			text += fmt.Sprintf("  %s %6d %9d %7s\n", p.name(w.Codename, w.Person, 12), w.Holds, w.Delivered,
				length(w.Median, int(w.Median)))
		}
		return text
	}

	text := fmt.Sprintf("\n%-24s %6s %9s %6s %7s %6s %7s %7s\n", "WORKER", "HOLDS", "DELIVERED", "FAILED", "EXPIRED",
		"FORCED", "YIELDED", "MEDIAN")
	for _, w := range p.Workers {
		text += fmt.Sprintf("  %s %6d %9d %6d %7d %6d %7d %7s\n", p.name(w.Codename, w.Person, 22),
			w.Holds, w.Delivered, w.Failed, w.Expired, w.Forced, w.Yielded, length(w.Median, int(w.Median)))
	}

	return text
}
