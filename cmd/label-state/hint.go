package main

import (
	"errors"
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

// hintFor gives a tired person the next command.
func hintFor(err error) string {
	for _, ask := range []func(error) string{
		hintGiven, hintChain, hintCalled, hintNo, hintStore, hintReach, hintHere, hintAway, hintUndertaking,
	} {
		if hint := ask(err); hint != "" {
			return hint
		}
	}
	return ""
}

// hintGiven is the hint of the innermost failure that has one: it knows best.
func hintGiven(err error) (hint string) {
	var f *failure
	for errors.As(err, &f) {
		if f.hint != "" {
			hint = f.hint
		}
		err = f.err
	}
	return hint
}

// hintCalled is for what was called or configured wrongly.
func hintCalled(err error) string {
	var (
		f     *failure
		use   *usageError
		call  *ledger.CallError
		ref   *host.ReferenceError
		conf  *config.Error
		value *setup.SettingError
		asked *work.OptionError
		store *ledger.StoreError
	)
	switch {
	case errors.As(err, &store):
		return "use the configuration of the default branch: git pull, and leave --config and LABEL_STATE_CONFIG out"
	case errors.As(err, &use):
		return strings.TrimSpace("label-state "+use.command) + " --help"
	case errors.As(err, &asked) && errors.As(err, &f):
		return "label-state " + f.doing + " --help"
	case errors.As(err, &ref) && ref.Kind == "repository":
		return "give OWNER/NAME, as in: label-state doctor acme/app"
	case errors.As(err, &ref):
		return "give owner/repo#7, the issue's URL, or inside a clone just 7"
	case errors.As(err, &conf) && conf.Path == "claim.lease" && conf.Line == 0:
		return "git pull, and leave --config and LABEL_STATE_CONFIG out"
	case errors.As(err, &conf) && conf.Line == 0 && conf.Path == "":
		return "see that " + conf.File + " can be read, or name another file with --config"
	case errors.As(err, &conf):
		return "correct " + conf.File + ", then try it with: label-state doctor"
	case errors.As(err, &value) && value.Setting == "LABEL_STATE_API_URL":
		return "set it to a URL such as https://api.github.com, or: unset LABEL_STATE_API_URL"
	case errors.As(err, &value):
		return "correct " + value.Setting
	case errors.As(err, &call) && errors.As(err, &f):
		return "label-state " + f.doing + " --help"
	}
	return ""
}

// hintNo is for the answer no.
func hintNo(err error) string {
	var held *ledger.HeldError
	var lost *ledger.LostError
	var item *work.Error
	switch {
	case errors.Is(err, work.ErrNoWork):
		return "ask again later; see what others work on: label-state work list --include-claimed"
	case errors.As(err, &held) && held.Yielded == nil && len(held.Verdict.Reasons) > 0:
		return hintReason(held, held.Verdict.Reasons[0])
	case errors.As(err, &held):
		return "see who holds it: label-state status " + held.Issue.String()
	case errors.As(err, &lost) && lost.Worker.IsZero():
		return "see what is known about it: label-state status " + lost.Issue.String()
	case errors.As(err, &lost):
		return "stop work on it; see who holds it now: label-state status " + lost.Issue.String()
	case errors.As(err, &item) && item.ID != "" && item.Another():
		return "see what there is to do: label-state work list"
	}
	return ""
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
		return "claim the issue that it closes"
	case lifecycle.CodeScope, lifecycle.CodeExcluded, lifecycle.CodeAttempts:
		return "a person decides, by taking the label off: " + r.URL
	case lifecycle.CodeInFlight:
		return "see who holds it: label-state status " + issue
	}
	return "see what stands in the way: label-state status " + issue
}

// hintStore is for a lease store that refuses, or that this program does not have.
func hintStore(err error) string {
	var denied *lease.DeniedError
	switch {
	case errors.As(err, &denied):
		return denied.Remedy + "; then: " + doctorOf(err)
	case errors.Is(err, lease.ErrNotLinked):
		return "use the label-state program itself"
	}
	return ""
}

// hintAway is for a lease store that could not be asked.
func hintAway(err error) string {
	var store *lease.Error
	if errors.As(err, &store) {
		return "nothing is claimed while the lease store cannot be asked; see whether it answers: " + doctorOf(err)
	}
	return ""
}

// doctorOf is the command that examines the repository the error is about.
func doctorOf(err error) string {
	var f *failure
	if errors.As(err, &f) && strings.Contains(f.object, "/") {
		return "label-state doctor " + slug(f.object)
	}
	return "label-state doctor"
}

// hintReach is for a GitHub that could not be asked.
func hintReach(err error) string {
	var (
		f       *failure
		token   *setup.NoTokenError
		bad     *setup.BadTokenError
		auth    *github.AuthError
		allowed *github.PermissionError
		missing *github.NotFoundError
		moved   *github.MovedError
		limit   *github.RateLimitError
		network *github.NetworkError
		answer  *github.AnswerError
		status  *github.StatusError
		query   *github.QueryError
		late    *timeoutError
		stopped *interruptedError
	)
	doctor := doctorOf(err)
	named := errors.As(err, &f)
	switch {
	case errors.As(err, &late):
		return "try again with a longer --timeout"
	case errors.As(err, &stopped) && named && strings.Contains(f.object, "#"):
		return "see where it stands: label-state status " + f.object
	case errors.As(err, &token):
		return "set one of them, or run: gh auth login"
	case errors.As(err, &bad):
		return "set " + bad.Source + " to the token as GitHub shows it"
	case errors.As(err, &auth):
		return "see which token is used and what it may do: " + doctor
	case errors.As(err, &allowed):
		return "see what the token may do: " + doctor
	case errors.As(err, &missing):
		return "check the name and the number, and that the token may see it: " + doctor
	case errors.As(err, &moved):
		return "its old address leads to the new one in a browser; use that name, in a clone: git remote set-url origin URL"
	case errors.As(err, &limit):
		return "wait until then, or use another token"
	case errors.As(err, &answer):
		return "is LABEL_STATE_API_URL, or a proxy, in the way? See: " + doctor + " --verbose"
	case errors.As(err, &status) && status.Status >= 500, errors.As(err, &query):
		return "GitHub has trouble of its own (https://www.githubstatus.com); try again in a minute"
	case errors.As(err, &status):
		return "see which request it was, with --verbose; what the token may do: " + doctor
	case errors.As(err, &network) && !interrupted(err):
		return "check the network and LABEL_STATE_API_URL, then try again"
	}
	return ""
}

// slug is the repository of an issue's name.
func slug(object string) string {
	name, _, _ := strings.Cut(object, "#")
	return name
}

// hintHere is for files of this machine.
func hintHere(err error) string {
	var (
		pauses *localpause.UnreadableError
		hold   *holdfile.UnreadableError
	)
	switch {
	case errors.As(err, &hold):
		return "name the worker with --codename and --firing-id, or forget the hold: rm " + hold.File
	case errors.As(err, &pauses):
		return "nothing is claimed until it can be read; repair it, or: rm " + pauses.File
	case errors.Is(err, localpause.ErrBusy):
		return "run it again"
	}
	return ""
}
