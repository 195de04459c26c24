package cli

import (
	"errors"
	"slices"
	"strconv"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/git"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/gitpush"
	"github.com/label-state/label-state/internal/hookfile"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/slackgate"
	"github.com/label-state/label-state/internal/state"
	"github.com/label-state/label-state/internal/worktree"
	"github.com/label-state/label-state/work"
)

// A kind knows one kind of error of a package below: its code, and what to do next where that is not what the code says. Of any other
// error it says that it is not of its kind.
type kind func(err error, at *answer.Problem) (answer.Code, []answer.Command, bool)

// of is the code of all errors of a type.
func of[E error](code answer.Code) kind {
	return advised(code, func(E, *answer.Problem) []answer.Command { return nil })
}

// advised is of with what to do next; no command at all is what the code says.
func advised[E error](code answer.Code, next func(e E, at *answer.Problem) []answer.Command) kind {
	return func(err error, at *answer.Problem) (answer.Code, []answer.Command, bool) {
		e, is := errors.AsType[E](err)
		if !is {
			return "", nil, false
		}
		return code, next(e, at), true
	}
}

// is is the code of one error.
func is(target error, code answer.Code, next ...answer.Command) kind {
	return func(err error, _ *answer.Problem) (answer.Code, []answer.Command, bool) {
		if !errors.Is(err, target) {
			return "", nil, false
		}
		return code, next, true
	}
}

// kinds are all of them. The first that knows what to do next says it.
func kinds() []kind {
	return slices.Concat(wrongKinds(), undertakingKinds(), noKinds(), pushKinds(), reachKinds(), machineKinds())
}

// then are commands in the order in which to try them.
func then(next ...answer.Command) []answer.Command { return next }

// wrongKinds are what was called or configured wrongly.
func wrongKinds() []kind {
	return []kind{
		of[*prchain.PlanError](answer.Usage),
		advised(answer.Usage, hintParent),
		advised(answer.Usage, func(e *prchain.MismatchError, _ *answer.Problem) []answer.Command {
			return then(answer.Call("go on with that one", "chain execute", "--feature", e.Feature))
		}),
		advised(answer.Usage, func(e *prchain.NoChainError, _ *answer.Problem) []answer.Command {
			return then(answer.Call("begin it", "chain execute", "--feature", e.Feature, "--parent", "owner/repo#7", "--pr", "owner/repo:branch"))
		}),
		of[*ledger.StoreError](answer.WrongStore),
		of[*work.OptionError](answer.Usage),
		advised(answer.Usage, func(e *host.ReferenceError, _ *answer.Problem) []answer.Command {
			if e.Kind == "repository" {
				return then(answer.Call("give OWNER/NAME, as in", "doctor", "acme/app"))
			}
			return then(answer.Advice("give owner/repo#7, the issue's URL, or inside a clone just 7"))
		}),
		advised(answer.Config, hintConfig),
		advised(answer.Config, func(e *setup.SettingError, _ *answer.Problem) []answer.Command {
			return then(answer.Advice(e.Remedy()))
		}),
		of[*ledger.NoPullError](answer.NoPull),
		of[*ledger.CallError](answer.Usage),
		of[*state.RepoNameError](answer.Usage),
		of[*worktree.RequestError](answer.Usage),
		of[*gitpush.OptionError](answer.Usage),
		of[*gitpush.RemoteError](answer.Usage),
		advised(answer.Usage, func(e *git.EmbeddedError, _ *answer.Problem) []answer.Command {
			return then(
				answer.Shell("run it in the clone", "cd", e.Around),
				answer.Shell("if the bare repository is your own", "export", "GIT_DIR="+e.Dir),
			)
		}),
	}
}

// hintParent is for an issue that is no parent of a chain.
func hintParent(e *prchain.ParentError, at *answer.Problem) []answer.Command {
	if e.Closed {
		return then(
			answer.Shell("if it is not done after all", "gh", "issue", "reopen", strconv.Itoa(e.Parent.Number), "--repo", e.Parent.Slug()),
			answer.Advice("or name another with --parent"),
		)
	}
	return then(answer.Call("name the issue that the feature is for", at.Doing,
		"--feature", at.Object, "--parent", "OWNER/NAME#NUMBER", "--pr", "OWNER/NAME:BRANCH"))
}

