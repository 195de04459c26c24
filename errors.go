package labelstate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/work"
)

// The errors that mean no, for errors.Is.
var (
	ErrHeld      = errors.New("held")                        // the issue may not be taken; a *HeldError says why
	ErrLost      = errors.New("lost")                        // the hold has ended: its worker must stop
	ErrNoWork    = errors.New("no work")                     // no issue is free now; a *NoWorkError says why
	ErrNoPlan    = errors.New("no plan waits for an answer") // or its hold has ended
	ErrPlanWaits = errors.New("a plan waits for its answer") // already, so that no other can be posted
	ErrBarred    = errors.New("may not answer the plan")     // the login that wrote the plan, for example
)

// ErrInvalid means that a call or a configuration is invalid. Nothing was written, and the same call fails again.
var ErrInvalid = errors.New("invalid")

// An OptionsError says which required [Options] are empty. It is [ErrInvalid].
type OptionsError struct {
	Missing []string // names of fields: Repo, Token
	Err     error    // why the environment has none; nil where it was not asked
}

func (e *OptionsError) Error() string {
	text := "open: empty Options." + strings.Join(e.Missing, " and Options.") + ": set it, or begin with FromEnvironment()"
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

// A ForeignHoldError says that a hold is of another repository or host than the client. It is [ErrInvalid].
type ForeignHoldError struct {
	Hold   string // HOST/OWNER/NAME of the hold
	Client string // the same of the client
}

func (e *ForeignHoldError) Error() string {
	return fmt.Sprintf("the hold is of %s, and this client is for %s", e.Hold, e.Client)
}

// Unwrap returns ErrInvalid.
func (e *ForeignHoldError) Unwrap() error { return ErrInvalid }

// A HeldError says why an issue may not be taken. It is [ErrHeld].
type HeldError struct {
	Reasons []Reason
	err     error
}

func (e *HeldError) Error() string { return e.err.Error() }

// Unwrap returns ErrHeld.
func (e *HeldError) Unwrap() error { return ErrHeld }

// A Reason is one cause why an issue may not be taken.
type Reason struct {
	Code  ReasonCode
	Text  string    // one clause for people; it may contain other people's text
	URL   string    // evidence
	Until time.Time // when it ends by itself; zero when it does not
}

// A NoWorkError lists what was passed over in a queue without a free issue. It is [ErrNoWork].
type NoWorkError struct {
	Queue  int    // how many open issues have the label of the queue
	Label  string // that label
	Passed []PassedOver
	err    error
}

func (e *NoWorkError) Error() string { return e.err.Error() }

// Unwrap returns ErrNoWork.
func (e *NoWorkError) Unwrap() error { return ErrNoWork }

// A PassedOver counts the issues of a queue that were passed over for one reason.
type PassedOver struct {
	Code  ReasonCode
	Text  string // the reason in words
	Items int
}

// doing adds to an error what was being done, and to what.
func (c *Client) doing(verb string, number int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s: %w", verb, c.issue(number), err)
}

// answer turns an error of the ledger into this package's. Late labels are a warning: the record counts, and the next sweep
// brings the labels in line.
func (c *Client) answer(err error) error {
	var (
		held   *ledger.HeldError
		lost   *ledger.LostError
		late   *ledger.LabelsError
		none   *work.NoWorkError
		barred *ledger.BarredError
		call   *ledger.CallError
		store  *ledger.StoreError
		option *work.OptionError
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &held):
		return &HeldError{reasons(held.Verdict), held}
	case errors.As(err, &lost):
		return fmt.Errorf("%w: %w", ErrLost, lost)
	case errors.As(err, &late):
		c.warn(late.Issue.String() + ": " + late.Error())
		return nil
	case errors.Is(err, lease.ErrNotLinked):
		return fmt.Errorf("%w: %w: import lease/%s and list its Store in Options", ErrInvalid, err, c.s.Config.Claim.Lease)
	case errors.As(err, &none):
		out := &NoWorkError{Queue: none.Queue, Label: none.Label, err: none}
		for _, p := range none.Passed {
			out.Passed = append(out.Passed, PassedOver{ReasonCode(p.Reason), p.Text, p.Items})
		}
		return out
	case errors.Is(err, ledger.ErrPlanWaits):
		return ErrPlanWaits
	case errors.As(err, &barred):
		return fmt.Errorf("%w: %w", ErrBarred, barred)
	case errors.As(err, &call), errors.As(err, &store), errors.As(err, &option):
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return err
}

func reasons(v lifecycle.Verdict) (out []Reason) {
	for _, r := range v.Reasons {
		out = append(out, Reason{ReasonCode(r.Code), r.Text, r.URL, r.Until})
	}
	return out
}
