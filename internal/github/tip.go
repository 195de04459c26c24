package github

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/lease/gitref"
)

var _ gitref.Shower = (*Client)(nil)

// A shownTip is a reference as a snapshot of its issue showed it.
type shownTip struct {
	tip    gitref.Tip
	at     time.Time
	writes int64 // that had been sent when it was asked for
}

// ShowLeases has every snapshot of an issue show the reference of its lease, for ShownRef. Whoever keeps leases in references asks for
// it.
func (c *Client) ShowLeases() { c.leases.Store(true) }

// ShownRef implements gitref.Shower: a reference as the last snapshot of the issue showed it, for 5 s and until the next write.
func (c *Client) ShownRef(i claim.Issue, name string) (gitref.Tip, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	got, known := c.tips[key(i.Slug(), name)]
	if !known || got.writes != c.transport.writes.Load() || clock.Passed(got.at, c.o.Clock.Now()) > fresh {
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

// isTip reports whether an alias is of a reference.
func isTip(alias string) bool {
	digits, is := strings.CutPrefix(alias, "t")
	_, err := strconv.Atoi(digits)
	return is && err == nil
}

// noteTip remembers the reference of the n-th issue's lease, if the answer shows it; writes had been sent when it was asked for.
func (c *Client) noteTip(s sheet, n int, i claim.Issue, writes int64) {
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
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tips[key(i.Slug(), gitref.RefName(i))] = shownTip{tip, c.o.Clock.Now(), writes}
}
