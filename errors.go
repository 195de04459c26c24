package labelstate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/trouble"
)

// A Problem says why the answer is not yes: its code, from a closed list, what was being done, to
// what, why, and what to do next. Every error of an operation on an issue is one, for errors.As.
type Problem = answer.Problem

// A Reason is one cause why an issue may not be taken. Its code is a [ReasonCode].
type Reason = answer.Reason

// The errors that mean no, for errors.Is. Each is a [Problem] of that code alone.
var (
	ErrHeld error = &Problem{Code: answer.Held} // the issue may not be taken; the Problem has the reasons
	ErrLost error = &Problem{Code: answer.Lost} // the hold has ended: its worker must stop
	// no issue is free now; a *work.NoWorkError says what was passed over
	ErrNoWork    error = &Problem{Code: answer.NoWork}
	ErrNoPlan    error = &Problem{Code: answer.NoPlan}    // or its hold has ended
	ErrPlanWaits error = &Problem{Code: answer.PlanWaits} // already, so that no other can be posted
	ErrBarred    error = &Problem{Code: answer.Barred}    // the login that wrote the plan, for example
)

// ErrInvalid means that a call or a configuration is invalid. Nothing was written, and the same
// call fails again.
var ErrInvalid = errors.New("invalid")

// An OptionsError says which required [Options] are empty. It is [ErrInvalid].
type OptionsError struct {
	Missing []string // names of fields: Repo, Token
	Err     error    // why the environment has none; nil where it was not asked
}

func (e *OptionsError) Error() string {
	text := "open: empty Options." + strings.Join(e.Missing, " and Options.") +
		": set it, or begin with FromEnvironment()"
	if e.Err != nil {
		text = "open: empty Options." + e.Missing[0] + ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns ErrInvalid and the cause.
func (e *OptionsError) Unwrap() []error {
	if e.Err == nil {
		return []error{ErrInvalid}
	}
	return []error{ErrInvalid, e.Err}
}

// A ForeignHoldError says that a hold is of another repository or host than the client. It is
// [ErrInvalid].
type ForeignHoldError struct {
	Hold   string // HOST/OWNER/NAME of the hold
	Client string // the same of the client
}

func (e *ForeignHoldError) Error() string {
	if e.Hold == "/" {
		return "it is no hold, but the zero value"
	}
	return fmt.Sprintf("the hold belongs to %s, and this client is for %s", e.Hold, e.Client)
}

// Unwrap returns ErrInvalid.
func (e *ForeignHoldError) Unwrap() error { return ErrInvalid }

// doing adds to an error what was being done, and to which issue.
func (c *Client) doing(verb string, number int, err error) error {
	return at(verb, c.issue(number).String(), err)
}

// at makes an error a Problem that says what was being done, and to what.
func at(doing, object string, err error) error {
	if err == nil {
		return nil
	}

	p, is := err.(*Problem)
	if !is {
		p = problem(err)
	}

	named := *p
	named.Doing, named.Object = doing, object
	return &named
}

// problem is trouble.Of with the kinds that this package alone tells apart: a wrong call, and the
// end of the caller's context.
func problem(err error) *Problem {
	is := func(cause error, code answer.Code, next ...answer.Command) trouble.Kind {
		return func(err error, _ *Problem) (answer.Code, []answer.Command, bool) {
			if !errors.Is(err, cause) {
				return "", nil, false
			}
			return code, next, true
		}
	}

	return trouble.Of(err, is(ErrInvalid, answer.Usage, answer.Advice("correct the call")),
		is(context.Canceled, answer.Interrupt), is(context.DeadlineExceeded, answer.Timeout))
}

// answer turns an error of the ledger into a Problem. Late labels are a warning: the record counts,
// and the next sweep brings the labels in line.
func (c *Client) answer(err error) error {
	var late *ledger.LabelsError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &late):
		c.warn(late.Issue.String() + ": " + late.Error())
		return nil
	case errors.Is(err, lease.ErrNotLinked):
		return fmt.Errorf("%w: %w: import lease/%s and list its Store in Options", ErrInvalid, err,
			c.s.Config.Claim.Lease)
	}

	p := problem(err)
	if p.Code.Meaning().Exit == answer.ExitWrong {
		p.Cause = errors.Join(ErrInvalid, err)
	}

	return p
}

// lost is the answer to a worker whose hold has ended.
func lost(why string) error { return &Problem{Code: answer.Lost, Why: why} }
