package board

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/printable"
)

const (
	columnLeast = 24 // cells a column needs to be of use
	gap         = 2  // cells between columns
	titleLines  = 2
)

// shown are the lanes there are columns for: all, or where there is no room for all those with
// cards.
func (v view) shown() []Lane {
	var all, full []Lane
	for l := range lanes {
		all = append(all, l)
		if l == v.lane || len(v.in(l)) > 0 {
			full = append(full, l)
		}
	}

	if fits(len(all), v.across()) {
		return all
	}

	return full
}

// across is the width that the columns have.
func (v view) across() int {
	if side := v.split(); side > 0 {
		return v.width - side - 3
	}
	return v.width
}

func fits(columns, width int) bool { return columns*(columnLeast+gap)-gap <= width }

// tabbed reports whether not all columns have room, so that they are named above.
func (v view) tabbed() bool { return len(v.window()) < len(v.shown()) }

// window is the part of the shown lanes that has room, around the one with the cursor.
func (v view) window() []Lane {
	shown := v.shown()
	n := len(shown)
	for n > 1 && !fits(n, v.across()) {
		n--
	}

	at := 0
	for i, l := range shown {
		if l == v.lane {
			at = i
		}
	}

	first := min(max(at-(n-1)/2, 0), len(shown)-n)
	return shown[first : first+n]
}

// columns are the lanes side by side, in so many cells and lines.
func (v view) columns(across, height int) []string {
	window := v.window()
	width := (across+gap)/len(window) - gap
	out := make([]string, height)
	for n, l := range window {
		for i, line := range v.column(l, width, height) {
			if n > 0 {
				out[i] += strings.Repeat(" ", gap)
			}
			out[i] += line
		}
	}

	return out
}

// column is one lane: its head, a line below, and as many cards as there is room for.
func (v view) column(l Lane, width, height int) []string {
	style, line := v.palette.head, "─"
	if l == v.lane {
		style, line = v.palette.focus, "━"
	}

	cards := v.in(l)
	var out []string
	if v.height >= high || !v.tabbed() || len(v.window()) > 1 { // else the tabs say it
		out = []string{
			style.Render(fmt.Sprintf("%s %d", l.title(), len(cards))),
			style.Render(strings.Repeat(line, max(width, 0))),
		}
	}

	out = append(out, v.stack(l, cards, width, height-len(out))...)
	for i := range height {
		if i >= len(out) {
			out = append(out, "")
		}
		out[i] = pad(out[i], width)
	}

	return out[:height]
}

// stack is the part of a lane's cards that has room, around the one with the cursor.
func (v view) stack(l Lane, cards []Card, width, height int) []string {
	var next []string // what to do where nothing can be taken; it stands where that would be looked for
	for _, line := range v.snapshot.Next {
		for _, one := range broken(printable.Line(line), width-1, v.palette.dim) {
			if l == Ready && v.filter == "" {
				next = append(next, " "+one)
			}
		}
	}

	if len(cards) == 0 {
		return append([]string{v.palette.dim.Render(" –"), ""}, next...)
	}
	blocks := make([][]string, len(cards))
	for i, c := range cards {
		blocks[i] = v.card(c, width, l == v.lane && i == v.at[l])
		if len(blocks[i]) >= height { // the end of a card may go, its beginning not
			blocks[i] = blocks[i][:max(height-1, 1)]
		}
		blocks[i] = append(blocks[i], "")
	}

	first, used := v.at[l], len(blocks[v.at[l]])
	for first > 0 && used+len(blocks[first-1]) <= height-2 {
		first--
		used += len(blocks[first])
	}

	var out []string
	if first > 0 {
		out = append(out, v.palette.dim.Render(fmt.Sprintf(" ↑ %d more", first)))
	}

	for i := first; i < len(blocks); i++ {
		room := height - len(out)
		if i < len(blocks)-1 {
			room-- // for what says that there are more
		}

		if len(blocks[i])-1 > room {
			return append(out, v.palette.dim.Render(fmt.Sprintf(" ↓ %d more", len(blocks)-i)))
		}
		out = append(out, blocks[i]...)
	}

	return append(out, next...)
}

// card is one issue: number and title, who holds it with the age of the hold, and marks.
func (v view) card(c Card, width int, chosen bool) []string {
	edge, style := " ", lipgloss.NewStyle()
	if chosen {
		edge, style = v.palette.focus.Render("▌"), v.palette.cursor
	}

	ref := v.ref(c)
	if c.Request {
		ref = "PR " + ref
	}

	title := strings.Split(ansi.Wrap(ref+" "+c.Title, width-1, ""), "\n")
	if len(title) > titleLines {
		title = append(title[:titleLines-1], ansi.Truncate(strings.Join(title[titleLines-1:], " "), width-1, "…"))
	}

	var out []string
	for i, line := range title {
		if i == 0 && strings.HasPrefix(line, ref) {
			line = v.palette.number.Render(ref) + style.Render(strings.TrimPrefix(line, ref))
		} else {
			line = style.Render(line)
		}
		out = append(out, edge+line)
	}

	if c.Holder != "" {
		out = append(out, edge+v.holder(c, width-1))
	}

	for _, p := range c.Pulls {
		out = append(out, edge+ansi.Truncate("→ "+p.Name, width-1, "…"))
	}
	var marks []string // as many to a line as there is room for
	for _, mark := range c.Marks {
		text := v.palette.mark.Render("· " + mark.Text)
		if mark.Alert {
			text = v.palette.alert.Render("! " + mark.Text)
		}

		last := len(marks) - 1
		if last >= 0 && ansi.StringWidth(marks[last])+1+ansi.StringWidth(text) <= width-1 {
			marks[last] += " " + text
			continue
		}

		marks = append(marks, ansi.Truncate(text, width-1, "…"))
	}

	for _, line := range marks {
		out = append(out, edge+line)
	}

	return out
}

// holder is who holds it, a bar for how much of the lease is gone without a heartbeat, and the
// numbers.
func (v view) holder(c Card, width int) string {
	age := c.age(v.now())
	if c.Person && c.Lease <= 0 {
		age = printable.Span(v.now().Sub(c.Since)) // a person's hold without an end, as its mark says
	}

	room := width - ansi.StringWidth(age) - 2
	who := c.Holder
	if c.isOf(v.snapshot.Viewer) {
		who += " (you)"
	}

	name := ansi.Truncate(who, max(room-4, 4), "…")
	cells := min(room-ansi.StringWidth(name), 12)
	if c.Lease <= 0 || cells < 2 {
		return ansi.Truncate(name+" "+v.palette.dim.Render(age), width, "…")
	}

	part := min(max(float64(v.now().Sub(c.Seen))/float64(c.Lease), 0), 1) // of the lease, gone since the last heartbeat
	style := v.palette.calm
	switch {
	case part >= 1:
		style = v.palette.over
	case part > 0.5:
		style = v.palette.soon
	}

	full, rest := printable.Bar(part, cells)
	return name + " " + style.Render(full) + v.palette.dim.Render(rest+" "+age)
}

// pad makes a line exactly width cells wide.
func pad(line string, width int) string {
	line = ansi.Truncate(line, width, "…")
	return line + strings.Repeat(" ", width-ansi.StringWidth(line))
}
