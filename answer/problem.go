package answer

import (
	"errors"
	"fmt"
	"strings"
)

// A Problem says why the answer is not yes. It is the one error type of operations: its code
// decides the exit status, the hint and the word in JSON.
type Problem struct {
	Code    Code      // empty is that of the cause
	Doing   string    // the verb, such as "claim"; empty when the caller says it
	Object  string    // what it was done to, such as "acme/app#7"
	Why     string    // the cause in one clause; it may contain other people's text
	Reasons []Reason  // of Held, in the order of the verdict
	Next    []Command // what to do about it, in the order in which to try; each front end words it in its own way
	Cause   error     // for errors.Is and errors.As; its text is shown where Why is empty
}

// A Command is what to do next: a call of label-state or of another program, or advice in words
// alone.
type Command struct {
	When    string   `json:"when,omitempty"`    // what it is for, such as "if it is not done after all"; without a verb it is all there is to say
	Program string   `json:"program,omitempty"` // such as "gh", whose words are in Args; empty is label-state
	Verb    string   `json:"verb,omitempty"`    // such as "release" or "repo resume"; or Again and those beside it
	Args    []string `json:"args,omitempty"`
}

// Verbs that stand for the call that failed. Only a front end knows what was called.
const (
	Again       = "again"
	AgainLonger = "again, longer"          // with a longer limit of time
	AgainNewID  = "again, with another id" // without the firing id, which can be used no more
)

// Advice is a Command in words alone.
func Advice(text string) Command { return Command{When: text} }

// Call is a call of label-state; when says what it is for.
func Call(when, verb string, args ...string) Command {
	return Command{When: when, Verb: verb, Args: args}
}

// Shell is a call of another program; when says what it is for.
func Shell(when, program string, args ...string) Command {
	return Command{When: when, Program: program, Args: args}
}

// Error returns "claim acme/app#7: held by …", without what is not known.
func (p *Problem) Error() string {
	what := strings.TrimSpace(p.Doing + " " + p.Object)
	if what == "" {
		return p.why()
	}
	return what + ": " + p.why()
}

// why is the cause in words, or what the code means.
func (p *Problem) why() string {
	switch {
	case p.Why != "":
		return p.Why
	case p.Cause != nil:
		return p.Cause.Error()
	}

	return p.Code.Meaning().Text
}

// Answer is the answer to a caller who asked about issue.
func (p *Problem) Answer(issue string) Answer {
	return Answer{
		Issue:   issue,
		Answer:  p.Code.Meaning().Word,
		Problem: p,
		Code:    p.Code,
		Reasons: p.Reasons,
		Error:   p.why(),
		Next:    p.Next,
	}
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// Is reports whether target is a Problem of that code alone: errors.Is(err, &answer.Problem{Code:
// answer.Held}).
func (p *Problem) Is(target error) bool {
	other, is := target.(*Problem)
	bare := is && other.Doing+other.Object+other.Why == "" && other.Reasons == nil && other.Next == nil &&
		other.Cause == nil
	return bare && other.Code == p.Code
}

// Is reports whether err is a Problem of that code, through any number of wraps.
func Is(err error, code Code) bool { return errors.Is(err, &Problem{Code: code}) }

// Wrong is a call that makes no sense for the reason of cause: nothing was written.
func Wrong(cause error) error { return &Problem{Code: Usage, Cause: cause} }

// Wrongf is Wrong with a text.
func Wrongf(format string, args ...any) error { return Wrong(fmt.Errorf(format, args...)) }
