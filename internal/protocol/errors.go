package protocol

import (
	"errors"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A HeldError is the answer no: the issue may not be taken, for the reasons given.
type HeldError struct {
	Issue   claim.Issue
	Verdict lifecycle.Verdict
	Yielded *claim.Claim // the rival a race was lost to; nil when no claim of ours was posted
	Shared  bool         // another process with the same key has it, or asks for it
	Asked   time.Time    // until when a process of that key may be claiming it; zero when none is
	// Before: that process has it from before the repository chose a lease store, and no other can take
	// it over.
	Before bool
}

func (e *HeldError) Error() string {
	if e.Yielded != nil && e.Yielded.Person != "" {
		return "lost the race to " + e.Yielded.Person
	}
	if e.Yielded != nil {
		return "lost the race to " + e.Yielded.Record.Worker.String()
	}

	own, known := e.Own()
	switch {
	case known && !own.Held():
		return "another process of this run has asked for it: " + e.Verdict.Why()
	case e.Shared && !e.Asked.IsZero():
		return "another process of this run has it, and one more has asked for it: " + e.Verdict.Why()
	case e.Before:
		return "another process of this run has it, from before the repository chose a lease store: " + e.Verdict.Why()
	case e.Shared:
		return "another process of this run has it: " + e.Verdict.Why()
	}

	return e.Verdict.Why()
}

// Own is the claim of the run itself, where that is a reason.
func (e *HeldError) Own() (claim.Claim, bool) {
	for _, r := range e.Verdict.Reasons {
		if r.Code == lifecycle.CodeOwn && r.Claim != nil {
			return *r.Claim, true
		}
	}
	return claim.Claim{}, false
}

// An UnknownError is the answer "could not find out". Nothing is to be done on its strength.
type UnknownError struct {
	Issue claim.Issue
	Err   error
}

func (e *UnknownError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// A SpentError says of a claim that was given up that its key can be used no more: whoever tries
// again takes another.
type SpentError struct{ Err error }

func (e *SpentError) Error() string { return e.Err.Error() }

// Unwrap returns why it was given up.
func (e *SpentError) Unwrap() error { return e.Err }

// A LostError says that a hold is over: whoever acted under it must stop.
type LostError struct {
	Issue  claim.Issue
	Worker claim.Worker
	Err    error
	Holder *claim.Claim       // who holds the issue now, nil when nobody
	End    lifecycle.HoldEnd  // what became of the hold, by the snapshot that showed it
	Bars   []lifecycle.Reason // why another run of the worker cannot claim the issue of an expired hold
}

func (e *LostError) Error() string {
	if e.Holder == nil {
		return e.Err.Error()
	}
	if !e.Holder.Held() {
		return e.Err.Error() + "; " + e.Holder.Holder() + " is claiming it"
	}

	return e.Err.Error() + "; " + e.Holder.Holder() + " holds it"
}

// Unwrap returns the cause, one of claim's errors or ErrGone.
func (e *LostError) Unwrap() error { return e.Err }

// Foreign reports that another login has claimed what was to be ended.
func (e *LostError) Foreign() bool { return errors.Is(e.Err, claim.ErrForeign) }

// A LabelsError says that the record counted and the labels are late: the operation itself
// succeeded, the next sweep repairs the projection.
type LabelsError struct {
	Issue claim.Issue
	Err   error
}

func (e *LabelsError) Error() string { return "labels are late: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *LabelsError) Unwrap() error { return e.Err }

// ErrDirty is wrapped by a LabelsError when somebody kept changing the labels.
var ErrDirty = errors.New("labels did not settle")

// errNoServerTime is wrapped by an UnknownError when no answer said when it was given.
var errNoServerTime = errors.New("no server time")

// ErrUnassignable is that GitHub has dropped a login that was to be assigned.
var ErrUnassignable = errors.New("GitHub assigns only people with a role in the repository, and who has commented on the issue")

// ErrInvisible is wrapped by an UnknownError when an own record did not show up in time: never a
// win.
var ErrInvisible = errors.New("own record did not become visible")

// pending is that an own claim does not show as confirmed, and still may.
func pending() error {
	return &answer.Problem{
		Code: answer.Unread,
		Why:  "the claim does not show as confirmed yet",
		Next: []answer.Command{answer.Call("in a moment, run again", answer.Again)},
	}
}

// unshown is that GitHub counts comments that it does not show, those of an account that it takes
// for spam for instance. One of them may hold the issue, so nobody can take it.
func unshown(f lifecycle.Facts) error {
	return &answer.Problem{
		Code: answer.Unshown,
		Why:  lifecycle.Unshown(f.Unshown),
		Next: []answer.Command{
			answer.Advice("look for a claim among them: " + f.URL),
			answer.Shell("when nobody can see or delete them, file the issue again", "gh", "issue", "create",
				"--repo", f.Issue.Slug()),
		},
	}
}

// An ErrGone is wrapped by what failed because what was to be changed no longer exists.
var ErrGone = errors.New("gone")

// A writeError says of a write as a whole whether it was certainly not done (lease.Rejected),
// whatever its cause says.
type writeError struct {
	error
	rejected bool
}

// Rejected reports whether nothing was written, by any try.
func (e writeError) Rejected() bool { return e.rejected }

// Unwrap returns the cause.
func (e writeError) Unwrap() error { return e.error }

// NotWritten is an error that says that nothing was written (lease.Rejected), whatever its cause
// says.
func NotWritten(err error) error { return writeError{err, true} }

// stillOpen is an error that says that nobody knows whether something was written, whatever its
// cause says.
func stillOpen(err error) error { return writeError{err, false} }
