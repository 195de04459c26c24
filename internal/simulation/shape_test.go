package simulation

import (
	"math/rand/v2"
	"time"

	"github.com/label-state/label-state/internal/ledger"
)

// A shape is what a seed decides before anything happens.
type shape struct {
	number   uint64 // the seed
	workers  int
	issues   int
	hours    time.Duration
	trouble  weather
	shared   bool // one token for all workers
	strict   bool // git references decide, not the comments
	people   bool // who label, close, take over and open pull requests, in no rush
	action   bool // the Action hears of what they do, and sweeps; otherwise a sweep does
	rush     bool // holds are short and everybody comes back at once
	twins    bool // the first two workers claim with the same keys, as two processes of one run
	ttls     []time.Duration
	sweepers int
	settings ledger.Settings
	jumps    bool // GitHub's clock is set back now and then
	guests   bool // contributors take issues through the Action, and agents in the cloud are only assigned
}

// shapeOf draws a world: most are small, so that everybody meets; each fiftieth is a fleet of 20 on
// 50 issues.
func shapeOf(number uint64) shape {
	rng := rand.New(rand.NewPCG(number, 0))
	all := weathers()
	s := shape{
		number:   number,
		workers:  2 + rng.IntN(4),
		issues:   1 + rng.IntN(3),
		hours:    time.Duration(40+rng.IntN(80)) * time.Minute,
		trouble:  all[number%uint64(len(all))],
		shared:   rng.IntN(3) == 0,
		people:   rng.IntN(2) == 0,
		action:   rng.IntN(3) == 0,
		sweepers: 1 + rng.IntN(2),
		settings: ledger.DefaultSettings(),
	}

	if s.rush = rng.IntN(3) == 0 || s.trouble.late > 0 && rng.IntN(4) > 0; s.rush {
		s.workers, s.issues, s.hours = 4+rng.IntN(3), 1, s.hours/7
	}
	s.strict = number%20 == 7
	if number%50 == 17 {
		s.workers, s.issues, s.hours, s.strict, s.rush = 20, 50, 3*time.Hour, false, false
	}

	if number%6 == 2 {
		s.open()
	}

	s.settings.Rules.MaxAttempts, s.ttls = 8, []time.Duration{5 * time.Minute, 10 * time.Minute, 30 * time.Minute}
	if s.rush {
		s.ttls, s.people = []time.Duration{2 * time.Minute}, false
	}

	if s.rush || rng.IntN(2) == 0 { // issues that fail come back at once, for as often as they fail
		s.settings.Rules.MaxAttempts, s.settings.Rules.Rest = 0, nil
	}
	s.settings.Quiet = number%3 == 1 // no draw: the other seeds stay as they are
	s.settings.Minimize = number%5 == 2
	s.jumps = number%7 == 3
	s.twins = number%4 == 1 || number%40 == 7

	return s
}

// renewals is how often a worker renews one hold, at most.
func (s shape) renewals() int {
	if s.rush {
		return 1
	}
	return 5
}
