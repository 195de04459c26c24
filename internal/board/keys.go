package board

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"github.com/label-state/label-state/internal/lifecycle"
)

// keyRows are the keys for people, as the help shows them.
var keyRows = [][2]string{
	{"← → ↑ ↓", "move, also h l k j; 1 to 6 go to a column"},
	{"g G", "first and last card of the column"},
	{"enter", "the whole issue: its text and history; again or esc: back"},
	{"J K", "scroll the whole issue, also page keys"},
	{"/", "filter: every word must be on the card; esc clears"},
	{"m", "only what you hold and what waits for a person, or all"},
	{"s", "sort: as next hands out, by age, end of hold, priority, number"},
	{"c", "claim for yourself; what is held, by force, with a reason"},
	{"r", "release what you hold"},
	{"f", "end somebody else's hold by force, with a reason"},
	{"a x", "approve the waiting plan, or reject it with a reason"},
	{"p", "pause the repository with a reason, or resume it"},
	{"o", "open the issue in the browser"},
	{"y", "copy the command for the card"},
	{"u", "read again now"},
	{"M", "mouse off (the terminal selects text), or on"},
	{"?", "this help"},
	{"q", "quit"},
}

func (m Model) key(name, text string) (Model, tea.Cmd) {
	if name == "ctrl+c" {
		return m, tea.Quit
	}

	switch m.mode {
	case filtering:
		switch name {
		case "enter":
			m.mode = browsing
		case "esc":
			m.mode = browsing
			m.refilter("")
		default:
			m = m.typed(name, text)
		}

		return m, nil

	case reasoning:
		switch name {
		case "esc":
			m.mode, m.notice = browsing, notice{text: "nothing was done", left: said}
			return m, nil

		case "enter":
			if m.asked.Reason = strings.TrimSpace(m.asked.Reason); m.asked.Reason == "" {
				return m, nil
			}
			m.mode = browsing
			return m.carryOut()
		}

		return m.typed(name, text), nil

	case confirming: // everything but yes is no
		m.mode = browsing
		if name != "y" && name != "Y" {
			m.notice = notice{text: "nothing was done", left: said}
			return m, nil
		}
		return m.carryOut()

	case helping:
		if m.scrolled(name, true) {
			return m, nil
		}
		m.mode, m.top = browsing, 0
		return m, nil
	}

	return m.browse(name)
}

func (m Model) browse(name string) (Model, tea.Cmd) {
	m.hush()
	if m.details && m.scrolled(name, m.side() == 0) || m.moved(name) {
		return m, nil
	}

	switch name {
	case "q":
		return m, tea.Quit
	case "ctrl+z":
		return m, tea.Suspend
	case "?":
		m.mode, m.top = helping, 0
	case "/":
		m.mode = filtering
	case "enter":
		_, chosen := m.chosen()
		m.details, m.top = chosen && !m.details, 0

	case "esc": // one step back: out of the issue, else out of the filter
		if !m.details {
			m.refilter("")
			return m, nil
		}
		m.details, m.top = false, 0
	case "m":
		m.mine = !m.mine
		m.refilter(m.filter)
	case "s":
		m.sorted = (m.sorted + 1) % len(orders)
		m.refilter(m.filter)
	case "M":
		m.noMouse = !m.noMouse
		m.notice = notice{text: "the board uses the mouse; hold shift to select text", left: said}
		if m.noMouse {
			m.notice.text = "the terminal uses the mouse"
		}
	case "u", "f5":
		return m.refresh()
	case "c", "r", "f", "a", "x", "p", "o", "y":
		return m.act(name)
	}

	return m, nil
}

// moved takes the keys that move the cursor.
func (m *Model) moved(name string) bool {
	last := max(len(m.cards[m.lane])-1, 0)
	at := &m.at[m.lane]
	switch name {
	case "left", "h", "shift+tab":
		m.sideways(-1)
	case "right", "l", "tab":
		m.sideways(1)
	case "up", "k":
		*at = max(*at-1, 0)
	case "down", "j":
		*at = min(*at+1, last)
	case "g", "home":
		*at = 0
	case "G", "end":
		*at = last
	case "1", "2", "3", "4", "5", "6":
		m.lane = lifecycle.Lane(name[0] - '1')
	default:
		return false
	}

	m.top = 0
	return true
}

// scrolled takes the keys that scroll a page; all says whether those that move a cursor elsewhere
// do so here, too.
func (m *Model) scrolled(name string, all bool) bool {
	page := max(m.height-6, 1)
	switch {
	case name == "J" || all && (name == "j" || name == "down"):
		m.top++
	case name == "K" || all && (name == "k" || name == "up"):
		m.top--
	case name == "pgdown" || name == "ctrl+d" || all && name == "space":
		m.top += page
	case name == "pgup" || name == "ctrl+u":
		m.top -= page
	case all && (name == "g" || name == "home"):
		m.top = 0
	case all && (name == "G" || name == "end"):
		m.top = len(m.page())
	default:
		return false
	}

	m.top = max(min(m.top, len(m.page())-m.room()), 0)
	return true
}

