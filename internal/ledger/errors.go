package ledger

import (
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/protocol"
)

// What operations answer with is package protocol's. These are its names for those who use a
// ledger.
type (
	HeldError    = protocol.HeldError
	UnknownError = protocol.UnknownError
	SpentError   = protocol.SpentError
	LostError    = protocol.LostError
	LabelsError  = protocol.LabelsError
	Repair       = protocol.Repair
	Ending       = protocol.Ending
	Answer       = protocol.Answer
	LabelMoved   = protocol.LabelMoved
	Removal      = protocol.Removal
	Assign       = protocol.Assign
	Request      = protocol.Request
	Snapshot     = protocol.Snapshot
	Vote         = protocol.Vote
)

// Errors that others are compared with.
var (
	ErrGone      = protocol.ErrGone
	ErrDirty     = protocol.ErrDirty
	ErrInvisible = protocol.ErrInvisible

	ErrUnassignable = protocol.ErrUnassignable
)

// Whose winning claims assign their login to the issue.
const (
	AssignPeople = protocol.AssignPeople
	AssignAll    = protocol.AssignAll
	AssignNone   = protocol.AssignNone
)

// Reason words an error for a text that names the issue already: what was being done to that issue
// goes, the cause stays.
func Reason(i claim.Issue, err error) string {
	if unknown, ok := err.(*UnknownError); ok { // not errors.As: what stands around it is said
		err = unknown.Err
	}
	if of, ok := err.(*claim.IssueError); ok && of.Issue.Same(i) {
		err = of.Err
	}

	return err.Error()
}
