package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/slackgate"
	"github.com/label-state/label-state/internal/state"
	"github.com/label-state/label-state/work"
)

// calledAnswers are for what was called or configured wrongly.
var calledAnswers = []answer{
	on(ExitCalled, says[*ledger.StoreError]("name the store again in claim.lease on the default branch, until the hold is released")),
	on(ExitCalled, func(e *UsageError, _ Failure) string { return strings.TrimSpace("label-state "+e.command) + " --help" }),
	on(ExitCalled, help[*work.OptionError]),
	on(ExitCalled, func(e *host.ReferenceError, _ Failure) string {
		if e.Kind == "repository" {
			return "give OWNER/NAME, as in: label-state doctor acme/app"
		}
		return "give owner/repo#7, the issue's URL, or inside a clone just 7"
	}),
	on(ExitCalled, func(e *config.Error, _ Failure) string {
		switch {
		case e.Everybodys:
			return "leave " + e.Path + " out of " + e.File + "; what everybody goes by is " + config.Path + " on the default branch"
		case e.Path == "" && e.Line == 0:
			return "see that it can be read: ls -l " + ShellWord(e.File) + "; or name another file with --config"
		}
		return "correct " + e.File + ", then try it with: label-state doctor"
	}),
	on(ExitCalled, func(e *setup.SettingError, _ Failure) string { return e.Remedy() }),
	on(ExitCalled, func(_ *ledger.NoPullError, at Failure) string {
		return "see its URL with: gh pr view --json url; without one: label-state release " + at.Object
	}),
	on(ExitCalled, help[*ledger.CallError]),
	on(ExitCalled, help[*state.RepoNameError]),
}

// noAnswers are the answer no.
var noAnswers = []answer{
	on(ExitNoWork, func(e *work.NoWorkError, at Failure) string {
		switch {
		case e.Queue == 0:
			return labelCommand("label an issue", "NUMBER", at.repo(), e.Label) + "; what others work on: label-state board --repo " + at.repo()
		case e.Passed[0].Reason == string(lifecycle.CodePaused):
			return ResumeHint(at.repo(), false)
		}
		return "see what keeps them: label-state board --repo " + at.repo() + "; later: " + Again
	}),
	on(ExitNo, func(e *ledger.HeldError, at Failure) string {
		if e.Shared {
			return hintShared(e, at)
		}
		if e.Yielded == nil && len(e.Verdict.Reasons) > 0 {
			return hintReason(e, e.Verdict.Reasons[0])
		}
		return "see who holds it: label-state status " + e.Issue.String()
	}),
	on(ExitNo, func(e *ledger.LostError, at Failure) string {
		switch {
		case e.Worker.IsZero():
			return "see what is known about it: label-state status " + e.Issue.String()
		case at.Doing == "release" && errors.Is(e, claim.ErrEnded):
			return "see what was recorded: label-state log " + e.Issue.String()
		}
		return "stop work on it; see who holds it now: label-state status " + e.Issue.String()
	}),
	on(ExitNo, says[*NoAnswer]("")),
	on(ExitNo, help[*hookfile.RefusedError]),
	on(ExitNo, help[*ledger.BarredError]),
	on(ExitUnknown, says[*slackgate.BusyError]("leave --slack out, for a plan can be answered on GitHub; or after that time: "+Again)),
}

// ResumeHint is how a pause ends; here is whether it is this host's.
func ResumeHint(repo string, here bool) string {
	return "when claims may go on: label-state repo resume " + PauseView{Repo: repo, Local: here}.Resume()
}

// hintShared is the way on for a process whose run has the issue in another process.
func hintShared(held *ledger.HeldError, at Failure) string {
	issue := held.Issue.String()
	n := slices.IndexFunc(held.Verdict.Reasons, func(r lifecycle.Reason) bool { return r.Code == lifecycle.CodeOwn })
	if n < 0 || held.Verdict.Reasons[n].Claim == nil || strings.HasPrefix(at.Doing, "bundle ") {
		return "see who holds it: label-state status " + issue
	}
	w := held.Verdict.Reasons[n].Claim.Record.Worker
	return "if that process is gone, take its hold over: label-state claim " + issue + " --codename " + ShellWord(w.Codename) +
		" --firing-id " + ShellWord(w.FiringID) + " --resume"
}

