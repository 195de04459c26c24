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
	head, foot := v.head(), v.foot()
	height := max(v.height-len(head)-len(foot), 0)
	var body []string
	switch side := v.split(); {
	case v.mode == helping, v.details && side == 0:
		body = v.scroll(v.page(), height, v.width)
	case !v.loaded && v.stale != nil:
		body = []string{"", "  u tries again, q quits"}
	case !v.loaded:
		body = append([]string{""}, broken("reading the issues of "+printable.Line(v.name)+" …", v.width,
			v.palette.dim)...)

	case v.details:
		body = v.columns(v.width-side-3, height)
		page := v.scroll(v.page(), height, side)
		for i := range body {
			right := ""
			if i < len(page) {
				right = page[i]
			}
			body[i] = pad(body[i], v.width-side-3) + v.palette.dim.Render(" │ ") + right
		}
	default:
		body = v.columns(v.width, height)
	}

	for len(body) < height {
		body = append(body, "")
	}
	lines := slices.Concat(head, body[:height], foot)
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, v.width, "…")
	}

	screen := tea.NewView(strings.Join(lines[max(len(lines)-max(v.height, 1), 0):], "\n"))
	screen.AltScreen, screen.WindowTitle = true, "label-state board "+v.name
	return screen
}

// Widths in cells: a terminal that shows an issue beside the columns, and how much of it the issue
// may have.
const (
	splitFrom  = 120
	issueLeast = 56
	issueMost  = 96
)

// split is the width of an issue that is shown at length beside the columns; 0 where it has the
// screen for itself.
func (v view) split() int {
	if !v.details || v.width < splitFrom {
		return 0
	}
	return min(max(v.width*2/5, issueLeast), issueMost)
}

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

