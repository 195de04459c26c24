package main

import (
	"errors"

	"github.com/label-state/label-state/internal/journal"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/worktree"
)

// What goes on over several repositories has a page in this user's journal, and with it answers that
// other commands do not know.

// undertakingAnswers are those of bundles and features.
func undertakingAnswers() []answer {
	return []answer{
		on(exitCalled, help[*worktree.RequestError]),
		on(exitUnknown, func(e *journal.UnreadableError, _ failure) string {
			return "nothing is undone or begun on its strength; look at it, then: rm " + e.File
		}),
		on(exitNo, says[*journal.BusyError]("wait until it has finished")),
		on(exitNo, func(_ *heldHereError, at failure) string {
			return "give it back first: label-state bundle release " + at.object
		}),
		on(exitNo, hintExists),
		on(exitNo, says[*worktree.AbsentError]("see which have: label-state worktree list")),
		on(exitNo, says[*worktree.KeptError]("commit and push what is worth it, then run it again")),
		on(exitUnknown, func(e *worktree.UndoneError, _ failure) string {
			if e.Kept != nil {
				return "remove the rest later with: label-state worktree prune"
			}
			return "nothing is left behind; run it again"
		}),
		on(exitUnknown, func(e *ledger.BundleError, _ failure) string {
			if e.Left == nil {
				return "" // its cause knows better
			}
			return "what is left lapses within ten minutes, or at once with: label-state bundle release " + e.Slug
		}),
	}
}

func hintExists(e *worktree.ExistsError, _ failure) string {
	if e.Unfinished {
		return "undo what it left: label-state worktree prune"
	}
	return "remove them first: label-state worktree remove " + e.Feature
}

// undone is what an error tells of what was undone, which nobody may leave out, behind "; ".
func undone(err error) string {
	if e, ok := errors.AsType[interface {
		error
		Aftermath() string
	}](err); ok {
		return "; " + e.Aftermath()
	}
	return ""
}
