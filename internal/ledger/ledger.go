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
			Patience:   30,
			Reconciles: 12,
		},
		PushTimeout: time.Minute,
	}
}

// A Ledger runs the protocol against one GitHub. Each part has a noun's steps and uses parts that
// stand before it; the parts' exported methods are the ledger's.
type Ledger struct {
	*base
	*snapshots // what an issue's log says, and the verdict of it
	*labelling // labels, brought in line with the log
	*holds     // what a worker may do that has one
	*claims
	*pulls // pull requests that deliver a hold's work
	*releases
	*overrides // what people do to an issue past its worker
	*stages
	*plans
}

// base is what a ledger is made of. Every part has it.
type base struct {
	forge  Forge
	clock  Clock
	leases stored        // the lease store that decides; the zero value where the log does
	token  func() string // a fresh random word, 8 hexadecimal digits or more
	set    Settings
}

// New returns a ledger. token must return a different random word at each call; it ends up in
// nonces and firing ids.
func New(f Forge, c Clock, token func() string, s Settings) *Ledger {
	return assemble(base{
		forge: f,
		clock: c,
		token: token,
		set:   s,
	})
}

// assemble makes the parts of a ledger. A ledger with another lease store, or other settings, is
// assembled from a changed copy of the base: all of its parts then go by that one.
func assemble(b base) *Ledger {
	l := &Ledger{
		base:      &b,
		snapshots: &snapshots{&b},
		labelling: &labelling{&b},
		holds:     &holds{base: &b},
		plans:     &plans{&b},
	}
	l.holds.snapshots = l.snapshots
	l.claims = &claims{base: &b, snapshots: l.snapshots}
	l.pulls, l.releases, l.overrides, l.stages = &pulls{&b}, &releases{&b}, &overrides{&b}, &stages{&b}

	return l
}

// Rules returns the rules the ledger decides by.
func (bs *base) Rules() lifecycle.Rules { return bs.set.Rules }

// Here adds to a snapshot what only this host knows: its own pause of the repository. Whoever asks
// a verdict of snapshots of its own adds it first. The shared pause comes before the host's.
func (bs *base) Here(f lifecycle.Facts) lifecycle.Facts {
	if bs.set.PausedHere == nil || f.Pause != nil {
		return f
	}
	f.Pause, f.PauseErr = bs.set.PausedHere(f.Issue.In())
	return f
}

// elapsed is how much time has passed since start.
func (bs *base) elapsed(start time.Time) time.Duration { return clock.Passed(start, bs.clock.Now()) }

// backoff is how long to wait before read n (from 0): 250 ms doubling to 4 s.
func backoff(n int) time.Duration {
	return min(250*time.Millisecond<<min(max(n, 0), 10), 4*time.Second)
}

// Now is this machine's clock, for Snapshot.Taken.
func (bs *base) Now() time.Time { return bs.clock.Now() }
