package trouble

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/work"
)

// A Kind knows one kind of error of a package below: its code, and what to do next where that is
// not what the code says. Of any other error it says that it is not of its kind.
type Kind func(err error, at *answer.Problem) (answer.Code, []answer.Command, bool)

// For is the code of all errors of a type.
func For[E error](code answer.Code) Kind {
	return Advised(code, func(E, *answer.Problem) []answer.Command { return nil })
}

// Advised is For with what to do next; no command at all is what the code says.
func Advised[E error](code answer.Code, next func(e E, at *answer.Problem) []answer.Command) Kind {
	return func(err error, at *answer.Problem) (answer.Code, []answer.Command, bool) {
		e, is := errors.AsType[E](err)
		if !is {
			return "", nil, false
		}
		return code, next(e, at), true
	}
}

// kinds are those of the packages that the command line and the Go package share, after more of a
// front end's own. The first that knows what to do next says it.
func kinds(more []Kind) []Kind {
	return slices.Concat(more, wrongKinds(), noKinds(), reachKinds(), machineKinds())
}

// Then are commands in the order in which to try them.
func Then(next ...answer.Command) []answer.Command { return next }

// wrongKinds are what was called or configured wrongly.
func wrongKinds() []Kind {
	return []Kind{
		For[*work.OptionError](answer.Usage),
		keyKind,
		Advised(answer.Config, hintConfig),
	}
}

// keyKind is a firing id that an earlier claim has used.
func keyKind(err error, _ *answer.Problem) (answer.Code, []answer.Command, bool) {
	if !errors.Is(err, claim.ErrKeyUsed) {
		return "", nil, false
	}
	return answer.Usage, Then(answer.Call("give no firing id, nor LABEL_STATE_FIRING_ID, and one is made", answer.AgainNewID)), true
}

func hintConfig(e *config.Error, _ *answer.Problem) []answer.Command {
	switch {
	case e.Everybodys:
		return Then(answer.Advice("leave "+e.Path+" out of "+e.File),
			answer.Advice("the shared configuration is "+config.Path+" on the default branch"))
	case e.Unreadable:
		return Then(answer.Shell("check that it can be read", "ls", "-l", e.File),
			answer.Advice("or name another file"))
	case e.File == config.Unread && !e.Named:
		return Then(answer.Shell("rename it", "git", "mv", config.Unread, config.Path))
	}

	var args []string
	if e.Named {
		args = []string{"--config", e.File}
	}

	when := "correct " + e.File + ", then try it with"
	if len(e.More) > 2 { // which are not all printed
		when = "correct " + e.File + "; all that is wrong with it"
	}

	return Then(answer.Call(when, "doctor", args...))
}

// leftKind is a bundle of which something could not be released.
func leftKind(err error, _ *answer.Problem) (answer.Code, []answer.Command, bool) {
	e, is := errors.AsType[*ledger.BundleError](err)
	if !is || e.Left == nil {
		return "", nil, false // its cause knows better
	}
	release := answer.Call("what is left expires within ten minutes, or at once with", "bundle release", e.Slug)
	return answer.Unread, Then(release), true
}

// noKinds are the answer no.
func noKinds() []Kind {
	return []Kind{
		leftKind,
		Advised(answer.NoWork, hintNoWork),
		Advised(answer.Held, hintHeld),
		lostKind,
	}
}

func hintNoWork(e *work.NoWorkError, at *answer.Problem) []answer.Command {
	switch {
	case e.Queue == 0:
		return Then(LabelIssue("label an issue", "NUMBER", repoOf(at), e.Label),
			answer.Call("what others work on", "board", "--repo", repoOf(at)))
	case e.Passed[0].Reason == string(lifecycle.CodePaused):
		return Then(answer.Advice("a person decides when claims go on"),
			answer.Call("whose pause it is, and how it ends", "doctor", repoOf(at)))
	case e.Passed[0].Reason == string(lifecycle.CodeLimit):
		return Then(answer.Call("what is in progress", "board", "--repo", repoOf(at)))
	}

	return nil
}

// Resume is how a person ends a pause; here is whether it is this host's.
func Resume(repo string, here bool) answer.Command {
	args := []string{repo}
	if here {
		args = append(args, "--local")
	}
	return answer.Call("wait, or ask who paused it; to let claims go on", "repo resume", args...)
}

func hintHeld(e *ledger.HeldError, _ *answer.Problem) []answer.Command {
	who := answer.Call("see who holds it", "status", e.Issue.String())
	if e.Shared {
		return Then(hintShared(e, who))
	}
	if e.Yielded == nil && len(e.Verdict.Reasons) > 0 {
		return hintReason(e.Issue, e.Verdict.Reasons[0])
	}

	return Then(who)
}

