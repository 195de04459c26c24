package board

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// high is the height in lines from which there is room for more than cards.
const high = 20

// View is the screen, exactly as wide and high as the terminal.
func (m Model) View() tea.View {
	v := m.view
	height := v.room()
	var body []string
	switch {
	case v.mode == helping, v.details && v.side() == 0:
		body = v.scroll(v.page(), height)
	case !v.loaded && v.stale != nil:
		body = []string{"", "  u tries again, q quits"}
	case !v.loaded:
		body = append([]string{""}, broken("reading the issues of "+printable.Line(v.name)+" …", v.width,
			v.palette.dim)...)
	default:
		body = v.board(height)
	}

	for len(body) < height {
		body = append(body, "")
	}
	lines := slices.Concat(v.head(), body[:height], v.foot())
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, v.width, "…")
	}

	screen := tea.NewView(strings.Join(lines[max(len(lines)-max(v.height, 1), 0):], "\n"))
	screen.AltScreen, screen.WindowTitle = true, "label-state board "+v.name
	if !v.noMouse {
		screen.MouseMode = tea.MouseModeCellMotion
	}

	return screen
}

// room is how many lines are left between head and foot.
func (v view) room() int { return max(v.height-len(v.head())-len(v.foot()), 0) }

// board is the columns, and beside them the chosen issue at length.
func (v view) board(height int) []string {
	out := make([]string, height)
	for _, c := range v.columns() {
		for i, row := range v.rows(c, height) {
			out[i] = pad(out[i], c.left) + row.text
		}
	}

	side := v.side()
	if side == 0 {
		return out
	}

	page := v.scroll(v.page(), height)
	for i := range out {
		out[i] = pad(out[i], v.width-side) + v.palette.dim.Render(divider)
		if i < len(page) {
			out[i] += page[i]
		}
	}

	return out
}

// Widths in cells: a terminal that shows an issue beside the columns, and how much of it the issue
// may have, with the line between.
const (
	sideFrom  = 120
	sideLeast = 59
	sideMost  = 99
	divider   = " │ "
)

// side is the width of an issue that is shown at length beside the columns; 0 where it has the
// screen for itself.
func (v view) side() int {
	if !v.details || v.width < sideFrom {
		return 0
	}
	return min(max(v.width*2/5, sideLeast), sideMost)
}

// onColumns reports whether the screen shows columns.
func (v view) onColumns() bool { return v.loaded && v.mode != helping && (!v.details || v.side() > 0) }

// broken breaks a text between words into lines of so many cells, each in that style. A word that
// is longer is broken, too.
func broken(text string, width int, style lipgloss.Style) []string {
	lines := strings.Split(ansi.Wrap(text, max(width, 1), " "), "\n")
	for i := range lines {
		lines[i] = style.Render(strings.TrimRight(lines[i], " "))
	}
	return lines
}

// few is the text cut to so many lines, the last of which says that there was more.
func few(lines []string, most, width int) []string {
	if len(lines) <= most {
		return lines
	}
	lines = lines[:max(most, 1)]
	last := len(lines) - 1
	lines[last] = ansi.Truncate(lines[last], max(width-1, 0), "") + "…"

	return lines
}

// head is what everybody must know, and the lanes by name when not all of them have room.
func (v view) head() []string {
	out := v.news()
	above := len(out)
	for _, t := range v.tabs() {
		style, text := v.palette.dim, " "+strings.ToLower(v.heading(t.lane))+" "
		if t.lane == v.lane {
			style, text = v.palette.focus, "["+strings.TrimSpace(text)+"]"
		}

		if above+t.line == len(out) {
			out = append(out, "")
		}
		out[len(out)-1] += style.Render(text)
	}

	return out
}

// tabs are the names of all lanes, in as many lines as they need.
func (v view) tabs() []column {
	if !v.onColumns() || len(v.columns()) == int(lifecycle.Lanes) {
		return nil
	}
	var out []column
	line, left := 0, 0
	for l := range lifecycle.Lanes {
		wide := ansi.StringWidth(v.heading(l)) + gap
		if left > 0 && left+wide > v.width {
			line, left = line+1, 0
		}
		out = append(out, column{
			lane:  l,
			left:  left,
			width: wide,
			line:  line,
		})
		left += wide
	}

	return out
}

