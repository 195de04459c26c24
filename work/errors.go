package work

import (
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/answer"
)

// ErrNoWork says that no issue is free now. No work means no run (cli.md#exit-codes).
var ErrNoWork = errors.New("no work")

// A PassedOver counts the items of a queue that could not be offered for one reason.
type PassedOver = answer.PassedOver

// A NoWorkError is ErrNoWork with why there is none. An empty queue that is full of items that
// nobody may take looks like a defect, so it says what it passed over.
type NoWorkError struct {
	Queue  int      // how many items are in the queue
	Label  string   // how the queue is called
	More   []string // labels of further queues that were searched, such as a pipeline's later stages
	Passed []PassedOver
}

func (e *NoWorkError) Error() string {
	label := strings.Join(append([]string{e.Label}, e.More...), " or ")
	if e.Queue == 0 {
		return "no work: no open issue has the label " + label
	}
	texts := make([]string, len(e.Passed))
	for n, p := range e.Passed {
		texts[n] = fmt.Sprintf("%d %s", p.Items, p.Text)
	}

	return fmt.Sprintf("no work: %d with the label %s, none can be claimed: %s", e.Queue, label,
		strings.Join(texts, ", "))
}

// Unwrap returns ErrNoWork.
func (e *NoWorkError) Unwrap() error { return ErrNoWork }

// An Explainer is a Source that can say why its last search, from the first page to the last, found
// nothing.
type Explainer interface{ NoWork() *NoWorkError }

// A Reason is why a source did not do what it was asked.
type Reason string

// The reasons (docs/work.md).
const (
	AlreadyClaimed   Reason = "already_claimed"
	NotFound         Reason = "not_found"
	PermissionDenied Reason = "permission_denied"
	RateLimited      Reason = "rate_limited"
	SourceError      Reason = "source_error"  // could not find out
	InvalidState     Reason = "invalid_state" // closed, not queued, not ours, …
)

// An Error is a source's refusal, or its failure to find out.
type Error struct {
	ID     string // of the item; empty when it is about all of them
	Reason Reason
	Err    error // the cause; never nil
}

func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Another reports whether another item may be tried after this error: it was about this item alone.
func (e *Error) Another() bool {
	return e.Reason == AlreadyClaimed || e.Reason == NotFound || e.Reason == InvalidState
}

// Refused makes a refusal in words.
func Refused(id string, r Reason, format string, args ...any) *Error {
	return &Error{id, r, fmt.Errorf(format, args...)}
}

// An OptionError is a wrong argument: the caller's mistake, nothing was asked.
type OptionError struct{ Option, Problem string }

func (e *OptionError) Error() string { return e.Option + ": " + e.Problem }
