package ledger

import (
	"context"
	"iter"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Forge is what the ledger needs of GitHub for one issue. Reads are whole or an error: a page
// that is missing, short or not JSON is never an empty answer.
type Forge interface {
	// Facts reads the issue, all its records, its closing pull requests and the pause marker.
	// Facts.Now is the Date of the oldest response it was made from.
	Facts(ctx context.Context, i claim.Issue) (lifecycle.Facts, error)
	// Comment posts a comment. An error that lease.Rejected reports was certainly not applied;
	// any other may have been, and the caller looks before it repeats.
	Comment(ctx context.Context, i claim.Issue, body string) (claim.Comment, error)
	// EditComment replaces the body. A comment that is gone is ErrGone.
	EditComment(ctx context.Context, i claim.Issue, id int64, body string) (claim.Comment, error)
	// AddLabel puts a label on; one that is there already is success.
	AddLabel(ctx context.Context, i claim.Issue, name string) error
	// RemoveLabel takes a label off; one that is not there is success.
	RemoveLabel(ctx context.Context, i claim.Issue, name string) error
}

// A Jury is a Forge that knows who is heard. Without it everybody is.
type Jury interface {
	// Heard asks of our own login what every reader asks of an author: whether its records count in
	// the repository. The error that says no, or that nobody knows, is one that lease.Rejected
	// reports: nothing was written.
	Heard(ctx context.Context, r Repo) error
}

// A Recorder is a Forge that posts a comment and reads the issue again in one request.
type Recorder interface {
	// Record posts a comment and returns it with a snapshot that was taken after that, nil when
	// that could not be read. errors.ErrUnsupported says that nothing was posted and Comment is to
	// do it; other errors are Comment's.
	Record(ctx context.Context, i claim.Issue, body string) (claim.Comment, *lifecycle.Facts, error)
}

// An Amender is a Forge that edits a comment and reads the issue again in one request.
type Amender interface {
	// Amend replaces the body of a comment that a snapshot has shown, and returns it with a
	// snapshot that was taken after that, nil when that could not be read. errors.ErrUnsupported
	// says that nothing was written and EditComment is to do it; other errors are EditComment's.
	Amend(ctx context.Context, i claim.Issue, c claim.Comment, body string) (claim.Comment, *lifecycle.Facts, error)
}

// A Mirrorer is a Forge that posts a comment, changes labels and reads the issue again in one
// request.
type Mirrorer interface {
	// Mirror is Record with a change of labels after the post. Without a snapshot it is not known
	// whether they were changed.
	Mirror(ctx context.Context, i claim.Issue, body string, c labels.Change) (claim.Comment, *lifecycle.Facts, error)
}

// A Relabeler is a Forge that changes the labels of an issue and reads it again in one request.
type Relabeler interface {
	// Relabel adds labels, then takes others off, and returns a snapshot that was taken after that.
	// errors.ErrUnsupported says that it has to be done by AddLabel and RemoveLabel; nothing or
	// some of it was done by then.
	Relabel(ctx context.Context, i claim.Issue, c labels.Change) (lifecycle.Facts, error)
}

// A Witness is a Forge that knows who took a label off or put it on. Without it nobody did.
type Witness interface {
	// LastRemoval returns the latest removal of a label, zero when there was none that it knows of.
	LastRemoval(ctx context.Context, i claim.Issue, label string) (Removal, error)
	// LastAddition is the same of putting it on.
	LastAddition(ctx context.Context, i claim.Issue, label string) (Removal, error)
}

// A PullReader is a Forge that can look up the pull request at an address. Without it an address is
// believed.
type PullReader interface {
	// PullAt reads the pull request at an address, as it concerns an issue. *NoPullError says that
	// there is none; any other error that nobody knows.
	PullAt(ctx context.Context, address string, i claim.Issue) (lifecycle.PR, error)
}

// A Closer is a Forge that closes issues. Without it no worker closes one.
type Closer interface {
	// CloseCompleted closes an issue as completed; one that is closed already stays as it is.
	CloseCompleted(ctx context.Context, i claim.Issue) error
}

// A Repo names a repository.
type Repo struct{ Owner, Name string }

// String returns owner/name.
func (r Repo) String() string { return r.Owner + "/" + r.Name }

// Repos is what sweep and pause need of GitHub for a whole repository.
type Repos interface {
	// Scan reads every issue, open or closed, with a lifecycle label, and every issue changed
	// since then, least recently updated first. Numbers are collected before the first is
	// yielded, so that changes made while paging skip none. An error for one issue is yielded
	// with its Facts.Issue set and the scan goes on; any other ends it.
	Scan(ctx context.Context, r Repo, since time.Time) iter.Seq2[lifecycle.Facts, error]
	// Pause reads the pause marker: nil, nil when the repository is not paused.
	Pause(ctx context.Context, r Repo) (*lifecycle.Pause, error)
	// SetPause creates or rewrites the marker, and without a reason leaves one that stands;
	// ClearPause removes it, gone is success.
	SetPause(ctx context.Context, r Repo, p lifecycle.Pause) error
	ClearPause(ctx context.Context, r Repo) error
}

// A Minimizer is a Forge that minimizes comments as outdated: GitHub folds them, and they count as
// before.
type Minimizer interface {
	// Minimize minimizes comments and returns how many. One that is minimized, or gone, is success.
	Minimize(ctx context.Context, comments []claim.Comment) (int, error)
}

// An Eraser is a Forge that can take comments away; one that is gone is success. Without it what
// two told at the same moment stands twice.
type Eraser interface {
	DeleteComment(ctx context.Context, i claim.Issue, id int64) error
}