// news is whose board it is and how old, and what is wrong.
func (v view) news() []string {
	var alerts []string
	alert := func(text string) {
		alerts = append(alerts, few(broken("! "+printable.Line(text), v.width, v.palette.alert), 2, v.width)...)
	}

	for _, p := range v.snapshot.Pauses {
		alert(p.Text)
	}

	for _, err := range v.snapshot.Unread {
		alert("not shown: " + err.Error())
	}

	if v.stale != nil {
		text := "! nothing could be read: "
		if v.loaded {
			text = "! this is " + printable.Span(v.age) + " old, reading fails: "
		}

		text += printable.Line(v.stale.Error())
		if v.remedy != "" {
			text += "; " + printable.Line(v.remedy)
		}

		alerts = append(alerts, broken(text, v.width, v.palette.alert)...)
	}

	return append([]string{v.title()}, few(alerts, max(v.height/2, 1), v.width)...)
}

// title is the longest of the first lines that have room.
func (v view) title() string {
	issues, held, stranded := 0, 0, 0
	for _, c := range v.snapshot.Cards {
		issues += yes(!c.Request)
		held += yes(c.Holder != "")
		stranded += yes(c.Stranded)
	}

	name, brief := printable.Line(v.name), printable.Span(v.age)
	summary := fmt.Sprintf("%s, %d held", printable.Count(issues, "issue", "issues"), held)
	if stranded > 0 {
		summary += fmt.Sprintf(", %d stranded", stranded)
	}

	fresh := "read " + brief + " ago"
	if !v.loaded {
		brief, summary, fresh = "…", "", "not read yet"
	}

	switch {
	case v.busy && !v.loaded:
		fresh = "reading …"
	case v.busy:
		fresh += ", reading …"
	case v.every > 0:
		fresh += ", every " + printable.Span(v.pause())
	}

	var line string
	for _, t := range [][4]string{
		{"label-state ", name, "  " + summary, fresh},
		{"", name, "  " + summary, fresh},
		{"", name, "  " + summary, brief},
		{"", ansi.Truncate(name, max(v.width-len(brief)-1, 4), "…"), "", brief},
	} {
		space := v.width - ansi.StringWidth(strings.Join(t[:], ""))
		line = v.palette.name.Render(t[0]) + v.palette.focus.Render(t[1]) +
			v.palette.dim.Render(t[2]+strings.Repeat(" ", max(space, 1))+t[3])
		if space > 0 {
			break
		}
	}

	return line
}

// page is what is scrolled: the help, or the chosen issue at length.
func (v view) page() []string {
	var out []string
	width := v.width
	if side := v.side(); side > 0 && v.mode != helping {
		width = side - ansi.StringWidth(divider)
	}

	if v.mode == helping {
		for _, row := range keyRows {
			for n, line := range broken(row[1], max(width-12, 8), lipgloss.NewStyle()) {
				key := strings.Repeat(" ", 8)
				if n == 0 {
					key = v.palette.number.Render(pad(row[0], 8))
				}
				out = append(out, "  "+key+" "+line)
			}
		}

		out = append(out, "")
		for _, text := range []string{
			"A click chooses a card, another one shows the whole issue; the wheel scrolls.",
			"A bar fills while the holder sends no heartbeat; full, the lease has expired.",
			"Items marked ! need a person.",
			"Ready is in the order in which next hands issues out.",
		} {
			out = append(out, broken("  "+text, width, v.palette.dim)...)
		}

		return out
	}

	c, ok := v.chosen()
	if !ok {
		return []string{v.palette.dim.Render("no card is selected")}
	}
	if v.snapshot.Details == nil {
		return broken(c.Title, width, v.palette.name)
	}

	for n, line := range v.snapshot.Details(c.Issue, v.now(), width) {
		style := lipgloss.NewStyle()
		if n == 0 {
			style = v.palette.name
		}
		out = append(out, broken(printable.Line(line), width, style)...)
	}

	return out
}

// scroll is the part of a page that has room, and how much more there is.
func (v view) scroll(page []string, height int) []string {
	top := max(min(v.top, len(page)-height), 0)
	out := slices.Clone(page[top:])
	if len(out) > height && height > 0 {
		out = out[:height]
		out[height-1] = v.palette.dim.Render(fmt.Sprintf("↓ %d more lines, J scrolls", len(page)-top-height+1))
	}

	return out
}

