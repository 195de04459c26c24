package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/state"
	"github.com/label-state/label-state/internal/worktree"
)

// What goes on over several repositories has a page in this user's journal, and with it answers that
// other commands do not know.

// undertakingAnswers are those of bundles and features.
var undertakingAnswers = []answer{
	on(ExitCalled, help[*worktree.RequestError]),
	on(ExitUnknown, func(e *state.UnreadableJournalError, _ Failure) string {
		return "nothing is undone or begun on its strength; look at it, then: rm " + e.File
	}),
	on(ExitNo, func(_ *state.BusyError, at Failure) string {
		if !strings.HasPrefix(at.Doing, "bundle ") {
			return "when it has finished: " + Again
		}
		return "wait until it has finished, then see what it did: label-state bundle status " + at.Object
	}),
	on(ExitNo, func(e *worktree.ExistsError, _ Failure) string {
		if e.Unfinished {
			return "undo what it left: label-state worktree prune"
		}
		return "remove them first: label-state worktree remove " + e.Feature
	}),
	on(ExitNo, says[*worktree.AbsentError]("see which have: label-state worktree list")),
	on(ExitNo, func(_ *worktree.KeptError, at Failure) string {
		return "commit and push what is worth it, then: label-state " + at.Doing + " " + at.Object
	}),
	on(ExitUnknown, func(e *worktree.UndoneError, _ Failure) string {
		if e.Kept != nil {
			return "remove the rest later with: label-state worktree prune"
		}
		return "nothing is left behind; when its cause is mended: " + Again
	}),
	on(ExitUnknown, func(e *ledger.BundleError, _ Failure) string {
		if e.Left == nil {
			return "" // its cause knows better
		}
		return "what is left expires within ten minutes, or at once with: label-state bundle release " + e.Slug
	}),
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

// chainAnswers are for what went wrong with a chain.
var chainAnswers = []answer{
	on(ExitCalled, says[*prchain.PlanError]("label-state chain plan --help")),
	on(ExitCalled, func(e *prchain.ParentError, at Failure) string {
		if e.Closed {
			return fmt.Sprintf("if it is not done after all: gh issue reopen %d --repo %s; or name another with --parent", e.Parent.Number, e.Parent.Slug())
		}
		return "name the issue that the feature is for: label-state " + at.Doing + " --feature " + at.Object + " --parent OWNER/NAME#NUMBER --pr OWNER/NAME:BRANCH"
	}),
	on(ExitCalled, func(e *prchain.MismatchError, _ Failure) string {
		return "go on with that one: label-state chain execute --feature " + e.Feature
	}),
	on(ExitCalled, func(e *prchain.NoChainError, _ Failure) string {
		return "begin it: label-state chain execute --feature " + e.Feature + " --parent owner/repo#7 --pr owner/repo:branch"
	}),
	on(ExitUnknown, func(e *state.UnreadableJournalError, at Failure) string {
		if !strings.HasPrefix(at.Doing, "chain ") {
			return ""
		}
		return "do not begin anew, its pull requests would not be known; restore the file, or move it away once they are closed: " + e.File
	}),
	on(ExitNo, func(e *state.BusyError, at Failure) string {
		if !strings.HasPrefix(at.Doing, "chain ") {
			return ""
		}
		return "wait for the other one, then: label-state chain execute --feature " + e.Name
	}),
}
