// Package gitref is a lease store made of git references on GitHub itself: a chain of commits for
// each issue, advanced by compare-and-swap (stores.md#references).
//
// The reference refs/label-state/lease/N of the issue's own repository points at the newest commit
// of the chain. Every commit carries the whole state in its message, on the empty tree, and is made
// by the API without an author, so that its date is the server's. One step is one new commit and
// one swap of the reference from its parent to it: of any number of clients one succeeds, whatever
// any of them has read before.
//
// What it promises: one holder at a time and tokens that grow, under stale reads, lost answers and
// requests that arrive late, with any clock on the client; no attempt comes back that was given
// up, as long as GitHub can still be reached. It needs contents: write, and whoever has that can
// also destroy the reference; tokens then start again.
package gitref

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
)

// Refs is what the store needs of GitHub. Errors that certainly changed nothing have a method
// Rejected that reports true, and those that a better token would not get a method Forbidden that
// does.
type Refs interface {
	// GetRef reads a reference of the issue's repository, given by its full name. None is a Tip
	// without an OID; the answer may be late.
	GetRef(ctx context.Context, i claim.Issue, name string) (Tip, error)
	// CreateCommit makes a commit on the empty tree, with at most one parent, dated by the server.
	CreateCommit(ctx context.Context, i claim.Issue, parent, message string) (Commit, error)
	// SwapRefs moves references of one repository in one step, all of them or none. If one is not
	// where its swap says, the error is ErrMoved, or ErrRefused from a server that does not say
	// why; if the server has no such step, ErrNoSwap. All name the repository's id.
	SwapRefs(ctx context.Context, i claim.Issue, all ...Swap) error
	// CanSwapRefs asks whether the server has the step of SwapRefs. If it has not, the error is
	// ErrNoSwap.
	CanSwapRefs(ctx context.Context) error
	// RefNames lists the references whose full names begin with prefix.
	RefNames(ctx context.Context, i claim.Issue, prefix string) ([]string, error)
	// ShownRef returns a reference as something else that was read lately has shown it. That may be
	// late, like every answer, but is never from before an own write. known is false if nothing has
	// shown it; no request is made.
	ShownRef(i claim.Issue, name string) (t Tip, known bool)
}

// A Tip is a reference as it was read.
type Tip struct {
	OID     string // of the commit; empty when there is no such reference
	Message string
	Date    time.Time // of the commit
	Now     time.Time // by the server's clock, when it answered
	RepoID  string    // global id of the repository, for SwapRefs
}

// A Commit is one that was just made.
type Commit struct {
	OID  string
	Date time.Time // by the server's clock
}

// A Swap moves the reference Name from Before, empty when it must not exist, to After, whose parent
// is Before.
type Swap struct {
	Name          string
	Before, After string
	RepoID        string // from an earlier Tip of the repository
}

// ErrMoved is a reference that is not where a swap expected it.
var ErrMoved = errors.New("the reference has moved")

// ErrRefused is a swap that the server will not make, for whatever reason. Nothing was changed.
var ErrRefused = errors.New("the reference may not be moved")

// ErrNoSwap is a server that cannot compare and swap references. Nothing was changed.
var ErrNoSwap = errors.New("this server cannot move references from one given commit to another in one step")

// DefaultGrace is how much longer than its ttl a lease is left alone (stores.md#references).
const DefaultGrace = time.Minute

// Options adjust a store. The zero Options are right for GitHub.
type Options struct {
	// Grace is how much longer than its ttl a lease is left alone; 0 is DefaultGrace. It makes up
	// for dates in whole seconds that different machines at GitHub may have written.
	Grace time.Duration
	// Sleep waits between tries, or returns the context's error as soon as it is done; nil waits by
	// the machine's clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// A Store keeps leases in references. It may be used from any goroutine.
type Store struct {
	refs  Refs
	grace time.Duration
	sleep func(context.Context, time.Duration) error
}

// New returns a store. It asks GitHub for nothing.
func New(refs Refs, o Options) *Store {
	s := &Store{refs: refs, grace: o.Grace, sleep: o.Sleep}
	if s.grace == 0 {
		s.grace = DefaultGrace
	}

	if s.sleep == nil {
		s.sleep = clock.Machine{}.Sleep
	}

	return s
}

// RefName is the full name of the reference that holds the issue's chain.
func RefName(i claim.Issue) string { return fmt.Sprintf("%s%d", prefix, i.Number) }

// prefix is how the names of all references with a chain begin.
const prefix = "refs/label-state/lease/"