func hintConfig(e *config.Error, _ *answer.Problem) []answer.Command {
	switch {
	case e.Everybodys:
		return then(answer.Advice("leave "+e.Path+" out of "+e.File),
			answer.Advice("the shared configuration is "+config.Path+" on the default branch"))
	case e.Path == "" && e.Line == 0:
		return then(answer.Shell("see that it can be read", "ls", "-l", e.File), answer.Advice("or name another file with --config"))
	}
	return then(answer.Call("correct "+e.File+", then try it with", "doctor"))
}

// undertakingKinds are what goes on over several repositories, and has a page in this user's journal.
func undertakingKinds() []kind {
	return []kind{
		advised(answer.Machine, func(e *state.UnreadableJournalError, _ *answer.Problem) []answer.Command {
			return then(answer.Shell("nothing was changed because of it; check it, then", "rm", e.File))
		}),
		advised(answer.Declined, func(*state.BusyError, *answer.Problem) []answer.Command {
			return then(answer.Call("when it has finished", answer.Again))
		}),
		advised(answer.Declined, func(e *worktree.ExistsError, _ *answer.Problem) []answer.Command {
			if e.Unfinished {
				return then(answer.Call("undo what it left", "worktree prune"))
			}
			return then(answer.Call("remove them first", "worktree remove", e.Feature))
		}),
		advised(answer.Declined, func(*worktree.AbsentError, *answer.Problem) []answer.Command {
			return then(answer.Call("see which have", "worktree list"))
		}),
		advised(answer.Declined, func(_ *worktree.KeptError, at *answer.Problem) []answer.Command {
			return then(answer.Call("commit and push what you want to keep, then", at.Doing, at.Object))
		}),
		advised(answer.Machine, func(e *worktree.UndoneError, _ *answer.Problem) []answer.Command {
			if e.Kept != nil {
				return then(answer.Call("remove the rest later with", "worktree prune"))
			}
			return then(answer.Call("nothing is left behind; fix the cause, then run", answer.Again))
		}),
		leftKind,
	}
}

// leftKind is a bundle of which something could not be released.
func leftKind(err error, _ *answer.Problem) (answer.Code, []answer.Command, bool) {
	e, is := errors.AsType[*ledger.BundleError](err)
	if !is || e.Left == nil {
		return "", nil, false // its cause knows better
	}
	release := answer.Call("what is left expires within ten minutes, or at once with", "bundle release", e.Slug)
	return answer.Unread, then(release), true
}

// noKinds are the answer no.
func noKinds() []kind {
	return []kind{
		advised(answer.NoWork, hintNoWork),
		advised(answer.Held, hintHeld),
		lostKind,
		of[*hookfile.RefusedError](answer.Declined),
		of[*ledger.BarredError](answer.Barred),
		is(ledger.ErrPlanWaits, answer.PlanWaits),
		advised(answer.Limited, func(*slackgate.BusyError, *answer.Problem) []answer.Command {
			return then(answer.Call("leave --slack out, for a plan can be answered on GitHub; or after that time", answer.Again))
		}),
	}
}

func hintNoWork(e *work.NoWorkError, at *answer.Problem) []answer.Command {
	switch {
	case e.Queue == 0:
		return then(labelCommand("label an issue", "NUMBER", repoOf(at), e.Label), answer.Call("what others work on", "board", "--repo", repoOf(at)))
	case e.Passed[0].Reason == string(lifecycle.CodePaused):
		return then(ResumeCommand(repoOf(at), false))
	}
	return nil
}

// ResumeCommand is how a pause ends; here is whether it is this host's.
func ResumeCommand(repo string, here bool) answer.Command {
	args := []string{repo}
	if here {
		args = append(args, "--local")
	}
	return answer.Call("when claims may go on", "repo resume", args...)
}

func hintHeld(e *ledger.HeldError, _ *answer.Problem) []answer.Command {
	who := answer.Call("see who holds it", "status", e.Issue.String())
	if e.Shared {
		return then(hintShared(e, who))
	}
	if e.Yielded == nil && len(e.Verdict.Reasons) > 0 {
		return hintReason(e.Issue, e.Verdict.Reasons[0])
	}
	return then(who)
}

// hintShared is the way on for a process whose run has the issue in another process.
func hintShared(held *ledger.HeldError, who answer.Command) answer.Command {
	n := slices.IndexFunc(held.Verdict.Reasons, func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeOwn })
	if n < 0 || held.Verdict.Reasons[n].Claim == nil {
		return who
	}
	w := held.Verdict.Reasons[n].Claim.Record.Worker
	return answer.Call("if that process is gone, take its hold over", "claim", held.Issue.String(),
		"--codename", w.Codename, "--firing-id", w.FiringID, "--resume")
}