// head is whose board it is and how old, what everybody must know, and the columns when not all of
// them have room.
func (v view) head() []string {
	out := []string{v.title()}
	var alerts []string
	for _, p := range v.snapshot.Pauses {
		alerts = append(alerts, few(broken("! "+printable.Line(p.Text), v.width, v.palette.alert), 2, v.width)...)
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

	out = append(out, few(alerts, max(v.height/2, 1), v.width)...)
	if v.loaded && v.mode != helping && (!v.details || v.split() > 0) && v.tabbed() {
		out = append(out, v.tabs())
	}

	if v.height >= high {
		out = append(out, "")
	}

	return out
}

// title is the longest of the first lines that have room.
func (v view) title() string {
	issues, held, stuck := 0, 0, 0
	for _, c := range v.snapshot.Cards {
		issues += yes(!c.Request)
		held += yes(c.Holder != "")
		stuck += yes(c.Stuck())
	}

	name, brief, summary := printable.Line(v.name), printable.Span(v.age), fmt.Sprintf("%d issues, %d held, %d stuck",
		issues, held, stuck)
	fresh := "read " + brief + " ago"
	if !v.loaded {
		brief, summary, fresh = "…", "", "not read yet"
	}

	if v.busy {
		fresh = "reading …"
	}

	if v.every > 0 {
		fresh += ", every " + printable.Span(v.pause())
	}

	for _, t := range [][4]string{
		{"label-state ", name, "  " + summary, fresh},
		{"", name, "  " + summary, fresh},
		{"", name, "  " + summary, brief},
		{"", name, "", brief},
		{"", printable.Clip(name, max(v.width-len(brief)-2, 4)), "", brief},
	} {
		space := v.width - ansi.StringWidth(strings.Join(t[:], ""))
		if space > 0 || t[0]+t[2] == "" && t[1] != name {
			return v.palette.name.Render(t[0]) + v.palette.focus.Render(t[1]) +
				v.palette.dim.Render(t[2]+strings.Repeat(" ", max(space, 1))+t[3])
		}
	}

	return v.palette.focus.Render(ansi.Truncate(name, v.width, "…"))
}

// tabs name the columns with cards, as many as have room around the chosen one.
func (v view) tabs() string {
	shown := v.shown()
	texts := make([]string, len(shown))
	at := 0
	for n, l := range shown {
		texts[n] = fmt.Sprintf(" %s %d ", strings.ToLower(l.title()), len(v.in(l)))
		if l == v.lane {
			at, texts[n] = n, fmt.Sprintf("[%s %d]", strings.ToLower(l.title()), len(v.in(l)))
		}
	}

	from, to, room := at, at+1, v.width-2-ansi.StringWidth(texts[at]) // 2 for what says that there are more
	for grown := true; grown; {
		grown = false
		if to < len(texts) && ansi.StringWidth(texts[to]) <= room {
			room, to, grown = room-ansi.StringWidth(texts[to]), to+1, true
		}

		if from > 0 && ansi.StringWidth(texts[from-1]) <= room {
			room, from, grown = room-ansi.StringWidth(texts[from-1]), from-1, true
		}
	}

	out := ""
	for n := from; n < to; n++ {
		style := v.palette.dim
		if n == at {
			style = v.palette.focus
		}
		out += style.Render(texts[n])
	}

	if from > 0 {
		out = v.palette.dim.Render("‹") + out
	}

	if to < len(texts) {
		out += v.palette.dim.Render("›")
	}

	return out
}

// page is what is scrolled: the help, or the chosen issue at length.
func (v view) page() []string {
	var out []string
	if v.mode == helping {
		for _, row := range keyRows {
			for n, line := range broken(row[1], max(v.width-12, 8), lipgloss.NewStyle()) {
				key := strings.Repeat(" ", 8)
				if n == 0 {
					key = v.palette.number.Render(pad(row[0], 8))
				}
				out = append(out, "  "+key+" "+line)
			}
		}

		out = append(out, "")
		for _, text := range []string{
			"A bar fills while the holder sends no heartbeat; full, the lease has expired.",
			"What is marked ! needs a person: no rule moves it on.",
			"Ready is in the order in which next hands issues out.",
		} {
			out = append(out, broken("  "+text, v.width, v.palette.dim)...)
		}

		return out
	}

	width := v.width
	if side := v.split(); side > 0 {
		width = side
	}

	c, ok := v.chosen()
	if !ok {
		return []string{v.palette.dim.Render("no card is chosen")}
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
func (v view) scroll(page []string, height, width int) []string {
	top := max(min(v.top, len(page)-height), 0)
	out := slices.Clone(page[top:])
	if len(out) > height && height > 0 {
		out = out[:height]
		out[height-1] = v.palette.dim.Render(fmt.Sprintf("↓ %d more lines, J scrolls", len(page)-top-height+1))
	}

	for i := range out {
		out[i] = ansi.Truncate(out[i], width, "…")
	}

	return out
}

// foot is the chosen card at length where there is room, what happened or is asked, and the keys.
func (v view) foot() []string {
	talk := v.talk()
	if v.height < high || v.mode == helping || v.details {
		return talk
	}

	c, ok := v.chosen()
	out := []string{v.palette.dim.Render(strings.Repeat("─", max(v.width, 0))), "", ""}
	if ok {
		out[1] = v.palette.number.Render(printable.Line(c.Issue.String())) + " " + v.palette.name.Render(c.Title)
		standing := c.Why // who holds it comes before why it is in its lane
		switch {
		case len(c.Cycle) > 0:
			standing = lifecycle.InCycle(c.Cycle)
		case c.isOf(v.snapshot.Viewer):
			standing = "yours"
		case c.Person && c.Holder != "":
			standing = "held by " + c.Holder + ", a person"
		}

		facts := []string{standing}
		if c.Login != "" && !c.Person {
			facts = append(facts, "login "+c.Login)
		}

		if !c.Since.IsZero() {
			facts = append(facts, "since "+c.Since.UTC().Format("Jan 2 15:04 UTC"))
		}

		if c.Branch != "" {
			facts = append(facts, "branch "+c.Branch)
		}

		for _, p := range c.Pulls {
			facts = append(facts, p.URL)
		}
		out[2] = v.palette.dim.Render(strings.Join(facts, " · "))
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
	add(ok && c.Lane != Done && !c.isOf(v.snapshot.Viewer), "c claim")
	add(ok && c.Holder != "" && !c.isOf(v.snapshot.Viewer), "f force")
	add(true, "/ filter")
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
			v.palette.dim.Render("y does it, any other key does not"))

	case v.mode == reasoning:
		out := append(said(v.palette.mark, v.asked.text), v.same()...)
		out = append(out, said(lipgloss.NewStyle(), "reason: "+printable.Line(v.asked.Reason)+"█")...)
		return append(out, v.palette.dim.Render("enter does it, esc does not"))

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
	case v.filter != "":
		return append(said(lipgloss.NewStyle(), "/"+printable.Line(v.filter)), keys)
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
	if o.reasoned() && o.Reason == "" {
		o.Reason = "…"
	}

	return few(broken("= "+printable.Line(o.Command()), v.width, v.palette.dim), 2, v.width)
}