// hintShared is the way on for a process whose run has the issue in another process.
func hintShared(held *ledger.HeldError, who answer.Command) answer.Command {
	own, is := held.Own()
	if !is {
		return who
	}

	w, when := own.Record.Worker, ""
	if held.Before {
		return answer.Call("if that process is gone, release its hold and claim the issue under another run", "release",
			held.Issue.String(), "--codename", w.Codename, "--firing-id", w.FiringID)
	}

	if !held.Asked.IsZero() {
		when = "after " + printable.Minute(held.Asked.Add(time.Minute-1)) + ", "
	}

	if !own.Held() {
		return anotherRun(when+"if that process is gone, ", held.Issue, w)
	}

	return answer.Call(when+"if that process is gone, take its hold over", "claim", held.Issue.String(),
		"--codename", w.Codename, "--firing-id", w.FiringID, "--resume")
}

// anotherRun is the way on for a run that cannot get the issue, or lost it: the worker's next run.
// The environment of a command under run has this run's firing id.
func anotherRun(before string, i claim.Issue, w claim.Worker) answer.Command {
	return answer.Call(before+"claim it under another run, without LABEL_STATE_FIRING_ID", "claim", i.String(),
		"--codename", w.Codename)
}

// hintReason is the way on past one reason why an issue may not be taken.
func hintReason(i claim.Issue, r lifecycle.Reason) []answer.Command {
	issue := i.String()
	reopen := func(what string) []string {
		return []string{what, "reopen", strconv.Itoa(i.Number), "--repo", i.Slug()}
	}

	switch r.Code {
	case lifecycle.CodePaused:
		return Then(Resume(i.Slug(), r.Here))
	case lifecycle.CodeLimit:
		return Then(answer.Call("what is in progress", "board", "--repo", i.Slug()))
	case lifecycle.CodeHold:
		return Then(answer.Call("the person who added the label releases it with", "release", issue),
			answer.Advice("anybody else removes the label there: "+r.URL))

	case lifecycle.CodeAssigned:
		return Then(Queue("see what is free", i.Slug()),
			answer.Call("who works on this one", "status", issue))

	case lifecycle.CodePROpen, lifecycle.CodeMerged:
		if r.URL == "" {
			return Then(answer.Call("check that the token may read it, or start the issue again", "release", issue,
				"--force"))
		}

		there := answer.Advice("continue there: " + r.URL)
		if r.ByStranger() {
			return Then(there, answer.Call("or take the issue anyway", "claim", issue, "--force"))
		}

		return Then(there)
	case lifecycle.CodeDone:
		return Then(answer.Call("if it is not done after all", "release", issue, "--force"))
	case lifecycle.CodeClosed:
		switch r.Pull {
		case lifecycle.PRMerged:
			return Then(Queue("nothing is left to do on it; see what is free", i.Slug()))
		case lifecycle.PRClosed:
			return Then(answer.Shell("if it is wanted after all", "gh", reopen("pr")...))
		}

		return Then(answer.Shell("if it is not done after all", "gh", reopen("issue")...))

	case lifecycle.CodeAttempts:
		return Then(answer.Call("see why", "log", issue),
			answer.Advice("a person lets agents try again by commenting /requeue there: "+r.URL))
	case lifecycle.CodeScope, lifecycle.CodeExcluded, lifecycle.CodePlan:
		return Then(answer.Advice("a person decides, by taking the label off: " + r.URL))
	case lifecycle.CodeCutShort:
		return Then(answer.Advice("a maintainer ends the wait by commenting /requeue there: " + r.URL))
	case lifecycle.CodeInFlight:
		return Then(answer.Call("see who holds it", "status", issue))
	case lifecycle.CodeOwn:
		if r.Claim != nil && r.Claim.Person != "" {
			return Then(answer.Call("it is your own hold; end it with", "release", issue))
		}
		return Then(answer.Call("see what blocks it", "status", issue))
	case lifecycle.CodeBlocked, lifecycle.CodeBackingOff, lifecycle.CodeUnread, lifecycle.CodeUnshown:
		return Then(answer.Call("see what blocks it", "status", issue))
	}

	return nil // of a reason without a case; a test asks for each
}

// lostKind is a hold that has ended, that is another login's, or that never was.
func lostKind(err error, _ *answer.Problem) (answer.Code, []answer.Command, bool) {
	e, is := errors.AsType[*ledger.LostError](err)
	switch {
	case !is:
		return "", nil, false
	case e.Worker.IsZero():
		return answer.Declined, Then(answer.Call("see what is known about it", "status", e.Issue.String())), true
	case e.Foreign():
		return answer.Lost, Then(answer.Call("see who holds it", "status", e.Issue.String())), true
	case errors.Is(err, claim.ErrUnconfirmed) && e.Holder == nil:
		return answer.Lost, Then(anotherRun("", e.Issue, e.Worker)), true
	case e.End.Overdue(e):
		return answer.Lost, hintExpired(e), true
	}

	return answer.Lost, Then(answer.Call("stop work on it; see who holds it now", "status", e.Issue.String())), true
}

// hintExpired is the way on for a worker whose hold time has ended.
func hintExpired(e *ledger.LostError) []answer.Command {
	before := "nobody has taken it; "
	switch {
	case len(e.Bars) == 0:
	case e.Bars[0].Code == lifecycle.CodeBackingOff:
		before += e.Bars[0].Text + ", then "
	default:
		return hintReason(e.Issue, e.Bars[0])
	}

	return Then(anotherRun(before, e.Issue, e.Worker))
}

