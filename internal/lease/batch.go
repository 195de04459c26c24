package lease

import "context"

// A Batcher is a store that can take the leases of several issues of one repository in one atomic
// step.
type Batcher interface {
	// AcquireAll is Acquire for all of the asks, which are of one repository and one worker: all
	// leases in the order of the asks, or none. *HeldError names the first that somebody has.
	AcquireAll(ctx context.Context, asks []Ask) ([]Lease, error)
}
