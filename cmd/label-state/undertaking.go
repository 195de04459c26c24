package main

import (
	"errors"

	"github.com/label-state/label-state/internal/journal"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/worktree"
)

// What goes on over several repositories has a page in this user's journal, and with it answers that
// other commands do not know.

// calledHere reports whether a request made no sense.
func calledHere(err error) bool {
	var request *worktree.RequestError
	return errors.As(err, &request)
}

// noHere reports whether the answer is no: somebody else is at it, it is there already or not at all, or
// work would be lost.
func noHere(err error) bool {
	var (
		busy   *journal.BusyError
		held   *heldHereError
		exists *worktree.ExistsError
		absent *worktree.AbsentError
		kept   *worktree.KeptError
	)
	return errors.As(err, &busy) || errors.As(err, &held) || errors.As(err, &exists) || errors.As(err, &absent) || errors.As(err, &kept)
}

// hintUndertaking is for bundles and features.
func hintUndertaking(err error) string {
	var (
		f       *failure
		page    *journal.UnreadableError
		busy    *journal.BusyError
		held    *heldHereError
		request *worktree.RequestError
		exists  *worktree.ExistsError
		absent  *worktree.AbsentError
		kept    *worktree.KeptError
		undone  *worktree.UndoneError
		bundle  *ledger.BundleError
	)
	switch {
	case errors.As(err, &page):
		return "nothing is undone or begun on its strength; look at it, then: rm " + page.File
	case errors.As(err, &busy):
		return "wait until it has finished"
	case errors.As(err, &held) && errors.As(err, &f):
		return "give it back first: label-state bundle release " + f.object
	case errors.As(err, &request) && errors.As(err, &f):
		return "label-state " + f.doing + " --help"
	case errors.As(err, &exists) && exists.Unfinished:
		return "undo what it left: label-state worktree prune"
	case errors.As(err, &exists):
		return "remove them first: label-state worktree remove " + exists.Feature
	case errors.As(err, &absent):
		return "see which have: label-state worktree list"
	case errors.As(err, &kept):
		return "commit and push what is worth it, then run it again"
	case errors.As(err, &undone) && undone.Kept != nil:
		return "remove the rest later with: label-state worktree prune"
	case errors.As(err, &undone):
		return "nothing is left behind; run it again"
	case errors.As(err, &bundle) && bundle.Left != nil:
		return "what is left lapses within ten minutes, or at once with: label-state bundle release " + bundle.Slug
	case errors.As(err, &bundle):
		return "nothing is held; run it again"
	}
	return ""
}

// undoing reports whether an error tells what was undone, which nobody may leave out.
func undoing(err error) bool {
	var trees *worktree.UndoneError
	var bundle *ledger.BundleError
	return errors.As(err, &trees) || errors.As(err, &bundle) && bundle.Taken != nil
}
