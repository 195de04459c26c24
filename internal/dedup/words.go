package dedup

import (
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/printable"
)

// Bounds of other people's text in characters: of a title, of a clause or a URL, and of what a
// program is given.
const (
	longestTitle  = 100
	longestClause = 300
	longestGiven  = 1000
)

// title, clause and strip make other people's text fit for one line.
func title(s string) string  { return printable.Short(s, longestTitle) }
func clause(s string) string { return printable.Short(s, longestClause) }
func strip(s string) string  { return printable.Short(s, longestGiven) }

// lostText says how a worker's own claim came to stand no more.
func lostText(c claim.Claim, t claim.Terms, at clock) string {
	your := "your hold (run " + c.Record.Worker.FiringID + ") "
	if c.Overruled {
		return your + "is no longer valid: the lease store released it"
	}
	if c.End == nil {
		end, _ := c.Until(t)
		return your + "expired at " + at.at(end)
	}

	text := your + "ended at " + at.at(c.End.At)
	if c.End.Outcome != "" {
		text += ": " + c.End.Outcome
	}

	if c.End.By != "" {
		text += " by " + c.End.Who()
	}

	return text
}

// A clock writes times as they are read beside now: in UTC, as everywhere in the program, and
// without the day when it is the same.
type clock struct{ now time.Time }

func (c clock) at(t time.Time) string {
	t = t.UTC()
	if t.Format(time.DateOnly) == c.now.UTC().Format(time.DateOnly) {
		return t.Format("15:04 UTC")
	}
	return printable.Minute(t)
}