// hintReason is the way on past one reason why an issue may not be taken.
func hintReason(held *ledger.HeldError, r lifecycle.Reason) string {
	issue := held.Issue.String()
	switch r.Code {
	case lifecycle.CodePaused:
		return ResumeHint(held.Issue.Slug(), r.Here)
	case lifecycle.CodeHold:
		return "whoever put the label on releases it with: label-state release " + issue + "; anybody else takes it off there: " + r.URL
	case lifecycle.CodeAssigned:
		return "take one that is nobody's: label-state next; who works on this one: label-state status " + issue
	case lifecycle.CodePROpen, lifecycle.CodeMerged:
		if r.URL == "" {
			return "see that the token may read it, or begin the issue again: label-state release " + issue + " --force"
		}
		if r.ByStranger() {
			return "continue there: " + r.URL + "; or take the issue all the same: label-state claim " + issue + " --force"
		}
		return "continue there: " + r.URL
	case lifecycle.CodeDone:
		return "if it is not done after all: label-state release " + issue + " --force"
	case lifecycle.CodeClosed:
		switch r.Text {
		case lifecycle.PullMerged:
			return "nothing is left to do on it; see what is: label-state next"
		case lifecycle.PullClosed:
			return fmt.Sprintf("if it is wanted after all: gh pr reopen %d --repo %s", held.Issue.Number, held.Issue.Slug())
		}
		return fmt.Sprintf("if it is not done after all: gh issue reopen %d --repo %s", held.Issue.Number, held.Issue.Slug())
	case lifecycle.CodeAttempts:
		return "see why: label-state log " + issue + "; a person lets agents try again by commenting /requeue there: " + r.URL
	case lifecycle.CodeScope, lifecycle.CodeExcluded, lifecycle.CodePlan:
		return "a person decides, by taking the label off: " + r.URL
	case lifecycle.CodeInFlight:
		return "see who holds it: label-state status " + issue
	case lifecycle.CodeOwn, lifecycle.CodeBlocked, lifecycle.CodeBackingOff, lifecycle.CodeUnread, lifecycle.CodeUnshown:
		return "see what stands in the way: label-state status " + issue
	}
	return "" // of a reason without a case; a test asks for each
}

// A remedied error knows itself what to do about it.
type remedied interface {
	error
	Remedy() string
}

// doctor is the command that examines the repository the failure is about.
func (f Failure) doctor() string { return strings.TrimSpace("label-state doctor " + f.repo()) }

// repo is the repository the failure is about, as far as it is known.
func (f Failure) repo() string {
	if strings.Contains(f.Object, "/") {
		repo, _, _ := strings.Cut(f.Object, "#")
		return repo
	}
	if e, is := errors.AsType[*ledger.BundleError](f.Err); is {
		return e.Issues[0].Slug()
	}
	if e, is := errors.AsType[*ledger.UnknownError](f.Err); is {
		return e.Issue.Slug()
	}
	return ""
}

// reachAnswers are for a lease store that refuses, and for a GitHub that could not be asked.
var reachAnswers = []answer{
	on(ExitUnknown, func(e *lease.DeniedError, at Failure) string { return e.Remedy + "; then: " + at.doctor() }),
	on(ExitUnknown, func(e *github.OutsiderError, _ Failure) string {
		return e.Remedy() + "; then: label-state doctor " + e.Repo.String()
	}),
	on(ExitUnknown, func(e remedied, _ Failure) string { return e.Remedy() }),
	on(ExitUnknown, func(e *timeoutError, at Failure) string {
		switch {
		case e.store != "":
			return "nothing is claimed while the lease store cannot be asked; see whether it answers: " + at.doctor()
		case strings.Contains(at.Object, "#"):
			return "see where it stands: label-state status " + at.Object + "; then: " + AgainLonger
		case strings.HasPrefix(at.Doing, "chain "):
			return "see what is missing: label-state chain status --feature " + at.Object + "; then: " + AgainLonger
		}
		return "see what is slow: " + at.doctor() + "; then: " + AgainLonger
	}),
	on(ExitUnknown, func(_ *interruptedError, at Failure) string {
		switch {
		case strings.HasPrefix(at.Doing, "bundle "):
			return "" // what is held is known
		case !strings.Contains(at.Object, "#"):
			return "it may have begun; go on with: " + Again
		}
		return "see where it stands: label-state status " + at.Object
	}),
	on(ExitUnknown, func(e *setup.NoTokenError, _ Failure) string { return e.Remedy() }),
	on(ExitUnknown, func(e *setup.BadTokenError, _ Failure) string {
		return "set " + e.Source + " to the token as GitHub shows it"
	}),
	on(ExitUnknown, func(_ *github.AuthError, at Failure) string {
		return "see which token is used and what it may do: " + at.doctor()
	}),
	on(ExitUnknown, func(e *github.PermissionError, at Failure) string {
		switch {
		case strings.Contains(e.Message, "archived") && at.repo() != "": // GitHub's words, where no permission is what is missing
			return "nothing can be written while it is archived; an owner may: gh repo unarchive " + at.repo()
		case e.Push:
			return "somebody who may push does it: " + Again
		case e.Needs != "":
			return "give the token the permission " + e.Needs + "; then: " + at.doctor()
		}
		return "see what the token may do: " + at.doctor()
	}),
	on(ExitUnknown, func(e *github.NotFoundError, at Failure) string {
		if e.Write {
			return "check the name and the number, and that the token may write there: " + at.doctor()
		}
		return "check the name and the number, and that the token may see it: " + at.doctor()
	}),
	on(ExitUnknown, func(_ *github.MovedError, at Failure) string {
		return "use its new name, in a clone by git remote set-url origin URL; find it with: gh repo view " + at.repo() + " --json nameWithOwner"
	}),
	on(ExitUnknown, says[*github.RateLimitError]("from then on, or at once with another token in GH_TOKEN: "+Again)),
	on(ExitUnknown, func(e *ledger.UnshownError, _ Failure) string {
		return "look for a claim among them: " + e.Facts.URL + "; when nobody can see or delete them, file the issue again: gh issue create --repo " + e.Facts.Issue.Slug()
	}),
	on(ExitUnknown, func(_ *github.AnswerError, at Failure) string {
		return "is LABEL_STATE_API_URL, or a proxy, in the way? See: " + at.doctor() + " --verbose"
	}),
	on(ExitUnknown, func(e *github.StatusError, at Failure) string {
		if e.Status >= 500 {
			return gitHubHasTrouble
		}
		return "see which request it was, with --verbose; what the token may do: " + at.doctor()
	}),
	on(ExitUnknown, says[*github.QueryError](gitHubHasTrouble)),
	on(ExitUnknown, func(e *github.NetworkError, _ Failure) string {
		if interrupted(e) {
			return ""
		}
		return "check the network and LABEL_STATE_API_URL, then: " + Again
	}),
}