// hintReason is the way on past one reason why an issue may not be taken.
func hintReason(i claim.Issue, r lifecycle.Reason) []answer.Command {
	issue := i.String()
	reopen := func(what string) []string {
		return []string{what, "reopen", strconv.Itoa(i.Number), "--repo", i.Slug()}
	}

	switch r.Code {
	case lifecycle.CodePaused:
		return then(ResumeCommand(i.Slug(), r.Here))
	case lifecycle.CodeHold:
		return then(answer.Call("whoever put the label on releases it with", "release", issue), answer.Advice("anybody else takes it off there: "+r.URL))
	case lifecycle.CodeAssigned:
		return then(answer.Call("take one that is nobody's", "next"), answer.Call("who works on this one", "status", issue))
	case lifecycle.CodePROpen, lifecycle.CodeMerged:
		if r.URL == "" {
			return then(answer.Call("see that the token may read it, or begin the issue again", "release", issue, "--force"))
		}
		there := answer.Advice("continue there: " + r.URL)
		if r.ByStranger() {
			return then(there, answer.Call("or take the issue all the same", "claim", issue, "--force"))
		}
		return then(there)
	case lifecycle.CodeDone:
		return then(answer.Call("if it is not done after all", "release", issue, "--force"))
	case lifecycle.CodeClosed:
		switch r.Text {
		case lifecycle.PullMerged:
			return then(answer.Call("nothing is left to do on it; see what is", "next"))
		case lifecycle.PullClosed:
			return then(answer.Shell("if it is wanted after all", "gh", reopen("pr")...))
		}
		return then(answer.Shell("if it is not done after all", "gh", reopen("issue")...))
	case lifecycle.CodeAttempts:
		return then(answer.Call("see why", "log", issue), answer.Advice("a person lets agents try again by commenting /requeue there: "+r.URL))
	case lifecycle.CodeScope, lifecycle.CodeExcluded, lifecycle.CodePlan:
		return then(answer.Advice("a person decides, by taking the label off: " + r.URL))
	case lifecycle.CodeInFlight:
		return then(answer.Call("see who holds it", "status", issue))
	case lifecycle.CodeOwn, lifecycle.CodeBlocked, lifecycle.CodeBackingOff, lifecycle.CodeUnread, lifecycle.CodeUnshown:
		return then(answer.Call("see what stands in the way", "status", issue))
	}
	return nil // of a reason without a case; a test asks for each
}

// lostKind is a hold that has ended, or that never was.
func lostKind(err error, _ *answer.Problem) (answer.Code, []answer.Command, bool) {
	e, is := errors.AsType[*ledger.LostError](err)
	switch {
	case !is:
		return "", nil, false
	case e.Worker.IsZero():
		return answer.NoPlan, then(answer.Call("see what is known about it", "status", e.Issue.String())), true
	case e.End.Overdue(e):
		next := answer.Call("nobody has taken it; go on with", "claim", e.Issue.String(), "--codename", e.Worker.Codename)
		return answer.Lost, then(next), true
	}
	return answer.Lost, then(answer.Call("stop work on it; see who holds it now", "status", e.Issue.String())), true
}

// pushKinds are a push that did not land, or of which nobody knows.
func pushKinds() []kind {
	return []kind{
		advised(answer.NotPushed, func(*gitpush.MovedError, *answer.Problem) []answer.Command {
			return then(answer.Call("nothing was forced; git fetch, build on what is there, then", answer.Again))
		}),
		of[*gitpush.RefusedError](answer.NotPushed),
		advised(answer.Unread, func(_ *gitpush.UnclearError, at *answer.Problem) []answer.Command {
			return then(answer.Call("see what has arrived, and push again if nothing has", "push", "--issue", at.Object))
		}),
		advised(answer.Machine, func(e *git.Error, _ *answer.Problem) []answer.Command {
			if !interrupted(e) && (e.Operation == "fetch" || e.Operation == "ls-remote") {
				return then(
					answer.Shell("see that the remote answers", "git", "-C", e.Repository, "ls-remote"),
					answer.Advice("or take what was fetched last: --offline"),
				)
			}
			return nil
		}),
	}
}

// A remedied error knows itself what to do about it.
type remedied interface {
	error
	Remedy() string
}