// A remedied error knows itself what to do about it.
type remedied interface {
	error
	Remedy() string
}

// reachKinds are a lease store that refuses, and a GitHub that could not be asked.
func reachKinds() []Kind {
	return []Kind{
		Advised(answer.Store, func(e *lease.DeniedError, at *answer.Problem) []answer.Command {
			return Then(answer.Advice(e.Remedy), doctor("then", at))
		}),
		Advised(answer.NotCounted, hintOutsider),
		For[*setup.NoTokenError](answer.NoToken),
		For[*github.HiddenRoleError](answer.Unread),
		For[*github.NoGraphQLError](answer.Server),
		Advised(answer.Unread, func(e remedied,
			_ *answer.Problem,
		) []answer.Command {
			return Then(answer.Advice(e.Remedy()))
		}),
		For[*github.AuthError](answer.BadToken),
		Advised(answer.Forbidden, hintPermission),
		Advised(answer.NotFound, func(e *github.NotFoundError, at *answer.Problem) []answer.Command {
			if e.Write {
				return Then(doctor("check the name and the number, and that the token may write there", at))
			}
			return nil
		}),
		For[*github.MovedError](answer.Moved),
		For[*github.RateLimitError](answer.Limited),
		Advised(answer.Server, func(_ *github.AnswerError, at *answer.Problem) []answer.Command {
			see := doctor("check LABEL_STATE_API_URL and the proxy; see", at)
			see.Args = append(see.Args, "--verbose")
			return Then(see)
		}),
		Advised(answer.Server, func(e *github.StatusError, at *answer.Problem) []answer.Command {
			if e.Status >= 500 {
				return nil
			}
			return Then(answer.Call("see which request it was", answer.Again, "--verbose"), doctor("what the token may do", at))
		}),
		For[*github.QueryError](answer.Server),
		Advised(answer.Network, func(e *github.NetworkError, _ *answer.Problem) []answer.Command {
			if Interrupted(e) {
				return Then(answer.Call("fix the cause, then run", answer.Again))
			}
			return nil
		}),
	}
}

// hintOutsider is the way on for a login whose records do not count: as a contributor where the
// repository lets contributors claim, else with a role.
func hintOutsider(e *github.OutsiderError, at *answer.Problem) []answer.Command {
	if e.Welcome && !strings.Contains(at.Object, "#") { // for a named issue a claim says more
		return Then(Queue("see what is free", e.Repo.String()),
			Say("take one as a contributor, by a comment", "NUMBER", e.Repo.String(), "/claim"))
	}

	return Then(answer.Advice(e.Remedy()), answer.Call("then", "doctor", e.Repo.String()))
}

func hintPermission(e *github.PermissionError, at *answer.Problem) []answer.Command {
	switch {
	case e.Archived() && repoOf(at) != "": // no permission is what is missing
		return Then(answer.Shell("nothing can be written while it is archived; an owner may", "gh", "repo", "unarchive",
			repoOf(at)))
	case e.Locked() && strings.Contains(at.Object, "#"):
		repo, number, _ := strings.Cut(at.Object, "#")
		return Then(answer.Shell("only who may push comments on a locked issue, and may unlock it", "gh", "issue", "unlock",
			number, "--repo", repo))
	case e.Push:
		return Then(answer.Call("somebody who may push does it", answer.Again))
	case e.Needs != "":
		return Then(answer.Advice("give the token the permission "+e.Needs), doctor("then", at))
	}

	return nil
}

// machineKinds are files of this machine, and errors of which nobody else knows the cause.
func machineKinds() []Kind {
	return []Kind{
		For[*lease.Error](answer.Store),
		Advised(answer.Unread, func(e *ledger.BundleError, at *answer.Problem) []answer.Command {
			if codeIn(errors.Join(e.Causes...), kinds(nil)) != answer.Unread {
				return nil // which says what to do
			}
			if Interrupted(errors.Join(e.Causes...)) {
				return Then(answer.Call("nothing is held; go on with", answer.Again))
			}
			return Then(doctor("nothing is held; see what prevents it", at), answer.Call("then", answer.Again))
		}),
		For[*fs.PathError](answer.Machine),
		For[*os.LinkError](answer.Machine),
	}
}

// LabelIssue puts a label on an issue; when says what for.
func LabelIssue(when, number, repo, label string) answer.Command {
	return answer.Shell(when, "gh", "issue", "edit", number, "--repo", repo, "--add-label", label)
}

// Queue is the command that lists what is free in a repository; when introduces it in a hint.
func Queue(when, repo string) answer.Command {
	return answer.Call(when, "next", "--list", "--repo", repo)
}

// Say posts a comment, which may be a command; when says what for.
func Say(when, number, repo, words string) answer.Command {
	return answer.Shell(when, "gh", "issue", "comment", number, "--repo", repo, "--body", words)
}

// Interrupted reports whether a person or a limit of time ended it.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
