package work

import (
	"errors"
	"fmt"
)

// ErrNoWork says that nothing may be taken now. No work means no run (PRODUCT ruling 18).
var ErrNoWork = errors.New("no work")

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
