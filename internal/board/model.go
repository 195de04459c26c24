package board

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
)

// Options say what a Model shows.
type Options struct {
	Name  string        // of the repository, or of all of them
	Every time.Duration // how often it reads again; 0 only when asked to
	Gone  func() bool   // whether the terminal is gone, so nobody is looking; nil is never
}

// A Model is the board in a terminal: the view, and what it is fed by. It is a value; Update
// returns the next one.
type Model struct {
	view
	ctx  context.Context
	desk Desk
	gone func() bool

	waited  time.Duration // since the last try to read
	ticked  time.Time
	reads   int    // which snapshot counts: an earlier one that comes in late does not
	working bool   // an order is under way
	done    *Order // carried out, and not borne out by a snapshot yet
	warned  []string
}

// A view is what is shown, and where the person is.
type view struct {
	name    string
	every   time.Duration
	palette palette

	width, height int
	snapshot      Snapshot
	age           time.Duration // of the snapshot, by this machine's clock
	loaded        bool          // there is a snapshot
	busy          bool          // it is being read
	stale         error
	remedy        string // of what made it stale
	failures      int    // snapshots that failed in a row

	cards   [lifecycle.Lanes][]Card // what is shown of the snapshot
	needs   [lifecycle.Lanes]int    // the width at which nothing of a lane is cut
	lane    lifecycle.Lane
	at      [lifecycle.Lanes]int // the chosen card of each lane
	from    [lifecycle.Lanes]int // the first one that is in sight
	filter  string
	mine    bool // only what the viewer holds or a person must look at
	sorted  int  // which of orders
	mode    mode
	details bool // the chosen card is shown at length
	top     int  // the first line that is shown of what is scrolled
	noMouse bool // clicks are the terminal's, to select text
	asked   question
	notice  notice
}

// A mode is what the keys mean.
type mode int

const (
	browsing mode = iota
	filtering
	confirming
	reasoning
	helping
)

// A notice is the last thing that happened.
type notice struct {
	text, hint string
	bad        bool
	left       time.Duration // until it goes away by itself; 0 is when a key is pressed
}

// said is how long a notice stays that nobody has to read.
const said = 15 * time.Second

// New returns a board that has not read anything yet. ctx ends every request it makes.
func New(ctx context.Context, d Desk, o Options) Model {
	m := Model{
		ctx:  ctx,
		desk: d,
		gone: o.Gone,
		view: view{
			name:    o.Name,
			every:   o.Every,
			palette: dark(),
			busy:    true,
			width:   80,
			height:  24,
		},
	}

	if m.gone == nil {
		m.gone = func() bool { return false }
	}

	return m
}

// Init asks for the first snapshot and for the terminal's background.
func (m Model) Init() tea.Cmd { return tea.Batch(m.read(), tick(), tea.RequestBackgroundColor) }

// Update is the board after a message.
func (m Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m, cmd := m.update(msg)
	for _, c := range m.columns() {
		m.from[c.lane], _ = m.first(c, m.room()-1)
	}

	return m, cmd
}

func (m Model) update(msg tea.Msg) (Model, tea.Cmd) {
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
		if msg.number == m.reads {
			m = m.took(msg)
		}

	case didMsg:
		m.working = false
		if msg.err == nil {
			m.done, m.warned, m.notice = &msg.order, msg.warnings, notice{text: "done, reading again …"}
		} else {
			m.notice = notice{text: msg.err.Error(), hint: m.desk.Hint(msg.err), bad: true}
		}

		return m.again() // after an error, too: it may be another board by now

	case openedMsg:
		m.notice = notice{text: "opened " + msg.url, left: said}
		if !msg.ok {
			m.notice = notice{text: "no browser here; the address is " + msg.url}
		}
	case tea.ResumeMsg:
		return m.refresh()
	case tea.PasteMsg:
		return m.typed("", printable.Line(msg.Content)), nil
	case tea.KeyPressMsg:
		return m.key(msg.String(), msg.Text)
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			return m.clicked(msg.X, msg.Y)
		}
	case tea.MouseWheelMsg:
		return m.wheeled(msg.X, msg.Y, msg.Button), nil
	}

	return m, nil
}

// refresh reads, unless it does already, or is about to.
func (m Model) refresh() (Model, tea.Cmd) {
	if m.busy || m.working {
		return m, nil
	}
	return m.again()
}

// again reads. What an earlier snapshot has to say no longer counts.
func (m Model) again() (Model, tea.Cmd) {
	m.busy, m.reads = true, m.reads+1
	return m, m.read()
}

func (m Model) ticks(at time.Time) (Model, tea.Cmd) {
	at = at.Round(0) // by the wall clock, which goes on while the machine sleeps
	if m.gone() {
		return m, tea.Quit
	}

	passed := time.Duration(0)
	if !m.ticked.IsZero() && at.After(m.ticked) {
		passed = at.Sub(m.ticked)
	}

	m.ticked = at
	m.age, m.waited = m.age+passed, m.waited+passed
	if m.notice.left > 0 {
		if m.notice.left -= passed; m.notice.left <= 0 {
			m.notice = notice{}
		}
	}

	if m.every > 0 && !m.busy && !m.working && m.waited >= m.pause() {
		next, read := m.again()
		return next, tea.Batch(read, tick())
	}

	return m, tick()
}

