package board

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/printable"
)

// high is the height in lines from which there is room for more than cards.
const high = 20

// View is the screen, exactly as wide and high as the terminal.
func (m Model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen, v.WindowTitle = true, "label-state board "+m.name
	return v
}

func (m Model) screen() string {
	head, foot := m.head(), m.foot()
	height := max(m.height-len(head)-len(foot), 0)
	var body []string
	switch side := m.split(); {
	case m.mode == helping, m.details && side == 0:
		body = m.scroll(m.page(), height, m.width)
	case !m.loaded:
		body = m.waiting()
	case m.details:
		body = beside(m.columns(m.width-side-3, height), m.scroll(m.page(), height, side), m.width-side-3, m.palette.dim.Render(" │ "))
	default:
		body = m.columns(m.width, height)
	}
	for len(body) < height {
		body = append(body, "")
	}
	lines := slices.Concat(head, body[:height], foot)
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.width, "…")
	}
	return strings.Join(lines[max(len(lines)-max(m.height, 1), 0):], "\n")
}

// beside puts two blocks side by side, the left one padded to its width.
func beside(left, right []string, width int, between string) []string {
	out := make([]string, max(len(left), len(right)))
	for i := range out {
		l, r := "", ""
		if i < len(left) {
			l = left[i]
		}
		if i < len(right) {
			r = right[i]
		}
		out[i] = pad(l, width) + between + r
	}
	return out
}

// Widths in cells: a terminal that shows an issue beside the columns, and how much of it the issue may have.
const (
	splitFrom  = 120
	issueLeast = 56
	issueMost  = 96
)

// split is the width of an issue that is shown at length beside the columns; 0 where it has the screen for itself.
func (m Model) split() int {
	if !m.details || m.width < splitFrom {
		return 0
	}
	return min(max(m.width*2/5, issueLeast), issueMost)
}

// broken breaks a text between words into lines of so many cells, each in that style. A word that is longer is broken, too.
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

// head is whose board it is and how old, what everybody must know, and the columns when not all of them have room.
func (m Model) head() []string {
	out := []string{m.title()}
	var alerts []string
	for _, p := range m.reading.Pauses {
		alerts = append(alerts, few(broken("! "+printable.Line(p.Text), m.width, m.palette.alert), 2, m.width)...)
	}
	if m.stale != nil {
		alerts = append(alerts, m.trouble()...)
	}
	out = append(out, few(alerts, max(m.height/2, 1), m.width)...)
	if m.loaded && m.mode != helping && (!m.details || m.split() > 0) && m.tabbed() {
		out = append(out, m.tabs())
	}
	if m.height >= high {
		out = append(out, "")
	}
	return out
}

// trouble says that reading fails, how old what is shown is, and what to do.
func (m Model) trouble() []string {
	text := "! nothing could be read: "
	if m.loaded {
		text = "! this is " + printable.Span(m.age) + " old, reading fails: "
	}
	text += printable.Line(m.stale.Error())
	if hint := m.desk.Hint(m.stale); hint != "" {
		text += "; " + printable.Line(hint)
	}
	return broken(text, m.width, m.palette.alert)
}

// title is the longest of the first lines that have room.
func (m Model) title() string {
	name, summary, fresh, brief := printable.Line(m.name), m.summary(), m.freshness(), printable.Span(m.age)
	if !m.loaded {
		brief = "…"
	}
	for _, t := range [][4]string{
		{"label-state ", name, "  " + summary, fresh},
		{"", name, "  " + summary, fresh},
		{"", name, "  " + summary, brief},
		{"", name, "", brief},
		{"", printable.Clip(name, max(m.width-len(brief)-2, 4)), "", brief},
	} {
		space := m.width - ansi.StringWidth(strings.Join(t[:], ""))
		if space > 0 || t[0]+t[2] == "" && t[1] != name {
			return m.palette.name.Render(t[0]) + m.palette.focus.Render(t[1]) + m.palette.dim.Render(t[2]+strings.Repeat(" ", max(space, 1))+t[3])
		}
	}
	return m.palette.focus.Render(ansi.Truncate(name, m.width, "…"))
}

func (m Model) summary() string {
	if !m.loaded {
		return ""
	}
	issues, held, stuck := 0, 0, 0
	for _, c := range m.reading.Cards {
		if !c.Request {
			issues++
		}
		held += yes(c.Holder != "")
		stuck += yes(c.Stuck())
	}
	return fmt.Sprintf("%d issues, %d held, %d stuck", issues, held, stuck)
}

func (m Model) freshness() string {
	text := "read " + printable.Span(m.age) + " ago"
	switch {
	case m.busy:
		text = "reading …"
	case !m.loaded:
		text = "not read yet"
	}
	if m.every > 0 {
		text += ", every " + printable.Span(m.pause())
	}
	return text
}

// tabs name the columns with cards, as many as have room around the chosen one.
func (m Model) tabs() string {
	shown := m.shown()
	texts := make([]string, len(shown))
	at := 0
	for n, l := range shown {
		texts[n] = fmt.Sprintf(" %s %d ", strings.ToLower(l.title()), len(m.in(l)))
		if l == m.lane {
			at, texts[n] = n, fmt.Sprintf("[%s %d]", strings.ToLower(l.title()), len(m.in(l)))
		}
	}
	from, to, room := at, at+1, m.width-2-ansi.StringWidth(texts[at]) // 2 for what says that there are more
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
		style := m.palette.dim
		if n == at {
			style = m.palette.focus
		}
		out += style.Render(texts[n])
	}
	if from > 0 {
		out = m.palette.dim.Render("‹") + out
	}
	if to < len(texts) {
		out += m.palette.dim.Render("›")
	}
	return out
}

