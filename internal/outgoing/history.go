package outgoing

import "github.com/go-git/go-git/v5/plumbing"

// A node is a commit that a walk has met.
type node struct {
	oid     plumbing.Hash
	parents []plumbing.Hash
	rank    rank
	paint   uint8
	loaded  bool // parents and rank are known
	queued  bool
	passed  bool   // its colours were handed to its parents
	wanted  bool   // Keep wants the message
	judged  bool   // the message was looked at
	message []byte // when wanted
	cut     bool   // there is more of it
}

// outgoing reports whether, for all the walk knows so far, the commit leaves.
func (n *node) outgoing() bool { return n.paint == local }

// A rank orders a walk: children before parents. Inside a commit-graph, generation is above 0 and greater than that of
// every parent; outside it only the date is known, which clocks may have wrong. A commit inside has all its ancestors
// inside.
type rank struct {
	generation uint64
	date       int64
}

func (r rank) before(other rank) bool {
	if r.generation == 0 || other.generation == 0 {
		return r.generation == 0 && (other.generation != 0 || r.date > other.date)
	}
	return r.generation > other.generation
}

// A history is what a walk goes through.
type history interface {
	// commit returns the parents, rank and, unless it comes from a commit-graph, message of a commit; the message is valid until the next
	// call. An annotated tag is a *tagError.
	commit(oid plumbing.Hash) (commitFacts, error)
	// hide is told of a commit that the remote has. When it reports false, which it does for all commits that are not in
	// a commit-graph, the walk itself follows the commit.
	hide(oid plumbing.Hash) (bool, error)
	// hidden reports whether the remote has a commit of the commit-graph because of those that were hidden.
	hidden(oid plumbing.Hash) (bool, error)
}

// A tagError says that an object is an annotated tag, and of what.
type tagError struct{ target plumbing.Hash }

func (e *tagError) Error() string { return "tag of " + e.target.String() }

type commitFacts struct {
	parents    []plumbing.Hash
	rank       rank
	message    []byte
	cut        bool // there is more of it
	hasMessage bool
}
