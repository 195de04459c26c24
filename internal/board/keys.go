package board

import (
	"fmt"
	"slices"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// keyRows are the keys for people, as the help shows them.
var keyRows = [][2]string{
	{"← → ↑ ↓ or h l k j", "move"},
	{"g G", "first and last card of the column"},
	{"/", "filter: every word must be on the card; esc clears it"},
	{"c", "claim for yourself; what a worker holds, by force"},
	{"r", "release what a person holds; what a worker holds, by force"},
	{"o or enter", "open the issue in the browser"},
	{"u", "read again"},
	{"?", "this help"},
	{"q", "quit"},
}

func (m Model) key(name, text string) (tea.Model, tea.Cmd) {
	if name == "ctrl+c" {
		return m, tea.Quit
	}
	switch m.mode {
	case filtering:
		return m.typed(name, text), nil
	case confirming:
		return m.answered(name)
	case helping:
		m.mode = browsing
		return m, nil
	}
	return m.browse(name)
}

func (m Model) browse(name string) (tea.Model, tea.Cmd) {
	if m.moved(name) {
		return m, nil
	}
	switch name {
	case "q":
		return m, tea.Quit
	case "?":
		m.mode = helping
	case "/":
		m.mode = filtering
	case "esc":
		m.notice = notice{}
		m.refilter("")
	case "u", "f5":
		if m.busy {
			return m, nil
		}
		m.busy = true
		return m, m.read()
	case "c", "r", "o", "enter":
		return m.act(name)
	}
	return m, nil
}

// moved takes the keys that move the cursor.
func (m *Model) moved(name string) bool {
	last := max(len(m.in(m.lane))-1, 0)
	at := &m.at[m.lane]
	switch name {
	case "left", "h":
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
	default:
		return false
	}
	return true
}

// sideways goes to the next lane on that side that is shown.
func (m *Model) sideways(step int) {
	shown := m.shown()
	for l := m.lane + Lane(step); l >= 0 && l < lanes; l += Lane(step) {
		if slices.Contains(shown, l) {
			m.lane = l
			return
		}
	}
}

// typed edits the filter.
func (m Model) typed(name, text string) Model {
	switch name {
	case "enter":
		m.mode = browsing
	case "esc":
		m.mode = browsing
		m.refilter("")
	case "backspace":
		_, n := utf8.DecodeLastRuneInString(m.filter)
		m.refilter(m.filter[:len(m.filter)-n])
	default:
		m.refilter(m.filter + text)
	}
	return m
}

// refilter keeps the cursor on its card if that is still there, else goes to the first that is.
func (m *Model) refilter(words string) {
	c, had := m.chosen()
	m.filter = words
	if had {
		m.follow(c.Issue)
	}
	m.settle()
	if _, any := m.chosen(); !any {
		m.lane = m.firstLane()
	}
}

// act does what a key asks of the chosen card. What writes is asked first.
func (m Model) act(name string) (tea.Model, tea.Cmd) {
	c, ok := m.chosen()
	switch {
	case !ok:
		m.notice = notice{text: "no card is chosen"}
		return m, nil
	case name == "o" || name == "enter":
		return m, m.open(c.URL)
	case name == "c":
		m.asked, ok = m.claiming(c)
	default:
		m.asked, ok = m.releasing(c)
	}
	if !ok {
		m.notice = notice{text: m.asked.text, bad: true}
		return m, nil
	}
	m.mode = confirming
	return m, nil
}

func (m Model) claiming(c Card) (question, bool) {
	q := question{card: c, do: m.desk.Claim, done: m.ref(c) + " is yours"}
	switch {
	case c.Lane == Done:
		q.text = m.ref(c) + " is done: there is nothing to claim"
		return q, false
	case c.Lapsed:
		q.text = fmt.Sprintf("claim %s for yourself? the lease of %s is over", m.ref(c), c.Holder)
	case c.Holder != "":
		q.text = fmt.Sprintf("take %s from %s by force and keep it for yourself?", m.ref(c), c.Holder)
	default:
		q.text = fmt.Sprintf("claim %s for yourself? workers will leave it alone", m.ref(c))
	}
	return q, true
}

func (m Model) releasing(c Card) (question, bool) {
	q := question{card: c, do: m.desk.Release, done: m.ref(c) + " is released"}
	switch {
	case c.Person:
		q.text = fmt.Sprintf("release %s, so that workers may take it?", m.ref(c))
	case c.Holder != "":
		q.text = fmt.Sprintf("end the hold of %s on %s by force?", c.Holder, m.ref(c))
	default:
		q.text = "nobody holds " + m.ref(c)
		return q, false
	}
	return q, true
}

// answered takes the answer to a question. Everything but yes is no.
func (m Model) answered(name string) (tea.Model, tea.Cmd) {
	m.mode = browsing
	if name != "y" && name != "Y" {
		m.notice = notice{text: "nothing was done"}
		return m, nil
	}
	m.busy = true
	m.notice = notice{text: "asking GitHub …"}
	return m, m.write(m.asked.done, m.asked.card, m.asked.do)
}
