package outgoing

import (
	"bytes"
	"errors"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// The two colours of a walk: reachable from what is pushed, reachable from what the remote has.
const (
	local = 1 << iota
	remote
)

// slop is how many commits a walk looks at beyond the point where dates say it is done, for histories whose clocks were
// wrong. Smaller histories are answered exactly whatever their dates.
const slop = 256

// A walk colours a history from both sides.
type walk struct {
	history history
	keep    func([]byte) bool
	limit   func(paint uint8) error // asked before a commit is read for the sake of a colour

	nodes   map[plumbing.Hash]*node
	queue   []*node         // a heap, the first by rank on top
	found   []*node         // outgoing when their turn came, in that order
	moved   bool            // found has changed, or the colour of one in it
	open    int             // queued and outgoing
	newest  int64           // date of the newest commit that the remote has, outside the commit-graph
	reached int64           // date of the commit whose turn it was last
	stale   int             // queued again, since colours came after their turn
	sent    []plumbing.Hash // pushed commits
	forks   bool            // an outgoing commit with several parents was met
}

func newWalk(h history, keep func([]byte) bool, limit func(paint uint8) error) *walk {
	return &walk{history: h, keep: keep, limit: limit, nodes: map[plumbing.Hash]*node{}}
}

// node returns the node of a commit, which may be new and not loaded.
func (w *walk) node(oid plumbing.Hash) *node {
	n := w.nodes[oid]
	if n == nil {
		n = &node{oid: oid}
		w.nodes[oid] = n
	}
	return n
}

// mark colours a commit as the remote's without reading it.
func (w *walk) mark(oid plumbing.Hash) { w.paint(w.node(oid), remote) }

func (w *walk) paint(n *node, paint uint8) {
	was := n.outgoing()
	n.paint |= paint
	if was && !n.outgoing() {
		w.moved = true
		if n.queued {
			w.open--
		}
	}
}

// push starts at what is pushed, tags peeled. A tag of something that is no commit sends none.
func (w *walk) push(oid plumbing.Hash) error {
	n, err := w.peel(oid, local)
	if errors.Is(err, errNotCommit) {
		return nil
	}
	if err != nil {
		return err
	}
	w.sent = append(w.sent, n.oid)
	return w.enter(n, local)
}

// hide starts at what the remote has, tags peeled, and reports whether that is a commit in the repository.
func (w *walk) hide(oid plumbing.Hash) (bool, error) {
	if done, err := w.history.hide(oid); done || err != nil {
		return done, err
	}
	n := w.nodes[oid]
	if n != nil && n.passed && n.paint&remote != 0 {
		return true, nil
	}
	n, err := w.peel(oid, remote)
	if errors.Is(err, plumbing.ErrObjectNotFound) || errors.Is(err, errNotCommit) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if n.rank.generation > 0 {
		return w.history.hide(n.oid)
	}
	w.newest = max(w.newest, n.rank.date)
	w.paint(n, remote)
	w.enqueue(n)
	for _, oid := range n.parents {
		if parent := w.node(oid); !parent.passed {
			w.paint(parent, remote)
		}
	}
	return true, nil
}

// peel loads a commit, or the commit that a tag, or a tag of tags, is of.
func (w *walk) peel(oid plumbing.Hash, paint uint8) (*node, error) {
	for range 100 {
		n := w.node(oid)
		err := w.load(n, paint)
		var tag *tagError
		if !errors.As(err, &tag) {
			return n, err
		}
		oid = tag.target
	}
	return nil, errDamaged
}

// enter adds colours to a commit and queues it if that matters to its ancestors. Of commits in a commit-graph the history
// keeps itself which the remote has.
func (w *walk) enter(n *node, paint uint8) error {
	if paint&remote != 0 {
		if done, err := w.history.hide(n.oid); done || err != nil {
			return err
		}
	}
	if err := w.load(n, paint); err != nil {
		return err
	}
	before := n.paint
	w.paint(n, paint)
	if !n.passed || (n.paint != before && before&remote == 0) {
		w.enqueue(n)
	}
	return nil
}

func (w *walk) enqueue(n *node) {
	if n.queued {
		return
	}
	n.queued = true
	if n.outgoing() {
		w.open++
	}
	if n.passed {
		w.stale++
	}
	h := append(w.queue, n)
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !h[i].rank.before(h[parent].rank) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	w.queue = h
}

func (w *walk) pop() *node {
	h := w.queue
	n, last := h[0], len(h)-1
	h[0], h[last] = h[last], nil
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].rank.before(h[child].rank) {
			child++
		}
		if !h[child].rank.before(h[i].rank) {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	w.queue = h
	n.queued = false
	if n.outgoing() {
		w.open--
	}
	if n.passed {
		w.stale--
	}
	return n
}

// load reads a commit, once, for the sake of a colour. The message is judged now, while it is at hand, unless the remote
// has the commit anyway.
func (w *walk) load(n *node, paint uint8) error {
	if n.loaded {
		return nil
	}
	if err := w.limit(paint); err != nil {
		return err
	}
	facts, err := w.history.commit(n.oid)
	if err != nil {
		return err
	}
	n.loaded, n.parents, n.rank = true, facts.parents, facts.rank
	if facts.hasMessage && (n.paint|paint)&remote == 0 {
		w.judge(n, facts.message, facts.cut)
	}
	return nil
}

func (w *walk) judge(n *node, message []byte, cut bool) {
	n.judged = true
	n.wanted = w.keep == nil || cut || w.keep(message)
	if n.wanted {
		n.message, n.cut = bytes.Clone(message), cut // the buffer is used again
	}
}

// turn takes note of a commit that leaves the queue to colour its parents.
func (w *walk) turn(n *node) {
	if n.outgoing() && !n.passed {
		w.found = append(w.found, n)
		w.moved = true
		w.forks = w.forks || len(n.parents) > 1
	}
	n.passed = true
}

// step takes the next commit and colours its parents. A parent that is missing ends what the remote has, as in git, and
// is an error in what is pushed.
func (w *walk) step() error {
	n := w.pop()
	w.reached = n.rank.date
	if err := w.recall(n); err != nil {
		return err
	}
	if n.rank.generation > 0 && n.paint&remote != 0 {
		return nil
	}
	w.turn(n)
	for _, oid := range n.parents {
		err := w.enter(w.node(oid), n.paint)
		if errors.Is(err, plumbing.ErrObjectNotFound) && n.paint&remote != 0 {
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recall paints a commit of a commit-graph that the remote has.
func (w *walk) recall(n *node) error {
	if n.rank.generation == 0 || !n.outgoing() {
		return nil
	}
	hidden, err := w.history.hidden(n.oid)
	if hidden {
		w.paint(n, remote)
	}
	return err
}

// descend follows the pushed side alone, for at most so many commits, and reports whether it met marked commits, or the
// beginning, everywhere. What it has found then is all that leaves, and perhaps more.
func (w *walk) descend(most int) (bool, error) {
	for ; most > 0 && w.open > 0; most-- {
		n := w.pop()
		if !n.outgoing() {
			continue
		}
		w.turn(n)
		for _, oid := range n.parents {
			parent := w.node(oid)
			if parent.paint&remote != 0 {
				parent.paint |= local
				continue
			}
			if err := w.enter(parent, local); err != nil {
				return false, err
			}
		}
	}
	return w.open == 0, nil
}

// outgoing lists the commits that leave, newest first as far as ranks tell.
func (w *walk) outgoing() []*node {
	return slices.DeleteFunc(slices.Clone(w.found), func(n *node) bool { return !n.outgoing() })
}

// judgeAll judges the outgoing commits whose messages the history did not have at hand.
func (w *walk) judgeAll(read func(plumbing.Hash) (rawCommit, error)) error {
	for _, n := range w.found {
		if n.judged || !n.outgoing() {
			continue
		}
		if err := w.limit(local); err != nil {
			return err
		}
		c, err := read(n.oid)
		if err != nil {
			return err
		}
		w.judge(n, c.message, c.cut)
	}
	return nil
}
