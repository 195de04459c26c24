// Package lease lets one atomic step decide who holds an issue.
//
// The comments protocol needs no store: it is the default. A repository whose fleet wants the
// strict guarantee, or outgrows the API budget of the comments, names a store in its configuration;
// then the store decides and the log is its readable mirror (stores.md#lease-stores).
package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

// A Store decides. Every method is one attempt at one atomic step; an error that is neither
// *HeldError nor ErrLost means that nobody knows whether the step was taken.
type Store interface {
	// Acquire takes the lease when nobody has it, or whoever had it let it run out. The token is
	// larger than that of every earlier lease of the issue. *HeldError names who has it. Asked
	// again by the process that has it, as after a lost answer, it renews. Another process of the
	// same worker gets it only by naming its token, and with a new one (Ask.Takes).
	Acquire(ctx context.Context, a Ask) (Lease, error)
	// Renew extends a lease that is still l's; otherwise ErrLost.
	Renew(ctx context.Context, l Lease) (Lease, error)
	// Release releases the lease if it is still l's; one that is gone is a success, one that is
	// somebody else's stays as it is, and that is a success too. Without a token l is whatever
	// lease the process has: so gives up who never heard how its Acquire ended. That Acquire may
	// arrive after the Release, and then leaves no lease of the process.
	Release(ctx context.Context, l Lease) error
	// Look returns the lease that stands. Its answer may be late; it decides nothing.
	Look(ctx context.Context, i claim.Issue) (l Lease, held bool, err error)
}

// An Ask is what a process of a worker wants.
type Ask struct {
	Issue  claim.Issue
	Worker claim.Worker
	Nonce  string        // of the worker's process that asks
	TTL    time.Duration // above zero
	// token of another process's lease of the same worker, to take over; what becomes of it without
	// an answer stays
	Takes int64
	// a token that was given out for the issue, as far as the caller knows: a new one is larger, also
	// where the store has lost what it knew; at most MaxAbove
	Above int64
}

// MaxAbove is the largest Ask.Above that counts, far beyond what any issue comes to.
const MaxAbove = 1 << 32

// Floor is the token than which a new one has to be larger: Above, as far as it counts.
func (a Ask) Floor() int64 { return min(a.Above, MaxAbove) }

// Bare is whatever lease the process that asks may have got.
func (a Ask) Bare() Lease {
	return Lease{
		Issue:  a.Issue,
		Worker: a.Worker,
		Nonce:  a.Nonce,
		TTL:    a.TTL,
	}
}

// Of reports whether the lease is of the process that asks.
func (a Ask) Of(l Lease) bool { return a.Worker == l.Worker && a.Nonce == l.Nonce }

// A Lease is a hold as a store has it.
type Lease struct {
	Issue   claim.Issue
	Worker  claim.Worker
	Nonce   string // of the worker's process that has it; empty when it gave none
	TTL     time.Duration
	Token   int64     // fencing token
	Expires time.Time // by the store's clock; zero when it does not tell
	Tip     string    // the store's own name for this state of the lease
}

// A HeldError is the store's no.
type HeldError struct{ Lease Lease }

func (e *HeldError) Error() string { return fmt.Sprintf("held by %s", e.Lease.Worker) }

// ErrLost is a lease that is somebody else's or nobody's by now.
var ErrLost = errors.New("the lease is lost")
