package ledger_test

import (
	"flag"
	"time"
)

var deep = flag.Bool("deep", false, "play the night's scenarios as well, and look for the shortest violations again")

// What a scenario may cost, in stories: by day, and in the night.
const (
	most      = 20_000
	nightMost = 20_000_000
)

// night are larger scenarios, for make interleavings.
func night() map[string]bound {
	pair := []role{worker("ann", release), worker("bob", release)}
	trio := []role{worker("ann"), worker("bob"), worker("cyd")}
	rival := []role{holder("ann", renew), sweeper("sue", 1), worker("bob")}
	dead := []role{holder("ann"), sweeper("sue", 1), sweeper("sid", 1), worker("bob")}

	return map[string]bound{
		"night: two workers, every fault": {scenario{
			cast:   pair,
			reads:  prefixes,
			within: forever,
			faults: budget{
				stale:  1,
				hidden: 1,
				lost:   1,
				crash:  1,
			},
			switches: 1,
		}, 10_000, 50_000},
		"night: three workers, inverted": {
			scenario{cast: trio, faults: budget{hidden: 2}, switches: 3},
			10_000,
			50_000,
		},
		"night: three workers, lost": {scenario{cast: trio, faults: budget{lost: 1}, switches: 5}, 10_000, 50_000},
		"night: heartbeat, sweep, rival": {scenario{
			cast:     rival,
			tick:     term,
			ticks:    3,
			switches: 3,
		}, 5_000, 30_000},
		"night: heartbeat lost, and rival": {scenario{
			cast:     rival,
			tick:     term,
			ticks:    3,
			faults:   budget{lost: 1},
			switches: 1,
		}, 10_000, 50_000},
		"night: two sweepers, crash": {scenario{
			cast:     dead,
			tick:     time.Minute,
			ticks:    4,
			faults:   budget{crash: 1},
			switches: 1,
		}, 1_000, 10_000},
	}
}
