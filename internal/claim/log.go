package claim

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Comment is one issue comment as GitHub shows it. Times are the server's.
type Comment struct {
	ID               int64
	Created, Updated time.Time
	Author           string // login; bots carry the suffix [bot]
	Editor           string // login of the last editor, empty when never edited or not known
	Trusted          bool   // the author's records count (spec.md#which-records-count)
	URL              string
	Body             string

	Node      string // GitHub's global id, for minimizing it; empty where it is not known
	Minimized bool   // it is folded on GitHub; it counts all the same
}

// An Entry is a comment whose record counts.
type Entry struct {
	Comment
	Record Record
}

// Ignored is a comment that begins like a record and does not count, with the reason.
type Ignored struct {
	Comment Comment
	Reason  string
}

// inOrder sorts by created_at, then id (spec.md#order). Of a comment that was read twice the
// version edited last stays, whichever came first.
func inOrder(comments []Comment) []Comment {
	sorted := slices.Clone(comments)
	slices.SortFunc(sorted, func(a, b Comment) int {
		return cmp.Or(a.Rank().Compare(b.Rank()), b.Updated.Compare(a.Updated), strings.Compare(a.Body, b.Body))
	})
	return slices.CompactFunc(sorted, func(a, b Comment) bool { return a.ID == b.ID })
}

// A Rank is a place in the log.
type Rank struct {
	Created time.Time
	ID      int64
}

// Rank is the place of a comment.
func (c Comment) Rank() Rank { return Rank{c.Created, c.ID} }

// Compare orders by created_at, then by comment id; created_at has one second of resolution.
func (r Rank) Compare(o Rank) int {
	return cmp.Or(r.Created.Compare(o.Created), cmp.Compare(r.ID, o.ID))
}
