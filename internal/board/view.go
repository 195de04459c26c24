package board

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// View is the screen, exactly as wide and high as the terminal.
func (m Model) View() tea.View {
	v := tea.NewView(m.screen())
	v.AltScreen, v.WindowTitle = true, "label-state board "+m.name
	return v
}

func (m Model) screen() string {
	head, foot := m.top(), m.bottom()
	height := max(m.height-len(head)-len(foot), 3)
	var body []string
	switch {
	case m.mode == helping:
		body = m.help(height)
	case !m.loaded:
		body = m.waiting(height)
	default:
		body = m.columns(height)
	}
	lines := append(append(head, body...), foot...)
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.width, "…")
	}
	return strings.Join(lines[:min(len(lines), max(m.height, 1))], "\n")
}

// top is whose board it is and how fresh, what stops everybody, and the lanes that have no room.
func (m Model) top() []string {
	left := m.palette.name.Render("label-state") + " " + m.palette.focus.Render(printable.Line(m.name)) + m.palette.dim.Render("  "+m.summary())
	right := m.palette.dim.Render(m.freshness())
	space := m.width - ansi.StringWidth(left) - ansi.StringWidth(right)
	out := []string{left + strings.Repeat(" ", max(space, 1)) + right}
	if m.reading.Paused != "" {
		out = append(out, m.palette.alert.Render("! "+printable.Line(m.reading.Paused)))
	}
	if m.loaded && len(m.window()) < len(m.shown()) {
		out = append(out, m.tabs())
	}
	return append(out, "")
}

func (m Model) summary() string {
	if !m.loaded {
		return ""
	}
	held, stuck := 0, 0
	for _, c := range m.reading.Cards {
		if c.Holder != "" {
			held++
		}
		if c.Stuck() {
			stuck++
		}
	}
	return fmt.Sprintf("%d issues, %d held, %d stuck", len(m.reading.Cards), held, stuck)
}

func (m Model) freshness() string {
	text := "read " + printable.Span(m.elapsed) + " ago"
	switch {
	case m.busy:
		text = "reading …"
	case m.stale != nil:
		text = "NOT FRESH: " + printable.Span(m.elapsed) + " since the last try"
	}
	if m.every > 0 {
		text += ", every " + printable.Span(m.every)
	}
	return text
}

// tabs name every lane that has cards, when not all of them have room.
func (m Model) tabs() string {
	var out []string
	for _, l := range m.shown() {
		text := fmt.Sprintf("%s %d", strings.ToLower(l.title()), len(m.in(l)))
		if l == m.lane {
			text = m.palette.focus.Render("[" + text + "]")
		} else {
			text = m.palette.dim.Render(" " + text + " ")
		}
		out = append(out, text)
	}
	return strings.Join(out, "")
}

func (m Model) waiting(height int) []string {
	out := make([]string, height)
	out[1] = "  reading the issues of " + printable.Line(m.name) + " …"
	if m.stale != nil {
		out[1] = "  nothing could be read yet; u tries again, q quits"
	}
	return out
}

func (m Model) help(height int) []string {
	var out []string
	for _, row := range keyRows {
		out = append(out, fmt.Sprintf("  %s  %s", m.palette.number.Render(fmt.Sprintf("%-20s", row[0])), row[1]))
	}
	out = append(out, "", m.palette.dim.Render("  A bar fills while the holder gives no sign of life; full, the lease is over."),
		m.palette.dim.Render("  What has a ! will not go away by itself. Any key goes back."))
	for len(out) < height {
		out = append(out, "")
	}
	return out[:height]
}

// bottom is the chosen card at length, what happened or is asked, and the keys.
func (m Model) bottom() []string {
	out := []string{m.palette.dim.Render(strings.Repeat("─", max(m.width, 0)))}
	out = append(out, m.detail()...)
	return append(out, m.talk()...)
}

func (m Model) detail() []string {
	c, ok := m.chosen()
	if !ok {
		return []string{"", ""}
	}
	facts := []string{c.Why}
	if len(c.Circle) > 0 {
		facts = []string{lifecycle.Encircled(c.Circle)}
	}
	if c.Login != "" {
		facts = append(facts, "login "+c.Login, "since "+c.Since.UTC().Format("Jan 2 15:04 UTC"))
	}
	if c.Branch != "" {
		facts = append(facts, "branch "+c.Branch)
	}
	for _, p := range c.Pulls {
		facts = append(facts, p.URL)
	}
	return []string{
		m.palette.number.Render(printable.Line(c.Issue.String())) + " " + m.palette.name.Render(c.Title),
		m.palette.dim.Render(strings.Join(facts, " · ")),
	}
}

// keys are those that have room; the help knows the others.
func (m Model) keys() string {
	const all, few = "←↓↑→ move  / filter  c claim  r release  o open  u read again  ? help  q quit", "? help  / filter  c claim  q quit"
	if ansi.StringWidth(all) > m.width {
		return few
	}
	return all
}

// talk is the line in which the board speaks or listens, and below it the keys or a hint.
func (m Model) talk() []string {
	keys := m.palette.dim.Render(m.keys())
	switch {
	case m.mode == confirming:
		return []string{m.palette.mark.Render(m.asked.text), m.palette.dim.Render("y does it; any other key does not")}
	case m.mode == filtering:
		return []string{"/" + printable.Line(m.filter) + "█", m.palette.dim.Render("enter keeps the filter, esc clears it")}
	case m.notice.bad:
		hint := keys
		if m.notice.hint != "" {
			hint = m.palette.dim.Render("hint: " + printable.Line(m.notice.hint))
		}
		return []string{m.palette.alert.Render(printable.Line(m.notice.text)), hint}
	case m.notice.text != "":
		return []string{m.palette.good.Render(printable.Line(m.notice.text)), keys}
	case m.filter != "":
		return []string{"/" + printable.Line(m.filter), keys}
	}
	return []string{"", keys}
}
