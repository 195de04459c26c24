package outgoing

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/label-state/label-state/internal/git"
)

const (
	// near is how many commits are looked at in the hope that the push is small and ends at a likely tip. What is looked at
	// beyond the push is wasted.
	near = 4
	// someHidden is after how many commits that the remote has a look ahead is taken; if there are to be more than maxHidden,
	// git, which follows commits faster but has to be started, takes over.
	someHidden = 200
	maxHidden  = 2500
	// maxPushed is after how many commits that seem to leave git takes over, so that memory has a bound.
	maxPushed = 20_000
)

// errNotCommit: an object is a tree or a blob.
var errNotCommit = errors.New("not a commit")

// tooFar says that the walk is long, and what to ask git instead.
type tooFar struct{ question }

func (e *tooFar) Error() string { return "walk history: git is faster from here" }

// A native reader reads one repository for one push.
type native struct {
	push    Push
	refs    *refStore
	objects *objectStore
	past
	names  []string // of the remotes whose references count
	likely []plumbing.Hash
	narrow bool // what leaves as far as the likely tips tell is known
	ask    question

	pushedReads, hiddenReads int
	most                     int // of the latter, before it is asked whether to go on
}

// readNative is Commits for the first reader. Its errors mean that git should be asked. A panic of a decoder or a fault in a
// mapped file, as damage may cause, is an error like any other.
func readNative(ctx context.Context, at Location, p Push) (commits []Commit, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("read repository: %w: %v", errDamaged, cause)
		}
	}()
	n, err := openNative(at, p)
	if err != nil {
		return nil, err
	}
	defer n.close()
	return n.commits(ctx)
}

func (n *native) close() {
	n.refs.close()
	n.objects.close()
	if n.graph != nil {
		n.graph.close()
	}
}

func openNative(at Location, p Push) (*native, error) {
	if slices.ContainsFunc(p.Updates, func(u Update) bool { return len(u.LocalOID) != 2*hashSize }) {
		return nil, fmt.Errorf("%w: ids are not SHA-1", errUnfit)
	}
	place, err := git.Find(at.Dir, at.lookup("GIT_DIR"))
	if err != nil {
		return nil, err
	}
	common, err := git.Common(place.Dir) // holds objects, configuration and remote-tracking references for all worktrees
	if err != nil {
		return nil, err
	}
	cfg, err := readConfig(common)
	if err != nil {
		return nil, err
	}
	if err := checkFormat(cfg); err != nil {
		return nil, err
	}
	refs, err := openRefs(common)
	if err != nil {
		return nil, err
	}
	objects, err := openObjects(common)
	if err == nil {
		err = checkHistory(at, common, refs)
	}
	if err != nil {
		refs.close()
		return nil, err
	}
	remotes := remotesOf(cfg)
	n := &native{push: p, refs: refs, objects: objects, names: trackingNames(remotes, p), most: someHidden}
	refs.skip = replaced(remotes, n.names, p.Updates)
	if !strings.EqualFold(cfg.last("core", "commitgraph"), "false") {
		n.graph = openCommitGraph(objects.dirs)
	}
	return n, nil
}

// commits lists what leaves and is wanted. It first finds what leaves as far as the likely tips tell, which takes much less
// work than to be exact; when nothing in that is wanted, that was all.
func (n *native) commits(ctx context.Context) ([]Commit, error) {
	w, err := n.start(ctx)
	if err != nil {
		return nil, err
	}
	for _, look := range []func(*walk) error{n.lookNear, n.lookLikely} {
		err := look(w)
		wanted := slices.ContainsFunc(w.found, func(n *node) bool { return n.outgoing() && (n.wanted || !n.judged) })
		if err != nil || (n.narrow && !wanted) {
			return nil, err
		}
	}
	if err := n.lookEverywhere(w); err != nil {
		return nil, err
	}
	var commits []Commit
	for _, found := range w.outgoing() {
		if found.wanted {
			commits = append(commits, Commit{OID: found.oid.String(), Message: found.message, Cut: found.cut})
		}
	}
	return commits, nil
}

// start is a walk that stands at what is pushed, with the likely tips marked.
func (n *native) start(ctx context.Context) (*walk, error) {
	n.likely = hashes(remoteOIDs(n.push.Updates))
	for _, name := range n.names {
		for _, branch := range []string{"HEAD", "main", "master"} { // that a push most often builds on
			if oid, ok := n.refs.lookup("refs/remotes/" + name + "/" + branch); ok {
				n.likely = append(n.likely, oid)
			}
		}
	}
	var w *walk
	w = newWalk(n, n.push.Keep, func(paint uint8) error { // an error when time is up or git should take over
		if paint&remote != 0 {
			n.hiddenReads++
		} else {
			n.pushedReads++
		}
		if n.pushedReads > maxPushed {
			return n.far()
		}
		if n.hiddenReads > n.most {
			// As dates go, there is a way from the newest commit that the remote has to the oldest outgoing one that is queued.
			gone, end := w.newest-w.reached, w.reached
			for _, queued := range w.queue {
				if queued.outgoing() {
					end = min(end, queued.rank.date)
				}
			}
			expected := float64(n.hiddenReads) * float64(w.newest-end) / float64(gone)
			if n.hiddenReads > maxHidden || gone <= 0 || w.reached == 0 || expected > maxHidden {
				return n.far()
			}
			n.most = maxHidden
		}
		return ctx.Err()
	})
	for _, oid := range n.likely {
		w.mark(oid)
	}
	for _, oid := range hashes(pushed(n.push.Updates)) {
		if err := w.push(oid); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// lookNear hopes that the pushed commits soon end at likely tips, as they do most often.
func (n *native) lookNear(w *walk) error {
	if n.push.Keep == nil {
		return nil
	}
	done, err := w.descend(near)
	if err != nil || !done {
		return err
	}
	n.narrow = true
	return w.judgeAll(n.message)
}

// lookLikely walks to where the history of the likely tips begins, if the repository has any of them.
func (n *native) lookLikely(w *walk) error {
	ask := question{send: texts(w.sent)}
	for _, oid := range n.likely {
		known, err := w.hide(oid)
		if err != nil {
			return err
		}
		if known {
			ask.hide = append(ask.hide, oid.String())
		}
	}
	n.ask = ask
	if n.push.Keep == nil || n.narrow || len(ask.hide) == 0 {
		return nil
	}
	n.ask.likely = true
	err := n.settle(w, 0)
	n.narrow, n.ask.likely = true, false
	return err
}

// lookEverywhere brings in all that the remote has.
func (n *native) lookEverywhere(w *walk) error {
	var tips []plumbing.Hash
	for _, name := range n.names {
		tips = append(tips, n.refs.under("refs/remotes/"+name+"/")...)
	}
	if n.graph == nil && len(tips) > someHidden {
		return n.far()
	}
	for _, oid := range tips {
		if _, err := w.hide(oid); err != nil {
			return err
		}
	}
	n.most += slop
	return n.settle(w, slop)
}

// settle walks, and reads the messages that the walk had no need of.
func (n *native) settle(w *walk, extra int) error {
	if err := w.settle(extra); err != nil {
		return err
	}
	return w.judgeAll(n.message)
}

// far hands over to git, which has to peel tags itself when it comes to that too early.
func (n *native) far() error {
	if n.ask.send == nil {
		return fmt.Errorf("%w: %d references are pushed", errUnfit, len(n.push.Updates))
	}
	return &tooFar{n.ask}
}
