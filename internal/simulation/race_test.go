//go:build race

package simulation

// Under the race detector a world takes ten times as long, and its schedule is the same.
const (
	perTest = 18 // seeds: two of each weather, one of them with references, one a fleet
	big     = 40 // workers
)
