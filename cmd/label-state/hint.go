package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/holdfile"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/localpause"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/work"
)

// calledAnswers are for what was called or configured wrongly.
func calledAnswers() []answer {
	return []answer{
		on(exitCalled, says[*ledger.StoreError]("use the configuration of the default branch: git pull, and leave --config and LABEL_STATE_CONFIG out")),
		on(exitCalled, func(e *usageError, _ failure) string { return strings.TrimSpace("label-state "+e.command) + " --help" }),
		on(exitCalled, help[*work.OptionError]),
		on(exitCalled, hintReference),
		on(exitCalled, hintConfiguration),
		on(exitCalled, func(e *setup.SettingError, _ failure) string { return e.Remedy() }),
		on(exitCalled, help[*ledger.CallError]),
		on(exitCalled, help[*localpause.NameError]),
	}
}

func hintReference(e *host.ReferenceError, _ failure) string {
	if e.Kind == "repository" {
		return "give OWNER/NAME, as in: label-state doctor acme/app"
	}
	return "give owner/repo#7, the issue's URL, or inside a clone just 7"
}

func hintConfiguration(e *config.Error, _ failure) string {
	switch {
	case e.Path == "claim.lease" && e.Line == 0:
		return "git pull, and leave --config and LABEL_STATE_CONFIG out"
	case e.Path == "" && e.Line == 0:
		return "see that " + e.File + " can be read, or name another file with --config"
	}
	return "correct " + e.File + ", then try it with: label-state doctor"
}

// noAnswers are the answer no.
func noAnswers() []answer {
	return []answer{
		func(err error) (int, string, bool) {
			return exitNoWork, "ask again later; see what others work on: label-state work list --include-claimed", errors.Is(err, work.ErrNoWork)
		},
		on(exitNo, hintHeld),
		on(exitNo, hintLost),
		on(exitNo, says[*answerNo]("")),
		ofItem,
	}
}

func hintHeld(e *ledger.HeldError, _ failure) string {
	if e.Yielded == nil && len(e.Verdict.Reasons) > 0 {
		return hintReason(e, e.Verdict.Reasons[0])
	}
	return "see who holds it: label-state status " + e.Issue.String()
}

func hintLost(e *ledger.LostError, _ failure) string {
	if e.Worker.IsZero() {
		return "see what is known about it: label-state status " + e.Issue.String()
	}
	return "stop work on it; see who holds it now: label-state status " + e.Issue.String()
}

// ofItem answers for an item of a work source.
func ofItem(err error) (code int, hint string, is bool) {
	e, is := errors.AsType[*work.Error](err)
	switch {
	case !is:
		return exitUnknown, "", false
	case e.Reason == work.AlreadyClaimed || e.Reason == work.InvalidState:
		return exitNo, hintItem(e), true
	}
	return exitUnknown, hintItem(e), true
}

func hintItem(e *work.Error) string {
	if e.ID == "" || !e.Another() {
		return ""
	}
	return "see what there is to do: label-state work list"
}

// hintReason is the way on past one reason why an issue may not be taken.
func hintReason(held *ledger.HeldError, r lifecycle.Reason) string {
	issue := held.Issue.String()
	switch r.Code {
	case lifecycle.CodeOwn:
		return "you hold it already; extend the lease with: label-state renew " + issue
	case lifecycle.CodePaused:
		return "when claims may go on: label-state repo resume " + held.Issue.Slug()
	case lifecycle.CodeHold:
		return "a person gives it back with: label-state release " + issue
	case lifecycle.CodePROpen, lifecycle.CodeMerged:
		return strings.TrimSpace("continue there: " + r.URL)
	case lifecycle.CodePullRequest:
		return fmt.Sprintf("claim the issue that it closes; see which: gh pr view %d --repo %s", held.Issue.Number, held.Issue.Slug())
	case lifecycle.CodeClosed:
		return fmt.Sprintf("if it is not done after all: gh issue reopen %d --repo %s", held.Issue.Number, held.Issue.Slug())
	case lifecycle.CodeScope, lifecycle.CodeExcluded, lifecycle.CodeAttempts:
		return "a person decides, by taking the label off: " + r.URL
	case lifecycle.CodeInFlight:
		return "see who holds it: label-state status " + issue
	}
	return "see what stands in the way: label-state status " + issue
}

// storeAnswers are for a lease store that refuses.
func storeAnswers() []answer {
	return []answer{
		on(exitUnknown, func(e *lease.DeniedError, at failure) string { return e.Remedy + "; then: " + at.doctor() }),
		on(exitUnknown, func(e remedied, _ failure) string { return e.Remedy() }),
	}
}

