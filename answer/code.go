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
}

// Meanings is the table of all codes, a row for each, in the order of the exit codes.
func Meanings() []Meaning {
	return []Meaning{
		{Held, ExitNo, "held", "the issue may not be taken, for the reasons given"},
		{Lost, ExitNo, "lost", "the hold has ended: stop working on the issue"},
		{NoPlan, ExitNo, "no", "no plan is waiting for an answer"},
		{PlanWaits, ExitNo, "no", "a plan is waiting for its answer already"},
		{Barred, ExitNo, "no", "this login may not answer the plan"},
		{NotPushed, ExitNo, "no", "the push was refused, or the branch has moved"},
		{Declined, ExitNo, "no", "it was not done, because that would harm something"},
		{Usage, ExitWrong, "refused", "the call makes no sense"},
		{Config, ExitWrong, "refused", "the configuration is invalid"},
		{WrongStore, ExitWrong, "refused", "another lease store decided the hold than the configuration names"},
		{NoPull, ExitWrong, "refused", "the address is not that of a pull request"},
		{Unread, ExitUnknown, "unknown", "something could not be read"},
		{Unshown, ExitUnknown, "unknown", "GitHub counts comments that it does not show"},
		{NotCounted, ExitUnknown, "unknown", "records of this login do not count in the repository"},
		{NoToken, ExitUnknown, "unknown", "there is no token"},
		{BadToken, ExitUnknown, "unknown", "GitHub does not accept the token"},
		{Forbidden, ExitUnknown, "unknown", "the token lacks a permission"},
		{NotFound, ExitUnknown, "unknown", "it does not exist, or the token may not see it"},
		{Moved, ExitUnknown, "unknown", "the repository has another name now"},
		{Limited, ExitUnknown, "unknown", "a limit for requests was reached"},
		{Server, ExitUnknown, "unknown", "GitHub answered with an error of its own"},
		{Network, ExitUnknown, "unknown", "GitHub could not be reached"},
		{Store, ExitUnknown, "unknown", "the lease store could not be asked"},
		{Timeout, ExitUnknown, "unknown", "there was no answer in time"},
		{Interrupt, ExitUnknown, "unknown", "it was interrupted"},
		{Machine, ExitUnknown, "unknown", "a file or a program of this machine failed"},
		{NoWork, ExitNoWork, "none", "no issue is free now"},
	}
}

// Meaning returns the row of c. A code that is none of ours could not be found out.
func (c Code) Meaning() Meaning {
	rows := Meanings()
	if i := slices.IndexFunc(rows, func(m Meaning) bool { return m.Code == c }); i >= 0 {
		return rows[i]
	}
	return Meaning{Code: c, Exit: ExitUnknown, Word: "unknown", Text: string(c)}
}

// Exit returns the exit status of the answer: ExitYes without a problem.
func (a Answer) Exit() int {
	if a.Problem == nil {
		return ExitYes
	}
	return a.Problem.Code.Meaning().Exit
}

// Exit returns the exit status of several problems together: the first of called wrongly, no work, no, and could not find out
// that one of them has. Without any it is ExitYes.
func Exit(problems ...*Problem) int {
	for _, code := range []int{ExitWrong, ExitNoWork, ExitNo, ExitUnknown} {
		if slices.ContainsFunc(problems, func(p *Problem) bool { return p.Code.Meaning().Exit == code }) {
			return code
		}
	}
	return ExitYes
}
