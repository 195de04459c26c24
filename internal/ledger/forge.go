package ledger

import (
	"context"
	"iter"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Forge is what the ledger needs of GitHub. Nothing of it is optional.
type Forge interface {
	// FactsOf reads issues, of several repositories too, in as few requests as there can be: all
	// their records, their closing pull requests and the pause marker. The snapshots are in the
	// order of the issues. A snapshot is whole or an error: a page that is missing, short or not
	// JSON is never an empty answer. Facts.Now is the Date of the oldest response it was made from.
	FactsOf(ctx context.Context, issues []claim.Issue) []lifecycle.Snapshot

	// Write sends what is to be written about issues, each Batch in its order up to the first write
	// that was not applied. Batches of one repository that may be repeated can be one request.
	Write(ctx context.Context, all []Batch) []Written

	// Reply answers what is asked beyond an issue's facts, but for the lease and this host's pause.
	Reply(ctx context.Context, i claim.Issue, ask protocol.Ask) protocol.Replies
}

// A Batch is what is written about one issue at once: one write, or a record and the change of
// labels that follows from it.
type Batch struct {
	Issue  claim.Issue
	Writes []protocol.Write
	Read   bool // a snapshot that is taken after them is wanted along
}

// Written is what became of a Batch.
type Written struct {
	// Results are those of the writes that were sent. Comment and Err are set. An error that
	// lease.Rejected reports was certainly not applied; any other may have been, and the caller
	// looks before it repeats. A comment that is gone is ErrGone. A label, an assignee or a state
	// that is there already is success; a login that cannot be assigned is dropped without an
	// error.
	Results []protocol.Result
	// After is the snapshot, nil where GitHub shows none along with these writes, or it could not
	// be read.
	After *lifecycle.Facts
}

// Repos is what a sweep needs of GitHub for a whole repository.
type Repos interface {
	// Scan reads every issue, open or closed, with a lifecycle label, and every issue changed
	// since then, least recently updated first. Numbers are collected before the first is
	// yielded, so that changes made while paging skip none. An error for one issue is yielded
	// with its Facts.Issue set and the scan goes on; any other ends it.
	Scan(ctx context.Context, r claim.Repo, since time.Time) iter.Seq2[lifecycle.Facts, error]
	// Pause reads the pause marker: nil, nil when the repository is not paused.
	Pause(ctx context.Context, r claim.Repo) (*lifecycle.Pause, error)
	// Minimize minimizes comments as outdated and returns how many: GitHub folds them, and they
	// count as before. One that is minimized, or gone, is success.
	Minimize(ctx context.Context, comments []claim.Comment) (int, error)
}
