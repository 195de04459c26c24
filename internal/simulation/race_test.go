//go:build race

package simulation

// Under the race detector a world takes ten times as long, and its schedule is the same.

// seedsPerRun is how many worlds TestSeeds plays: two of each weather, one of them with references, one a fleet.
func seedsPerRun() uint64 { return 18 }

// crowd is how many workers the load tests have.
func crowd() int { return 40 }