// A remedied error knows itself what to do about it.
type remedied interface {
	error
	Remedy() string
}

// doctor is the command that examines the repository the failure is about.
func (f failure) doctor() string { return strings.TrimSpace("label-state doctor " + f.repo()) }

// repo is the repository the failure is about, as far as it is known.
func (f failure) repo() string {
	if strings.Contains(f.object, "/") {
		repo, _, _ := strings.Cut(f.object, "#")
		return repo
	}
	if e, is := errors.AsType[*ledger.BundleError](f.err); is {
		return e.Issues[0].Slug()
	}
	if e, is := errors.AsType[*ledger.UnknownError](f.err); is {
		return e.Issue.Slug()
	}
	return ""
}

// reachAnswers are for a GitHub that could not be asked.
func reachAnswers() []answer {
	return []answer{
		on(exitUnknown, hintTimeout),
		on(exitUnknown, func(_ *interruptedError, at failure) string {
			if !strings.Contains(at.object, "#") {
				return ""
			}
			return "see where it stands: label-state status " + at.object
		}),
		on(exitUnknown, says[*setup.NoTokenError]("set one of them, or run: gh auth login")),
		on(exitUnknown, func(e *setup.BadTokenError, _ failure) string {
			return "set " + e.Source + " to the token as GitHub shows it"
		}),
		on(exitUnknown, func(_ *github.AuthError, at failure) string {
			return "see which token is used and what it may do: " + at.doctor()
		}),
		on(exitUnknown, hintPermission),
		on(exitUnknown, func(_ *github.NotFoundError, at failure) string {
			return "check the name and the number, and that the token may see it: " + at.doctor()
		}),
		on(exitUnknown, func(_ *github.MovedError, at failure) string {
			return "use its new name, in a clone by git remote set-url origin URL; find it with: gh repo view " + at.repo() + " --json nameWithOwner"
		}),
		on(exitUnknown, says[*github.RateLimitError]("wait until then, or use another token")),
		on(exitUnknown, func(_ *github.AnswerError, at failure) string {
			return "is LABEL_STATE_API_URL, or a proxy, in the way? See: " + at.doctor() + " --verbose"
		}),
		on(exitUnknown, hintStatus),
		on(exitUnknown, hintTrouble[*github.QueryError]),
		on(exitUnknown, func(e *github.NetworkError, _ failure) string {
			if interrupted(e) {
				return ""
			}
			return "check the network and LABEL_STATE_API_URL, then try again"
		}),
	}
}

// hintPermission goes by GitHub's words where no permission is what is missing.
func hintPermission(e *github.PermissionError, at failure) string {
	if strings.Contains(e.Message, "archived") && at.repo() != "" {
		return "nothing can be written while it is archived; an owner may: gh repo unarchive " + at.repo()
	}
	return "see what the token may do: " + at.doctor()
}

func hintTimeout(e *timeoutError, at failure) string {
	if e.store() != "" {
		return "nothing is claimed while the lease store cannot be asked; see whether it answers: " + at.doctor()
	}
	return "try again with a longer --timeout"
}

func hintTrouble[E error](E, failure) string {
	return "GitHub has trouble of its own (https://www.githubstatus.com); try again in a minute"
}

func hintStatus(e *github.StatusError, at failure) string {
	if e.Status >= 500 {
		return hintTrouble(e, at)
	}
	return "see which request it was, with --verbose; what the token may do: " + at.doctor()
}

// hereAnswers are for files of this machine.
func hereAnswers() []answer {
	return []answer{
		on(exitUnknown, func(e *holdfile.UnreadableError, _ failure) string {
			return "name the worker with --codename and --firing-id, or forget the hold: rm " + e.File
		}),
		on(exitUnknown, func(e *localpause.UnreadableError, _ failure) string {
			return "nothing is claimed until it can be read; repair it, or: rm " + e.File
		}),
		func(err error) (int, string, bool) {
			return exitUnknown, "run it again", errors.Is(err, localpause.ErrBusy)
		},
	}
}

// lastAnswers are for errors of which nobody else knows the cause.
func lastAnswers() []answer {
	return []answer{
		on(exitUnknown, func(_ *lease.Error, at failure) string {
			return "nothing is claimed while the lease store cannot be asked; see whether it answers: " + at.doctor()
		}),
		on(exitUnknown, says[*ledger.BundleError]("nothing is held; run it again")),
	}
}
