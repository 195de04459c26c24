package board

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/label-state/label-state/internal/claim"
)

// A snapshot is everything the board shows, as it was at one moment. The zero value is an empty
// board.
type Snapshot struct {
	Cards  []Card
	Now    time.Time // GitHub's clock
	Viewer string    // login whose board it is; empty when not known
	Repos  []string  // owner/name of every repository that was read
	Pauses []Pause
	Unread []error         // repositories that are not shown, and why
	Cycles [][]claim.Issue // dependency cycles: none of these issues is ever ready again by itself
	Next   []string        // where no issue can be taken: what to do about it, a line each

	// Details is what is known of one of the issues at a moment, wrapped for a width in cells. nil
	// has none.
	Details func(i claim.Issue, now time.Time, width int) []string
}

// A Pause is a repository in which nothing may be claimed.
type Pause struct {
	Repo string // owner/name
	Text string // since when, by whom and why, in one line
	Here bool   // on this host only
}

// A Desk reads GitHub and carries out commands. Its errors are shown as they are, with the hint
// that Hint has for them.
type Desk interface {
	Read(ctx context.Context) (Snapshot, error)
	// Do carries out an order of the person at the keyboard by the command of Order.Args. It looks
	// again before it ends somebody's hold or answers a plan: a yes to what the person saw is not
	// yes to what has become of it. What it warns of is a line each.
	Do(ctx context.Context, o Order) (warnings []string, err error)
	// Open shows the address in a browser. ok is false when there is none.
	Open(url string) (ok bool)
	// Hint is the next command after an error, or nothing.
	Hint(err error) string
}

// What comes back from the desk.
type (
	readMsg struct {
		number   int
		snapshot Snapshot
		err      error
	}
	didMsg struct {
		order    Order
		warnings []string
		err      error
	}
	openedMsg struct {
		url string
		ok  bool
	}
	// A Tick is the clock of this machine: ages grow by it, and it is time to read again.
	Tick time.Time
)

func (m Model) read() tea.Cmd {
	return func() tea.Msg {
		r, err := m.desk.Read(m.ctx)
		return readMsg{m.reads, r, err}
	}
}

// tick makes ages grow, and asks again when it is time.
func tick() tea.Cmd {
	return tea.Tick(time.Second, func(at time.Time) tea.Msg { return Tick(at) })
}
