//go:build !race

package simulation

import "github.com/label-state/label-state/internal/sample"

// seedsPerRun is how many worlds TestSeeds plays: a few; or all that hold the rules of the protocol
// in place (make mutants), fleets and references among them.
func seedsPerRun() uint64 { return sample.Size[uint64](4, 100) }

// crowd is how many workers the load tests have.
func crowd() int { return sample.Size(14, 200) }
