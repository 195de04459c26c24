package ledger

import (
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// A Clock tells elapsed time and waits. Its Now is compared only with its own earlier Now;
// what is old on GitHub is judged by server time.
type Clock interface {
	Now() time.Time
	Sleep(ctx context.Context, d time.Duration) error
}

// Settings are the ledger's parameters (spec.md#parameters).
type Settings struct {
	protocol.Config               // what the operations go by
	PushTimeout     time.Duration // a fence with less lease left than this refuses
	Minimize        bool          // sweeps minimize the comments of ended holds
	DryRun          bool          // an operation ends with an *Unsent where it would write
	Run             string        // what made-up firing ids begin with; empty is the time

	// PausedHere returns this host's own pause of a repository, nil when there is none. Without it
	// there is none.
	PausedHere func(claim.Repo) (*lifecycle.Pause, error)
}

// DefaultSettings are the protocol's numbers.
func DefaultSettings() Settings {
	return Settings{
		Config: protocol.Config{
			Rules:      lifecycle.DefaultRules(),
			Settle:     2 * time.Second,
			Margin:     10 * time.Second,
			MaxReads:   30,
			Reconciles: 12,
		},
		PushTimeout: time.Minute,
	}
}

// A Ledger runs the protocol against one GitHub. One with another lease store, or other settings,
// is a changed copy.
type Ledger struct {
	forge  Forge
	clock  Clock
	leases stored        // the lease store that decides; the zero value where the log does
	token  func() string // a fresh random word, 8 hexadecimal digits or more
	set    Settings
	told   *tellings
}

// New returns a ledger. token must return a different random word at each call; it ends up in
// nonces and firing ids.
func New(f Forge, c Clock, token func() string, s Settings) *Ledger {
	return &Ledger{
		forge: f,
		clock: c,
		token: token,
		set:   s,
		told:  &tellings{holds: map[claim.Issue]told{}},
	}
}

// Rules returns the rules the ledger decides by.
func (l *Ledger) Rules() lifecycle.Rules { return l.set.Rules }

// Here adds to a snapshot what only this host knows: its own pause of the repository. Whoever asks
// a verdict of snapshots of its own adds it first. The shared pause comes before the host's.
func (l *Ledger) Here(f lifecycle.Facts) lifecycle.Facts {
	if l.set.PausedHere == nil || f.Pause != nil {
		return f
	}
	f.Pause, f.PauseErr = l.set.PausedHere(f.Issue.In())
	return f
}

// elapsed is how much time has passed since start.
func (l *Ledger) elapsed(start time.Time) time.Duration { return clock.Passed(start, l.clock.Now()) }

// Now is this machine's clock, for Snapshot.Taken.
func (l *Ledger) Now() time.Time { return l.clock.Now() }