const gitHubHasTrouble = "GitHub has trouble of its own (https://www.githubstatus.com); in a minute: " + Again

// hereAnswers are for files of this machine, and for errors of which nobody else knows the cause.
var hereAnswers = []answer{
	on(ExitUnknown, func(e *state.UnreadableHoldError, _ Failure) string {
		return "name the worker with --codename and --firing-id, or forget the hold: rm " + e.File
	}),
	on(ExitUnknown, func(e *state.UnreadablePausesError, _ Failure) string {
		return "nothing is claimed until it can be read; repair it, or: rm " + e.File
	}),
	func(err error) (int, string, bool) {
		return ExitUnknown, "when it has finished: " + Again, errors.Is(err, state.ErrPausesBusy)
	},
	on(ExitUnknown, func(_ *lease.Error, at Failure) string {
		return "nothing is claimed while the lease store cannot be asked; see whether it answers: " + at.doctor()
	}),
	on(ExitUnknown, func(_ *ledger.BundleError, at Failure) string {
		return "nothing is held; see what is in the way: " + at.doctor() + "; then: " + Again
	}),
}

// pushAnswers are those of a push that did not land, or of which nobody knows.
var pushAnswers = []answer{
	on(ExitCalled, help[*gitpush.OptionError]),
	on(ExitCalled, help[*gitpush.RemoteError]),
	on(ExitNo, says[*gitpush.MovedError]("nothing was forced; git fetch, build on what is there, then: "+Again)),
	on(ExitNo, says[*gitpush.RefusedError]("nothing was pushed; git or the remote said above what it wants; then: "+Again)),
	on(ExitUnknown, func(_ *gitpush.UnclearError, at Failure) string {
		return "see what has arrived, and push again if nothing has: label-state push --issue " + at.Object
	}),
	on(ExitUnknown, func(e *git.Error, at Failure) string {
		switch {
		case interrupted(e):
		case at.Doing == "push":
			return "nothing was pushed; git said above what is wrong; when it is mended: " + Again
		case e.Operation == "fetch" || e.Operation == "ls-remote":
			return "see that the remote answers: git -C " + e.Repository + " ls-remote; or take what was fetched last: --offline"
		}
		return ""
	}),
	on(ExitCalled, func(e *git.EmbeddedError, _ Failure) string {
		return "run it in the clone: cd " + e.Around + "; if the bare repository is your own: export GIT_DIR=" + e.Dir
	}),
}

// A WaitingError is a plan that nobody has answered yet: neither a yes nor a no.
type WaitingError struct{ After time.Duration }

func (e *WaitingError) Error() string {
	return "no answer within " + printable.Exact(e.After) + "; the plan waits on"
}