// foot is the chosen card at length where there is room, what happened or is asked, and the keys.
func (v view) foot() []string {
	talk := v.talk()
	if v.height < high || v.mode == helping || v.details {
		return talk
	}

	out := []string{v.palette.dim.Render(strings.Repeat("─", max(v.width, 0))), "", ""}
	if c, ok := v.chosen(); ok {
		out[1] = v.palette.number.Render(printable.Line(c.Issue.String())) + " " + v.palette.name.Render(c.Title)
		out[2] = v.palette.dim.Render(v.standing(c))
	}

	return append(out, talk...)
}

// keys are those that do something now, as many as have room; the help knows the others.
func (v view) keys() string {
	c, ok := v.chosen()
	ok = ok && v.mode != helping
	var all []string
	add := func(is bool, key string) {
		if is {
			all = append(all, key)
		}
	}

	add(true, "? help")
	add(v.mode == helping || v.details, "esc back")
	add(len(v.snapshot.Pauses) > 0, "p resume")
	add(ok && !v.details, "enter details")
	add(ok && c.Plan, "a approve")
	add(ok && c.Plan, "x reject")
	add(ok && c.isOf(v.snapshot.Viewer), "r release")
	add(ok && c.Lane != lifecycle.LaneDone && !c.isOf(v.snapshot.Viewer), "c claim")
	add(ok && c.Holder != "" && !c.isOf(v.snapshot.Viewer), "f force")
	add(true, "/ filter")
	add(true, "m mine")
	add(true, "s sort")
	add(ok, "o open")
	add(ok, "y copy")
	add(len(v.snapshot.Pauses) == 0, "p pause")
	add(true, "u read")
	out := ""
	for _, key := range all {
		if ansi.StringWidth(out)+len(key)+2 <= v.width-len("q quit") {
			out += key + "  "
		}
	}

	return out + "q quit"
}

// selection says which cards are shown, and in which order, where that is not all as usual.
func (v view) selection() string {
	out := []string{orders[v.sorted].name}
	if v.mine {
		out = append(out, "only mine")
	}

	if v.filter != "" {
		out = append(out, "/"+printable.Line(v.filter))
	}
	out = slices.DeleteFunc(out, func(s string) bool { return s == "" })

	return strings.Join(out, " · ")
}

// talk is what the board says or is told, never more than half the screen, and below it the keys
// that go with it.
func (v view) talk() []string {
	said := func(style lipgloss.Style, text string) []string {
		return few(broken(text, v.width, style), max(v.height/2, 1), v.width)
	}
	keys := v.palette.dim.Render(v.keys())
	switch {
	case v.mode == confirming:
		return append(append(said(v.palette.mark, v.asked.text), v.same()...),
			v.palette.dim.Render("y confirms, any other key cancels"))

	case v.mode == reasoning:
		out := append(said(v.palette.mark, v.asked.text), v.same()...)
		out = append(out, said(lipgloss.NewStyle(), "reason: "+printable.Line(v.asked.Reason)+"█")...)
		return append(out, v.palette.dim.Render("enter confirms, esc cancels"))

	case v.mode == filtering:
		return append(said(lipgloss.NewStyle(), "/"+printable.Line(v.filter)+"█"),
			v.palette.dim.Render("enter keeps it, esc clears it"))

	case v.notice.text != "":
		style := v.palette.good
		if v.notice.bad {
			style = v.palette.alert
		}

		out := said(style, printable.Line(v.notice.text))
		if v.notice.hint != "" {
			word := "note: "
			if v.notice.bad {
				word = "hint: "
			}
			out = append(out, said(v.palette.mark, word+printable.Line(v.notice.hint))...)
		}

		return append(out, keys)
	case v.selection() != "":
		return append(said(lipgloss.NewStyle(), v.selection()), keys)
	case v.height >= high:
		return []string{"", keys}
	}

	return []string{keys}
}

// same is the command that does what is asked, where there is room for it.
func (v view) same() []string {
	if v.height < high {
		return nil
	}
	o := v.asked.Order
	if acts[o.Act].reasoned && o.Reason == "" {
		o.Reason = "…"
	}

	return few(broken("= "+printable.Line(o.Command()), v.width, v.palette.dim), 2, v.width)
}
