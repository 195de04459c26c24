package lease

import "context"

// A Pusher is a store whose leases are references of the issue's own repository, so that one atomic
// update can move the lease and a branch together: then a push lands while the lease is its
// pusher's, or not at all, however late it arrives (stores.md#references).
type Pusher interface {
	// Push returns the step that a push under l takes along. It reads the lease and moves nothing;
	// one that is no longer l's is ErrLost.
	Push(ctx context.Context, l Lease) (Step, error)
}

// A Step is a move of a reference to a commit that does not exist yet: a child of Before, on its
// tree.
type Step struct {
	Ref     string // full name
	Before  string // commit that the reference must still be at
	Message string // of the child, plain ASCII
}