func (m Model) waiting() []string {
	if m.stale != nil {
		return []string{"", "  u tries again, q quits"}
	}
	return append([]string{""}, broken("reading the issues of "+printable.Line(m.name)+" …", m.width, m.palette.dim)...)
}

// page is what is scrolled: the help, or the chosen issue at length.
func (m Model) page() []string {
	if m.mode == helping {
		return m.help()
	}
	width := m.width
	if side := m.split(); side > 0 {
		width = side
	}
	c, ok := m.chosen()
	if !ok {
		return []string{m.palette.dim.Render("no card is chosen")}
	}
	if m.reading.Details == nil {
		return broken(c.Title, width, m.palette.name)
	}
	var out []string
	for n, line := range m.reading.Details(c.Issue, m.now(), width) {
		style := lipgloss.NewStyle()
		if n == 0 {
			style = m.palette.name
		}
		out = append(out, broken(printable.Line(line), width, style)...)
	}
	return out
}

func (m Model) help() []string {
	var out []string
	for _, row := range keyRows {
		for n, line := range broken(row[1], max(m.width-12, 8), lipgloss.NewStyle()) {
			key := strings.Repeat(" ", 8)
			if n == 0 {
				key = m.palette.number.Render(pad(row[0], 8))
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
		out = append(out, broken("  "+text, m.width, m.palette.dim)...)
	}
	return out
}

// scroll is the part of a page that has room, and how much more there is.
func (m Model) scroll(page []string, height, width int) []string {
	top := max(min(m.top, len(page)-height), 0)
	out := slices.Clone(page[top:])
	if len(out) > height && height > 0 {
		out = out[:height]
		out[height-1] = m.palette.dim.Render(fmt.Sprintf("↓ %d more lines, J scrolls", len(page)-top-height+1))
	}
	for i := range out {
		out[i] = ansi.Truncate(out[i], width, "…")
	}
	return out
}

// foot is the chosen card at length where there is room, what happened or is asked, and the keys.
func (m Model) foot() []string {
	talk := m.talk()
	if m.height < high || m.mode == helping || m.details {
		return talk
	}
	c, ok := m.chosen()
	out := []string{m.palette.dim.Render(strings.Repeat("─", max(m.width, 0))), "", ""}
	if ok {
		out[1] = m.palette.number.Render(printable.Line(c.Issue.String())) + " " + m.palette.name.Render(c.Title)
		out[2] = m.palette.dim.Render(strings.Join(m.facts(c), " · "))
	}
	return append(out, talk...)
}

func (m Model) facts(c Card) []string {
	facts := []string{c.standing(m)}
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
	return facts
}

// keys are those that do something now, as many as have room; the help knows the others.
func (m Model) keys() string {
	c, ok := m.chosen()
	ok = ok && m.mode != helping
	var all []string
	add := func(is bool, key string) {
		if is {
			all = append(all, key)
		}
	}
	add(true, "? help")
	add(m.mode == helping || m.details, "esc back")
	add(len(m.reading.Pauses) > 0, "p resume")
	add(ok && !m.details, "enter details")
	add(ok && c.Plan, "a approve")
	add(ok && c.Plan, "x reject")
	add(ok && c.isOf(m.reading.Viewer), "r release")
	add(ok && c.Lane != Done && !c.isOf(m.reading.Viewer), "c claim")
	add(ok && c.Holder != "" && !c.isOf(m.reading.Viewer), "f force")
	add(true, "/ filter")
	add(ok, "o open")
	add(ok, "y copy")
	add(len(m.reading.Pauses) == 0, "p pause")
	add(true, "u read")
	out := ""
	for _, key := range all {
		if ansi.StringWidth(out)+len(key)+2 <= m.width-len("q quit") {
			out += key + "  "
		}
	}
	return out + "q quit"
}

// talk is what the board says or is told, never more than half the screen, and below it the keys that go with it.
func (m Model) talk() []string {
	said := func(style lipgloss.Style, text string) []string {
		return few(broken(text, m.width, style), max(m.height/2, 1), m.width)
	}
	keys := m.palette.dim.Render(m.keys())
	switch {
	case m.mode == confirming:
		return append(append(said(m.palette.mark, m.asked.text), m.same()...), m.palette.dim.Render("y does it, any other key does not"))
	case m.mode == reasoning:
		out := append(said(m.palette.mark, m.asked.text), m.same()...)
		out = append(out, said(lipgloss.NewStyle(), "reason: "+printable.Line(m.asked.Reason)+"█")...)
		return append(out, m.palette.dim.Render("enter does it, esc does not"))
	case m.mode == filtering:
		return append(said(lipgloss.NewStyle(), "/"+printable.Line(m.filter)+"█"), m.palette.dim.Render("enter keeps it, esc clears it"))
	case m.notice.text != "":
		style := m.palette.good
		if m.notice.bad {
			style = m.palette.alert
		}
		out := said(style, printable.Line(m.notice.text))
		if m.notice.hint != "" {
			word := "note: "
			if m.notice.bad {
				word = "hint: "
			}
			out = append(out, said(m.palette.mark, word+printable.Line(m.notice.hint))...)
		}
		return append(out, keys)
	case m.filter != "":
		return append(said(lipgloss.NewStyle(), "/"+printable.Line(m.filter)), keys)
	case m.height >= high:
		return []string{"", keys}
	}
	return []string{keys}
}

// same is the command that does what is asked, where there is room for it.
func (m Model) same() []string {
	if m.height < high {
		return nil
	}
	o := m.asked.Order
	if o.reasoned() && o.Reason == "" {
		o.Reason = "…"
	}
	return few(broken("= "+printable.Line(o.Command()), m.width, m.palette.dim), 2, m.width)
}
