package cli

import (
	"errors"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/gitpush"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/slackgate"
	"github.com/label-state/label-state/internal/state"
	"github.com/label-state/label-state/internal/trouble"
	"github.com/label-state/label-state/internal/worktree"
)

// ownKinds are the errors that only the command line meets: chains, worktrees, bundles' journals,
// pushes, hooks and Slack.
func ownKinds() []trouble.Kind { return append(undertakingKinds(), pushKinds()...) }

// undertakingKinds are what goes on over several repositories, and has a page in this user's
// journal.
func undertakingKinds() []trouble.Kind {
	return []trouble.Kind{
		trouble.Advised(answer.Machine, func(e *state.UnreadableJournalError, _ *answer.Problem) []answer.Command {
			return trouble.Then(answer.Shell("nothing was changed because of it; check it, then", "rm", e.File))
		}),
		trouble.Advised(answer.Declined, func(*state.BusyError, *answer.Problem) []answer.Command {
			return trouble.Then(answer.Call("when it has finished", answer.Again))
		}),
		trouble.Advised(answer.Declined, func(*worktree.KeptError, *answer.Problem) []answer.Command {
			return trouble.Then(answer.Call("commit and push what you want to keep, then", answer.Again))
		}),
		trouble.Advised(answer.Machine, func(e *worktree.UndoneError, _ *answer.Problem) []answer.Command {
			if e.Kept != nil {
				return trouble.Then(answer.Call("remove the rest later with", "worktree prune"))
			}
			return trouble.Then(answer.Call("nothing is left behind; fix the cause, then run", answer.Again))
		}),
	}
}

// hookKind is a hook that was left alone, that this machine did not let us write, or that was to
// run something that is not a program.
func hookKind(err error, _ *answer.Problem) (answer.Code, []answer.Command, bool) {
	e, is := errors.AsType[*hookfile.RefusedError](err)
	switch {
	case is && e.Cause != nil:
		return answer.Machine, nil, true
	case is && e.Named:
		return answer.Usage, nil, true
	}

	return answer.Declined, nil, is
}

// pushKinds are a push that did not land, or of which nobody knows, and what else stands between
// git and the commands.
func pushKinds() []trouble.Kind {
	return []trouble.Kind{
		hookKind,
		trouble.Advised(answer.Limited, func(*slackgate.BusyError, *answer.Problem) []answer.Command {
			return trouble.Then(answer.Call("leave --slack out, because a plan can be answered on GitHub; or "+
				"after that time", answer.Again))
		}),
		trouble.Advised(answer.Network, func(*slackgate.AwayError, *answer.Problem) []answer.Command {
			return trouble.Then(answer.Advice("check the network, and LABEL_STATE_SLACK_API_URL if it is set; or leave " +
				"--slack out: a plan can be answered on GitHub"))
		}),
		trouble.Advised(answer.Usage, func(e *git.EmbeddedError, _ *answer.Problem) []answer.Command {
			return trouble.Then(
				answer.Shell("run it in the clone", "cd", e.Around),
				answer.Shell("if the bare repository is your own", "export", "GIT_DIR="+e.Dir),
			)
		}),
		trouble.Advised(answer.NotPushed, func(e *gitpush.MovedError, _ *answer.Problem) []answer.Command {
			if e.Remote == "" {
				return trouble.Then(answer.Call("nothing was forced; fetch it, rebase, then", answer.Again))
			}
			return trouble.Then(answer.Shell("nothing was forced; build on what is there", "git", "pull", "--rebase",
				e.Remote, strings.TrimPrefix(e.Ref, "refs/heads/")), answer.Call("then", answer.Again))
		}),
		trouble.Advised(answer.Machine, func(e *git.Error, _ *answer.Problem) []answer.Command {
			if !trouble.Interrupted(e) && (e.Operation == "fetch" || e.Operation == "ls-remote") {
				return trouble.Then(
					answer.Shell("check that the remote answers", "git", "-C", e.Repository, "ls-remote"),
					answer.Advice("or use what was fetched last: --offline"),
				)
			}

			return nil
		}),
	}
}
