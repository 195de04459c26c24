//go:build !race

package simulation

import "github.com/label-state/label-state/internal/sample"

// seedsPerRun is how many worlds TestSeeds plays: two of each weather, one of them with references, one a fleet; or all that hold
// the rules of the protocol in place (make mutants).
func seedsPerRun() uint64 { return sample.Size[uint64](18, 100) }

// crowd is how many workers the load tests have.
func crowd() int { return sample.Size(40, 200) }