// reachKinds are a lease store that refuses, and a GitHub that could not be asked.
func reachKinds() []kind {
	return []kind{
		advised(answer.Store, func(e *lease.DeniedError, at *answer.Problem) []answer.Command {
			return then(answer.Advice(e.Remedy), doctor("then", at))
		}),
		advised(answer.NotCounted, func(e *github.OutsiderError, _ *answer.Problem) []answer.Command {
			return then(answer.Advice(e.Remedy()), answer.Call("then", "doctor", e.Repo.String()))
		}),
		of[*setup.NoTokenError](answer.NoToken),
		of[*github.MissingLabelError](answer.NotFound),
		of[*github.HiddenRoleError](answer.Unread),
		of[*github.NoGraphQLError](answer.Server),
		advised(answer.Unread, func(e remedied, _ *answer.Problem) []answer.Command { return then(answer.Advice(e.Remedy())) }),
		advised(answer.BadToken, func(e *setup.BadTokenError, _ *answer.Problem) []answer.Command {
			return then(answer.Advice("set " + e.Source + " to the token as GitHub shows it"))
		}),
		of[*github.AuthError](answer.BadToken),
		advised(answer.Forbidden, hintPermission),
		advised(answer.NotFound, func(e *github.NotFoundError, at *answer.Problem) []answer.Command {
			if e.Write {
				return then(doctor("check the name and the number, and that the token may write there", at))
			}
			return nil
		}),
		of[*github.MovedError](answer.Moved),
		of[*github.RateLimitError](answer.Limited),
		advised(answer.Unshown, func(e *ledger.UnshownError, _ *answer.Problem) []answer.Command {
			return then(
				answer.Advice("look for a claim among them: "+e.Facts.URL),
				answer.Shell("when nobody can see or delete them, file the issue again", "gh", "issue", "create", "--repo", e.Facts.Issue.Slug()),
			)
		}),
		advised(answer.Server, func(_ *github.AnswerError, at *answer.Problem) []answer.Command {
			see := doctor("is LABEL_STATE_API_URL, or a proxy, in the way? See", at)
			see.Args = append(see.Args, "--verbose")
			return then(see)
		}),
		advised(answer.Server, func(e *github.StatusError, at *answer.Problem) []answer.Command {
			if e.Status >= 500 {
				return nil
			}
			return then(answer.Advice("see which request it was, with --verbose"), doctor("what the token may do", at))
		}),
		of[*github.QueryError](answer.Server),
		advised(answer.Network, func(e *github.NetworkError, _ *answer.Problem) []answer.Command {
			if interrupted(e) {
				return then(answer.Call("fix the cause, then run", answer.Again))
			}
			return nil
		}),
	}
}

func hintPermission(e *github.PermissionError, at *answer.Problem) []answer.Command {
	switch {
	case e.Archived() && repoOf(at) != "": // no permission is what is missing
		return then(answer.Shell("nothing can be written while it is archived; an owner may", "gh", "repo", "unarchive", repoOf(at)))
	case e.Push:
		return then(answer.Call("somebody who may push does it", answer.Again))
	case e.Needs != "":
		return then(answer.Advice("give the token the permission "+e.Needs), doctor("then", at))
	}
	return nil
}

// machineKinds are files of this machine, and errors of which nobody else knows the cause.
func machineKinds() []kind {
	return []kind{
		advised(answer.Machine, func(e *state.UnreadableHoldError, _ *answer.Problem) []answer.Command {
			return then(answer.Shell("name the worker with --codename and --firing-id, or forget the hold", "rm", e.File))
		}),
		advised(answer.Machine, func(e *state.UnreadablePausesError, _ *answer.Problem) []answer.Command {
			return then(answer.Shell("nothing is claimed until it can be read; repair it, or", "rm", e.File))
		}),
		is(state.ErrPausesBusy, answer.Machine, answer.Call("when it has finished", answer.Again)),
		of[*lease.Error](answer.Store),
		advised(answer.Unread, func(e *ledger.BundleError, at *answer.Problem) []answer.Command {
			if codeIn(errors.Join(e.Causes...)) != answer.Unread {
				return nil // which says what to do
			}
			return then(doctor("nothing is held; see what is in the way", at), answer.Call("then", answer.Again))
		}),
	}
}

// labelCommand puts a label on an issue; when says what for.
func labelCommand(when, number, repo, label string) answer.Command {
	return answer.Shell(when, "gh", "issue", "edit", number, "--repo", repo, "--add-label", label)
}
