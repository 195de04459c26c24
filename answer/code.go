package answer

import "slices"

// A Code names a kind of problem. Meanings is the closed list.
type Code string

// The kinds of problems.
const (
	Held       Code = "held"
	Lost       Code = "lost"
	NoPlan     Code = "no-plan"
	PlanWaits  Code = "plan-waits"
	Barred     Code = "barred"
	NotPushed  Code = "not-pushed"
	Declined   Code = "declined"
	NoWork     Code = "no-work"
	Usage      Code = "usage"
	Config     Code = "configuration"
	WrongStore Code = "wrong-store"
	NoPull     Code = "no-pull-request"
	Unread     Code = "unread"
	Unshown    Code = "unshown"
	NotCounted Code = "not-counted"
	NoToken    Code = "no-token"
	BadToken   Code = "bad-token"
	Forbidden  Code = "forbidden"
	NotFound   Code = "not-found"
	Moved      Code = "moved"
	Limited    Code = "rate-limit"
	Server     Code = "server"
	Network    Code = "network"
	Store      Code = "lease-store"
	Timeout    Code = "timeout"
	Interrupt  Code = "interrupted"
	Machine    Code = "machine"
)

// The exit codes (docs/cli.md, Exit codes).
const (
	ExitYes     = 0
	ExitNo      = 1 // held, refused, lost
	ExitWrong   = 2 // called or configured wrongly; nothing was written
	ExitUnknown = 3 // could not find out
	ExitNoWork  = 4 // nothing to do, nothing begun
)

// A Meaning is a row of the table of codes.
type Meaning struct {
	Code Code
	Exit int
	Word Word   // in JSON
	Text string // one sentence's worth for people, without a full stop

	// Next is what to do about it where a problem says nothing of its own.
	Next []Command
}

// The placeholders in what to do next: what they stand for is known only where the problem is
// shown.
const (
	TheObject = "OBJECT"
	TheIssue  = "ISSUE"
	TheRepo   = "REPO"
	TheVerb   = "VERB"
)

// Meanings is the table of all codes, a row for each, in the order of the exit codes.
func Meanings() []Meaning {
	again := Call("fix the cause, then run", Again)
	stands := Call("see its state", "status", TheIssue)
	usage := Call("", TheVerb, "--help")

	return []Meaning{
		no(Held, "held", "the issue may not be taken, for the reasons given",
			Call("see who holds it", "status", TheIssue)),
		no(Lost, "lost", "the hold has ended: stop working on the issue",
			Call("stop work on it; see who holds it now", "status", TheIssue)),
		no(NoPlan, "no", "no plan is waiting for an answer", stands),
		no(PlanWaits, "no", "a plan is waiting for its answer already",
			Call("wait for the answer", "plan", TheIssue, "--wait", "8h")),
		no(Barred, "no", "this login may not answer the plan", stands),
		no(NotPushed, "no", "the push was refused, or the branch has moved",
			Call("nothing was pushed; correct what git or the remote reports above, then", Again)),
		no(Declined, "no", "no, for a reason of this command; the error says which", again),

		wrong(Usage, "the call makes no sense", usage),
		wrong(Config, "the configuration is invalid", Call("correct it, then try it with", "doctor")),
		wrong(WrongStore, "another lease store decided the hold than the configuration names",
			Advice("name the store again in claim.lease on the default branch, until the hold is released")),
		wrong(NoPull, "the address is not that of a pull request",
			Shell("see its URL with", "gh", "pr", "view", "--json", "url"),
			Call("without one", "release", TheIssue)),

		unknown(Unread, "something could not be read", again),
		unknown(Unshown, "GitHub counts comments that it does not show",
			Call("look for a claim among them", "log", TheIssue)),
		unknown(NotCounted, "records of this login do not count in the repository",
			Call("see which role counts", "doctor", TheRepo)),
		unknown(NoToken, "there is no token",
			Shell("set GH_TOKEN, or run", "gh", "auth", "login")),
		unknown(BadToken, "GitHub does not accept the token",
			Call("see which token is used and what it may do", "doctor", TheRepo)),
		unknown(Forbidden, "the token lacks a permission",
			Call("see what the token may do", "doctor", TheRepo)),
		unknown(NotFound, "it does not exist, or the token may not see it",
			Call("check the name and the number, and that the token may see it", "doctor", TheRepo)),
		unknown(Moved, "the repository has another name now",
			Advice("use its new name, in a clone by git remote set-url origin URL"),
			Shell("find it with", "gh", "repo", "view", TheRepo, "--json", "nameWithOwner")),
		unknown(Limited, "a limit for requests was reached",
			Call("from then on", Again)),
		unknown(Server, "GitHub answered with an error of its own",
			Call("GitHub has trouble of its own (https://www.githubstatus.com); in a minute", Again)),
		unknown(Network, "GitHub could not be reached",
			Call("check the network and LABEL_STATE_API_URL, then", Again)),
		unknown(Store, "the lease store could not be asked",
			Call("nothing is claimed while the lease store cannot be asked; see whether it answers", "doctor",
				TheRepo)),
		unknown(Timeout, "there was no answer in time",
			Call("see what is slow", "doctor", TheRepo),
			Call("then", AgainLonger)),
		unknown(Interrupt, "it was interrupted",
			Call("it may have begun; go on with", Again)),
		unknown(Machine, "a file or a program of this machine failed", again),

		{
			Code: NoWork,
			Exit: ExitNoWork,
			Word: "none",
			Text: "no issue is free now",
			Next: []Command{Call("see what keeps them", "board", "--repo", TheRepo), Call("later", Again)},
		},
	}
}

func no(c Code, word Word, text string, next ...Command) Meaning {
	return Meaning{c, ExitNo, word, text, next}
}

func wrong(c Code, text string, next ...Command) Meaning {
	return Meaning{c, ExitWrong, "refused", text, next}
}

func unknown(c Code, text string, next ...Command) Meaning {
	return Meaning{c, ExitUnknown, "unknown", text, next}
}

// Meaning returns the row of c. A code that is none of ours could not be found out.
func (c Code) Meaning() Meaning {
	rows := Meanings()
	if i := slices.IndexFunc(rows, func(m Meaning) bool { return m.Code == c }); i >= 0 {
		return rows[i]
	}

	return Meaning{
		Code: c,
		Exit: ExitUnknown,
		Word: "unknown",
		Text: string(c),
	}
}

// Exit returns the exit status of the answer: ExitYes without a problem.
func (a Answer) Exit() int {
	if a.Problem == nil {
		return ExitYes
	}
	return a.Problem.Code.Meaning().Exit
}
