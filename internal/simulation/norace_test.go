//go:build !race

package simulation

import "github.com/label-state/label-state/internal/sample"

// seedsPerRun is how many worlds TestSeeds plays: one of each weather, one of them with references; or all that hold the rules of the
// protocol in place (make mutants), fleets among them.
func seedsPerRun() uint64 { return sample.Size[uint64](6, 100) }

// crowd is how many workers the load tests have.
func crowd() int { return sample.Size(20, 200) }