// longest is the most that is waited between two snapshots that fail.
const longest = 5 * time.Minute

// pause is how long to wait before the next snapshot: longer after each that failed, so that a
// GitHub in trouble is left alone.
func (v view) pause() time.Duration {
	return max(v.every, min(v.every<<min(v.failures, 8), longest))
}

// took puts a snapshot on the board. One that failed leaves the older one there, and says so.
func (m Model) took(msg readMsg) Model {
	m.busy, m.waited = false, 0
	m.stale = msg.err
	if msg.err != nil {
		m.failures++
		m.remedy = m.desk.Hint(msg.err)
		return m
	}

	chosen, had := m.chosen()
	m.failures, m.age, m.snapshot = 0, 0, msg.snapshot
	m.arrange()
	if !m.loaded {
		m.lane = m.firstLane()
	}

	m.loaded = true
	if had {
		m.follow(chosen.Issue)
	}

	if m.done == nil {
		return m
	}

	o := *m.done // carried out: the snapshot may show what came of it
	about := cmp.Or(o.Repo, m.ref(o.Card))
	m.notice = notice{left: said, text: fmt.Sprintf(acts[o.Act].done, about)}
	if !o.seen(m.snapshot) {
		m.notice = notice{text: "done: " + o.Command() + "; GitHub does not show it yet, u reads again"}
	}

	if len(m.warned) > 0 {
		m.notice.hint, m.notice.left = strings.Join(m.warned, "; "), 0
	}
	m.done, m.warned = nil, nil

	return m
}

// now is GitHub's time, carried on by this machine's.
func (v view) now() time.Time { return v.snapshot.Now.Add(v.age) }

// orders are the ways to sort the cards of a lane. The first is that of the snapshot.
var orders = []struct {
	name    string
	compare func(a, b Card) int
}{
	{"", func(Card, Card) int { return 0 }},
	{"by age", func(a, b Card) int { return a.begun().Compare(b.begun()) }},
	{"by end", func(a, b Card) int {
		return cmp.Or(yes(a.Until.IsZero())-yes(b.Until.IsZero()), a.Until.Compare(b.Until))
	}},
	{"by priority", func(a, b Card) int { return cmp.Compare(a.item.Priority, b.item.Priority) }},
	{"by number", func(a, b Card) int { return a.Issue.Compare(b.Issue) }},
}

// begun is when the hold began, or where there is none the issue.
func (c Card) begun() time.Time {
	if c.Since.IsZero() {
		return c.item.Created
	}
	return c.Since
}

// arrange puts the cards of the snapshot into their lanes, as far as they are shown, and every
// cursor on a card.
func (v *view) arrange() {
	v.cards = [lifecycle.Lanes][]Card{}
	for _, c := range v.snapshot.Cards {
		if c.matches(v.filter) && (c.Mine || !v.mine) {
			v.cards[c.Lane] = append(v.cards[c.Lane], c)
		}
	}

	for l, cards := range v.cards {
		slices.SortStableFunc(cards, orders[v.sorted].compare)
		v.at[l] = max(min(v.at[l], len(cards)-1), 0)
		v.needs[l] = v.need(lifecycle.Lane(l))
	}
}

// chosen is the card the cursor is on.
func (v view) chosen() (Card, bool) {
	cards := v.cards[v.lane]
	if n := v.at[v.lane]; n < len(cards) {
		return cards[n], true
	}
	return Card{}, false
}

// follow moves the cursor to where the issue is now, if it is anywhere.
func (v *view) follow(i claim.Issue) {
	for l, cards := range v.cards {
		if n := slices.IndexFunc(cards, func(c Card) bool { return c.Issue == i }); n >= 0 {
			v.lane, v.at[l] = lifecycle.Lane(l), n
		}
	}
}

// firstLane is where a person wants to look first: at work, else at whatever there is.
func (v view) firstLane() lifecycle.Lane {
	for _, l := range []lifecycle.Lane{
		lifecycle.LaneInFlight, lifecycle.LaneReady, lifecycle.LanePlan,
		lifecycle.LanePull, lifecycle.LanePeople, lifecycle.LaneDone,
	} {
		if len(v.cards[l]) > 0 {
			return l
		}
	}
	return lifecycle.LaneReady
}

// ref is the issue's name, as short as it can be.
func (v view) ref(c Card) string {
	ref := fmt.Sprintf("#%d", c.Issue.Number)
	if len(v.snapshot.Repos) > 1 {
		ref = c.Issue.Repo + ref
	}

	same := 0
	for _, r := range v.snapshot.Repos {
		if _, name, _ := strings.Cut(r, "/"); strings.EqualFold(name, c.Issue.Repo) {
			same++
		}
	}

	if same > 1 {
		ref = c.Issue.String()
	}

	if c.Request {
		ref = "PR " + ref
	}

	return ref
}
