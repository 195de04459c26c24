package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
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

// edits finds out who has edited comments.
type edits struct {
	api *api

	mu       sync.Mutex
	meddlers map[revision]string // who of others has edited a record; empty when nobody has
}

// uncover finds the records that count and were once edited by somebody else than their author,
// though the author edited them last: those are void, too. Only records that say that they were
// edited are asked about, each revision once, and none of our own. Where GitHub does not show
// edits, as an old server, every edit is the author's.
func (es *edits) uncover(ctx context.Context, snapshots []*snapshot, judged judgement) (err error) {
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

			es.mu.Lock()
			meddler, known := es.meddlers[m.revision()]
			es.mu.Unlock()
			if m.Editor = meddler; !known {
				ask = append(ask, m)
			}
		}
	}

	var unread error
	h := halves[*comment]{ask: es.queryEdits, alone: func(ctx context.Context, m *comment, _ error) error {
		err := es.queryEdits(ctx, []*comment{m})
		unread = cmp.Or(unread, err)
		return err
	}}
	err = h.read(ctx, ask, editsInQuery)
	if err = cmp.Or(err, unread); err != nil {
		return fmt.Errorf("read who edited records: %w", err)
	}

	return nil
}

func (m comment) revision() revision { return revision{m.ID, m.edited, m.Body} }

// queryEdits notes in comments who of others has edited them, where GitHub shows that.
func (es *edits) queryEdits(ctx context.Context, all []*comment) error {
	if !es.api.has(featureEdits) {
		return nil
	}
	d := newDocument()
	for n, m := range all {
		d.add("  c%d: node(id: %s) { ... on IssueComment { userContentEdits(first: %d) { nodes { editor { __typename login } } } } }\n",
			n, d.bind("ID!", m.node), editsRead)
	}

	var data map[string]json.RawMessage
	got, err := es.api.ask(ctx, d.text(""), d.variables, &data)
	old, lacks := errors.AsType[*NoGraphQLError](err)
	switch {
	case errors.Is(err, errAgain), lacks && old.Old:
		es.api.lack(featureEdits)
		return nil
	case err != nil:
		return err
	case len(got.errors) > 0:
		return got.errors[0].typed(Object{Kind: CommentObject})
	}

	for n, m := range all {
		var found *struct {
			Edits *connection[struct{ Editor *actor }] `json:"userContentEdits"`
		}

		if err := json.Unmarshal(data[fmt.Sprintf("c%d", n)], &found); err != nil || found == nil {
			continue // it was deleted meanwhile
		}

		for e := range found.Edits.shown() {
			if e.Editor != nil && !claim.SameLogin(e.Editor.name(), m.Author) {
				m.Editor = e.Editor.name()
			}
		}

		es.mu.Lock()
		es.meddlers[m.revision()] = m.Editor
		es.mu.Unlock()
	}

	return nil
}
