package github

import (
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
)

// A shownTip is a reference as a snapshot of its issue showed it.
type shownTip struct {
	tip    gitref.Tip
	at     time.Time
	writes int64 // that had been sent when it was asked for
}

// tips keeps the references that snapshots of issues showed.
type tips struct {
	api   *api
	clock ledger.Clock

	leases atomic.Bool // whether snapshots show the references of leases
	mu     sync.Mutex
	shown  map[string]shownTip // by owner/repo and reference, lower case
}

// ShowLeases has every snapshot of an issue show the reference of its lease, for ShownRef. Whoever keeps leases in references asks for
// it.
func (ts *tips) ShowLeases() { ts.leases.Store(true) }

// ShownRef implements gitref.Shower: a reference as the last snapshot of the issue showed it, for 5 s and until the next write.
func (ts *tips) ShownRef(i claim.Issue, name string) (gitref.Tip, bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	got, known := ts.shown[key(i.Slug(), name)]
	if !known || got.writes != ts.api.transport.writes.Load() || clock.Passed(got.at, ts.clock.Now()) > fresh {
		return gitref.Tip{}, false
	}
	return got.tip, true
}

// queryTarget is a reference with its commit as GraphQL shows it.
type queryTarget struct {
	Target *struct {
		OID           string
		Message       string
		CommittedDate time.Time
	}
}

// targetFields are what is read of a reference.
const targetFields = "{ target { oid ... on Commit { message committedDate } } }"

// tip is the reference as a query showed it, of a repository with the id.
func (q *queryTarget) tip(now time.Time, id string) (tip gitref.Tip, whole bool) {
	tip = gitref.Tip{Now: now, RepoID: id}
	switch {
	case now.IsZero() || id == "":
		return tip, false
	case q == nil:
		return tip, true
	case q.Target == nil || q.Target.OID == "":
		return tip, false
	}
	tip.OID, tip.Message, tip.Date = q.Target.OID, q.Target.Message, q.Target.CommittedDate
	return tip, true
}

// tip asks for the reference of the n-th issue's lease.
func (d *document) tip(n int, i claim.Issue) {
	d.add("    t%d: ref(qualifiedName: %s) %s\n", n, d.bind("String!", gitref.RefName(i)), targetFields)
}

// noteTip remembers the reference of the n-th issue's lease, if the answer shows it; writes had been sent when it was asked for.
func (ts *tips) noteTip(s sheet, n int, i claim.Issue, writes int64) {
	alias := fmt.Sprintf("t%d", n)
	var id string
	var shown *queryTarget
	if s.err != nil || s.fields[alias] == nil || s.failed(alias, alias) != nil ||
		json.Unmarshal(s.fields["id"], &id) != nil || json.Unmarshal(s.fields[alias], &shown) != nil {
		return
	}
	tip, whole := shown.tip(s.now, id)
	if !whole {
		return
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.shown[key(i.Slug(), gitref.RefName(i))] = shownTip{tip, ts.clock.Now(), writes}
}
