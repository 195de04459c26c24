package board

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/label-state/label-state/internal/claim"
)

// A Reading is everything the board shows, as it was at one moment.
type Reading struct {
	Cards   []Card
	Now     time.Time       // GitHub's clock
	Paused  string          // why nothing is to be claimed, in one line; empty when that is not so
	Circles [][]claim.Issue // issues that wait for each other in a ring, so that none ever wakes
}

// A Desk does what the keys ask for. Its errors are shown as they are, with the hint that Hint has for them.
type Desk interface {
	Read(ctx context.Context) (Reading, error)
	// Claim takes the issue for the person at the keyboard; when a worker holds it, that hold ends by force.
	Claim(ctx context.Context, c Card) error
	// Release gives up the person's hold, and without one ends the worker's by force.
	Release(ctx context.Context, c Card) error
	// Open shows the address in a browser. ok is false when there is none.
	Open(url string) (ok bool)
	// Hint is the next command after an error, or nothing.
	Hint(err error) string
}

// What comes back from the desk.
type (
	readMsg struct {
		reading Reading
		err     error
	}
	wroteMsg struct {
		what string
		err  error
	}
	openedMsg struct {
		url string
		ok  bool
	}
	// A Tick is the clock of this machine: ages grow by it, and watching reads again.
	Tick time.Time
)

func (m Model) read() tea.Cmd {
	return func() tea.Msg {
		r, err := m.desk.Read(m.ctx)
		return readMsg{r, err}
	}
}

func (m Model) write(what string, c Card, do func(context.Context, Card) error) tea.Cmd {
	return func() tea.Msg { return wroteMsg{what, do(m.ctx, c)} }
}

func (m Model) open(url string) tea.Cmd {
	return func() tea.Msg { return openedMsg{url, m.desk.Open(url)} }
}

// tick makes ages grow and, while watching, asks again when it is time.
func tick() tea.Cmd {
	return tea.Tick(time.Second, func(at time.Time) tea.Msg { return Tick(at) })
}