// sideways goes to the next lane on that side with cards.
func (m *Model) sideways(step int) {
	for l := m.lane + lifecycle.Lane(step); l >= 0 && l < lifecycle.Lanes; l += lifecycle.Lane(step) {
		if len(m.cards[l]) > 0 {
			m.lane = l
			return
		}
	}
}

// under is the lane at a cell of the screen, and the card there; -1 is none.
func (v view) under(x, y int) (l lifecycle.Lane, card int, ok bool) {
	above, head := len(v.news()), len(v.head())
	for _, t := range v.tabs() {
		if y == above+t.line && t.covers(x) {
			return t.lane, -1, true
		}
	}

	for _, c := range v.columns() {
		if y >= head && y < head+v.room() && c.covers(x) {
			return c.lane, v.rows(c, v.room())[y-head].card, true
		}
	}

	return 0, -1, false
}

// clicked chooses what is under the mouse; a card that was chosen is shown at length.
func (m Model) clicked(x, y int) (Model, tea.Cmd) {
	l, card, ok := m.under(x, y)
	again := l == m.lane && card == m.at[l]
	switch {
	case m.mode != browsing || !m.onColumns() || !ok:
		return m, nil
	case again:
		return m.browse("enter")
	case card >= 0:
		m.at[l] = card
	}

	m.hush()
	m.lane, m.top = l, 0
	return m, nil
}

// hush takes the notice away, but for that of an order under way.
func (m *Model) hush() {
	if !m.working && m.done == nil {
		m.notice = notice{}
	}
}

// wheeled moves the cursor of the lane under the mouse, or scrolls what is shown at length.
func (m Model) wheeled(x, y int, b tea.MouseButton) Model {
	l, _, ok := m.under(x, y)
	step := map[tea.MouseButton][2]string{tea.MouseWheelUp: {"up", "K"}, tea.MouseWheelDown: {"down", "J"}}[b]
	switch {
	case m.mode == helping || m.mode == browsing && (!ok || !m.onColumns()):
		m.scrolled(step[1], true)
	case m.mode == browsing && ok:
		m.lane = l
		m.moved(step[0])
	}

	return m
}

// edited is a line of text after a key.
func edited(line, name, text string) string {
	switch name {
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(line)
		return line[:len(line)-n]
	case "ctrl+u":
		return ""
	case "ctrl+w":
		line = strings.TrimRight(line, " ")
		return line[:strings.LastIndex(line, " ")+1]
	}

	return line + text
}

// typed puts a text into the line that is being typed.
func (m Model) typed(name, text string) Model {
	switch m.mode {
	case filtering:
		m.refilter(edited(m.filter, name, text))
	case reasoning:
		m.asked.Reason = edited(m.asked.Reason, name, text)
	}

	return m
}

// refilter keeps the cursor on its card if that is still there, else goes to the first that is.
func (m *Model) refilter(words string) {
	c, had := m.chosen()
	m.filter = words
	m.arrange()
	if had {
		m.follow(c.Issue)
	}

	if _, any := m.chosen(); !any {
		m.lane = m.firstLane()
	}
}

// act does what a key asks of the chosen card, or of its repository. What writes is asked first.
func (m Model) act(name string) (Model, tea.Cmd) {
	c, ok := m.chosen()
	switch {
	case (m.working || !m.loaded) && name != "o" && name != "y":
		return m, nil
	case name == "p":
		m.asked, ok = m.askPause()
	case !ok:
		m.notice = notice{text: "no card is selected", left: said}
		return m, nil
	case name == "o":
		return m, func() tea.Msg { return openedMsg{c.URL, m.desk.Open(c.URL)} }
	case name == "y":
		verb := "status" // of the command that somebody who looks at the card types next
		switch {
		case c.Plan:
			verb = "approve"
		case c.isOf(m.snapshot.Viewer):
			verb = "release"
		case c.Free:
			verb = "claim"
		}

		text := command(verb, c.Issue.String())
		m.notice = notice{text: "copied, if this terminal lets programs copy: " + text}
		return m, tea.SetClipboard(text)
	default:
		m.asked, ok = m.ask(name, c)
	}

	switch {
	case !ok:
		m.notice = notice{text: m.asked.text, left: said}
	case acts[m.asked.Act].reasoned:
		m.mode = reasoning
	default:
		m.mode = confirming
	}

	return m, nil
}

func (m Model) carryOut() (Model, tea.Cmd) {
	m.working = true
	m.notice = notice{text: m.asked.Command() + " …"}
	return m, func() tea.Msg {
		warnings, err := m.desk.Do(m.ctx, m.asked.Order)
		return didMsg{m.asked.Order, warnings, err}
	}
}
