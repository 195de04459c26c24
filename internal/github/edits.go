package github

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/claim"
)

const (
	editsRead    = 100 // of a comment, the newest
	editsInQuery = 25  // comments in one query for edits
)

// featureEdits is the edit history of comments.
const featureEdits = "userContentEdits"

// A revision is a comment as it was after its last edit. Times are in whole seconds, so the text
// counts, too.
type revision struct {
	comment int64
	edited  time.Time
	body    string
}

// uncover finds the records that count and were once edited by somebody else than their author,
// though the author edited them last: those are void, too. Only records that say that they were
// edited are asked about, each revision once, and none of our own. Where GitHub does not show
// edits, as an old server, every edit is the author's.
func (c *Client) uncover(ctx context.Context, snapshots []*snapshot, judged *judgement) (err error) {
	var ask []*comment
	for _, r := range snapshots {
		if r.err != nil {
			continue
		}

		for n := range r.comments {
			m := &r.comments[n]
			if !m.record || m.edited.IsZero() || m.Editor != "" || claim.SameLogin(m.Author, r.facts.Viewer) ||
				!judged.mayCount(r.account(m.Author)) {
				continue
			}

			meddler, known := c.meddlers.get(m.revision())
			if m.Editor = meddler; !known {
				ask = append(ask, m)
			}
		}
	}

	h := halves[*comment]{ask: c.queryEdits}
	err = h.read(ctx, ask, editsInQuery)
	if err = cmp.Or(err, h.unread); err != nil {
		return fmt.Errorf("read who edited records: %w", err)
	}

	return nil
}

func (m comment) revision() revision { return revision{m.ID, m.edited, m.Body} }

// queryEdits notes in comments who of others has edited them, where GitHub shows that.
func (c *Client) queryEdits(ctx context.Context, all []*comment) error {
	if !c.has(featureEdits) {
		return nil
	}
	d := newDocument()
	for n, m := range all {
		d.add("  %s: node(id: %s) { ... on IssueComment { userContentEdits(first: %d) { nodes { editor { __typename login } } } } }\n",
			alias("c", n), d.bind("ID!", m.Node), editsRead)
	}

	var data map[string]*struct {
		Edits *connection[struct{ Editor *actor }] `json:"userContentEdits"`
	}
	got, err := c.ask(ctx, d, &data)
	if tooOld(err) {
		c.lack(featureEdits)
		return nil
	}
	if err = cmp.Or(err, got.failed()); err != nil {
		return missing(err, Object{Kind: CommentObject})
	}

	for n, m := range all {
		found := data[alias("c", n)]
		if found == nil {
			continue // it was deleted meanwhile
		}

		for e := range found.Edits.shown() {
			if e.Editor != nil && !claim.SameLogin(e.Editor.name(), m.Author) {
				m.Editor = e.Editor.name()
			}
		}

		c.meddlers.note(m.revision(), m.Editor)
	}

	return nil
}
