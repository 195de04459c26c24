package lifecycle

import (
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// Due are the notices that people have not been given yet (spec-writing.md#notices). They are told
// before the labels move, so that a crash in between costs nothing.
func (r Rules) Due(f Facts) []claim.Notice {
	if len(f.Missing) > 0 || f.PullRequest || !f.Open || !managed(r.Scheme, f) {
		return nil
	}
	var due []claim.Notice
	add := func(n claim.Notice) {
		if !f.Log.Told(n) {
			due = append(due, n)
		}
	}

	if r.escalated(f.Log) {
		add(claim.Notice{Kind: claim.NoticeEscalated, Key: f.Log.Attempts[0].Worker.String()})
	}

	// The issue slept until its last blocker closed: it still has the label. One whose blockers
	// were taken away, rather than closed, is woken without words.
	if f.BlockersRead && len(f.Blockers) > 0 && len(f.Waits()) == 0 && labels.Has(f.Labels, r.Scheme.Blocked) {
		add(claim.Notice{Kind: claim.NoticeAwake, Key: f.BlockedAt.UTC().Format(time.RFC3339)})
	}

	if c, asked := r.asked(f); asked {
		add(claim.Notice{Kind: claim.NoticeAsked, Key: c.Record.Worker.String()})
	}

	_, held := r.Holder(f)
	for _, a := range r.assignments(f) {
		if a.idle(f.Now) && !held && !r.Unassigned {
			add(a.notice())
		}
	}

	return due
}

// asked returns the hold whose person is to be asked now whether they still work on the issue.
func (r Rules) asked(f Facts) (claim.Claim, bool) {
	c, held := r.Holder(f)
	if !held {
		return c, false
	}
	at, asked := c.AskedAt(r.Terms, r.Nudge)
	return c, asked && !f.Now.Before(at)
}

// Relieved reports whether somebody must have taken needs:human-scope off: the issue failed too
// often, that was told, and the label is not there.
func (r Rules) Relieved(f Facts) bool {
	if !f.Open || f.PullRequest || !r.escalated(f.Log) || labels.Has(f.Labels, r.Scheme.NeedsScope) {
		return false
	}
	return f.Log.Told(claim.Notice{Kind: claim.NoticeEscalated, Key: f.Log.Attempts[0].Worker.String()})
}
