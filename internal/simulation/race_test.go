//go:build race

package simulation

// Under the race detector a world takes ten times as long, and its schedule is the same.

// seedsPerRun is how many worlds TestSeeds plays: one of each weather, one of them with references.
func seedsPerRun() uint64 { return 9 }

// crowd is how many workers the load tests have.
func crowd() int { return 20 }
