package board

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/label-state/label-state/internal/claim"
)

// Options say what a Model shows.
type Options struct {
	Name  string        // of the repository, or of all of them
	Every time.Duration // how often it reads again; 0 only when asked to
	Light bool          // begin with the colours for a light background; the terminal may say otherwise
}

// A Model is the board in a terminal: what is shown, and where the person is. It is a value; Update returns the next one.
type Model struct {
	ctx     context.Context
	desk    Desk
	name    string
	every   time.Duration
	palette palette

	width, height int
	reading       Reading
	elapsed       time.Duration // since the reading, by this machine's clock
	ticked        time.Time
	loaded        bool // there is a reading
	busy          bool // a request is under way
	stale         error

	lane   Lane
	at     [lanes]int // the chosen card of each lane
	filter string
	mode   mode
	asked  question
	notice notice
}

// A mode is what the keys mean.
type mode int

const (
	browsing mode = iota
	filtering
	confirming
	helping
)

// A question is a write that waits for a yes.
type question struct {
	text string // what will happen
	done string // what has happened then
	card Card
	do   func(context.Context, Card) error
}

// A notice is the last thing that happened.
type notice struct {
	text, hint string
	bad        bool
}

// New returns a board that has not read anything yet. ctx ends every request it makes.
func New(ctx context.Context, d Desk, o Options) Model {
	m := Model{ctx: ctx, desk: d, name: o.Name, every: o.Every, palette: dark(), busy: true, width: 80, height: 24}
	if o.Light {
		m.palette = light()
	}
	return m
}

// Init asks for the first reading and for the terminal's background.
func (m Model) Init() tea.Cmd { return tea.Batch(m.read(), tick(), tea.RequestBackgroundColor) }

// Update is the board after a message.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.BackgroundColorMsg:
		m.palette = light()
		if msg.IsDark() {
			m.palette = dark()
		}
	case Tick:
		return m.ticks(time.Time(msg))
	case readMsg:
		return m.took(msg), nil
	case wroteMsg:
		return m.wrote(msg)
	case openedMsg:
		m.notice = notice{text: "opened " + msg.url}
		if !msg.ok {
			m.notice = notice{text: "no browser here; the address is " + msg.url}
		}
	case tea.KeyPressMsg:
		return m.key(msg.String(), msg.Text)
	}
	return m, nil
}

func (m Model) ticks(at time.Time) (tea.Model, tea.Cmd) {
	if !m.ticked.IsZero() && at.After(m.ticked) {
		m.elapsed += at.Sub(m.ticked)
	}
	m.ticked = at
	if m.every > 0 && !m.busy && m.elapsed >= m.every {
		m.busy = true
		return m, tea.Batch(m.read(), tick())
	}
	return m, tick()
}

// took puts a reading on the board. One that failed leaves the older one there, and says so.
func (m Model) took(msg readMsg) Model {
	m.busy, m.elapsed = false, 0
	m.stale = msg.err
	if msg.err != nil {
		m.notice = m.trouble(msg.err)
		return m
	}
	if m.notice.bad {
		m.notice = notice{}
	}
	chosen, had := m.chosen()
	m.reading = msg.reading
	if !m.loaded {
		m.lane = m.firstLane()
	}
	m.loaded = true
	if had {
		m.follow(chosen.Issue)
	}
	m.settle()
	return m
}

func (m Model) wrote(msg wroteMsg) (tea.Model, tea.Cmd) {
	if msg.err != nil {
		m.busy = false
		m.notice = m.trouble(msg.err)
		return m, nil
	}
	m.notice = notice{text: msg.what}
	m.busy = true
	return m, m.read()
}

func (m Model) trouble(err error) notice {
	return notice{text: err.Error(), hint: m.desk.Hint(err), bad: true}
}

// now is GitHub's time, carried on by this machine's.
func (m Model) now() time.Time { return m.reading.Now.Add(m.elapsed) }

// in are the cards of a lane that the filter lets through.
func (m Model) in(l Lane) []Card {
	return slices.DeleteFunc(slices.Clone(m.reading.Cards), func(c Card) bool { return c.Lane != l || !c.matches(m.filter) })
}

// chosen is the card the cursor is on.
func (m Model) chosen() (Card, bool) {
	cards := m.in(m.lane)
	if n := m.at[m.lane]; n < len(cards) {
		return cards[n], true
	}
	return Card{}, false
}

// follow moves the cursor to where the issue is now, if it is anywhere.
func (m *Model) follow(i claim.Issue) {
	for l := range lanes {
		if n := slices.IndexFunc(m.in(l), func(c Card) bool { return c.Issue == i }); n >= 0 {
			m.lane, m.at[l] = l, n
			return
		}
	}
}

// settle keeps every cursor on a card.
func (m *Model) settle() {
	for l := range lanes {
		m.at[l] = max(min(m.at[l], len(m.in(l))-1), 0)
	}
}

// firstLane is where a person wants to look first: at work, else at whatever there is.
func (m Model) firstLane() Lane {
	for _, l := range []Lane{InFlight, Ready, Planned, Pull, People, Done} {
		if len(m.in(l)) > 0 {
			return l
		}
	}
	return Ready
}

// repos is how many repositories are on the board.
func (m Model) repos() int {
	seen := map[string]bool{}
	for _, c := range m.reading.Cards {
		seen[c.Issue.Slug()] = true
	}
	return len(seen)
}

// ref is the issue's name, as short as it can be.
func (m Model) ref(c Card) string {
	if m.repos() > 1 {
		return fmt.Sprintf("%s#%d", c.Issue.Repo, c.Issue.Number)
	}
	return fmt.Sprintf("#%d", c.Issue.Number)
}
