package cli

import (
	"errors"
	"fmt"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/printable"
	"github.com/label-state/label-state/internal/trouble"
)

// Usagef is a wrong call of a command: exit 2, with the command's usage as what to do next.
func Usagef(command, format string, args ...any) error {
	return &answer.Problem{
		Code: answer.Usage,
		Why:  fmt.Sprintf(format, args...),
		Next: []answer.Command{answer.Call("", command, "--help")},
	}
}

// Declined is a no that is neither a hold nor a lost hold.
func Declined(why string, next ...answer.Command) error {
	return &answer.Problem{Code: answer.Declined, Why: why, Next: next}
}

// Advise adds to an error what to do next, in the place of what its kind says; its kind and its
// text stay.
func Advise(err error, next ...answer.Command) error {
	if p, is := err.(*answer.Problem); is {
		advised := *p
		advised.Next = next
		return &advised
	}
	return &answer.Problem{Next: next, Cause: err}
}

// At adds to an error what was being done, and to what; object may be empty.
func At(doing, object string, err error) error {
	return &answer.Problem{Doing: doing, Object: object, Cause: err}
}

// ExitCode sorts errors into no, called wrongly and could not find out; they never mix.
func ExitCode(err error) int {
	if err == nil {
		return answer.ExitYes
	}
	return ProblemOf(err).Code.Meaning().Exit
}

// ProblemOf is any error as the one problem that it comes to. nil stays nil.
func ProblemOf(err error) *answer.Problem { return trouble.Of(err, ownKinds()...) }

// aftermath is what an error tells of what was undone, which nobody may leave out, after "; ".
func aftermath(err error) string {
	if e, ok := errors.AsType[interface {
		error
		Aftermath() string
	}](err); ok {
		return "; " + e.Aftermath()
	}

	return ""
}

// OneLine makes text from anywhere printable in one line of a terminal: no control characters, no
// escapes.
func OneLine(s string) string { return printable.Line(s) }

// Otherwise is Advise where nothing is known to do next but what the code of the error says.
func Otherwise(err error, next ...answer.Command) error {
	if trouble.Advises(err, ownKinds()...) {
		return err
	}
	return Advise(err, next...)
}
