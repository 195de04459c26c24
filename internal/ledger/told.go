package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// waitsForOwn is how often a snapshot is made again that is older than an own hold: 16 seconds.
const waitsForOwn = 7

// A told hold is one that its worker was given by GitHub, in this process or an earlier one.
type told struct {
	worker claim.Worker
	nonce  string    // of the process that claimed it
	since  time.Time // server time
}

// tellings are the holds that this process knows of. Goroutines may share them.
type tellings struct {
	mu    sync.Mutex
	holds map[claim.Issue]told // by the folded issue
}

// Told tells the ledger of a hold that the process of w with that nonce was given at server time
// since. A snapshot that knows less of it is older than the hold, and answers nothing about the
// issue: it is made again a few times, and then an *UnknownError. That ends when the hold is so old
// that no read is as late, because then somebody has deleted its claim.
func (l *Ledger) Told(i claim.Issue, w claim.Worker, nonce string, since time.Time) {
	l.told.mu.Lock()
	defer l.told.mu.Unlock()
	l.told.holds[i.Folded()] = told{w, nonce, since}
}

// behind reports whether a snapshot is older than what was told, and forgets what no read can be as
// late as. Where a store decides, it says what is held now, however late the log is.
func (l *Ledger) behind(f lifecycle.Facts) bool {
	l.told.mu.Lock()
	defer l.told.mu.Unlock()
	i := f.Issue.Folded()
	h, ok := l.told.holds[i]
	if ok && !f.Now.Before(h.since.Add(l.set.Rules.Terms.Staleness())) {
		delete(l.told.holds, i)
		return false
	}

	return ok && l.leases.store == nil && f.Log.Lacks(h.worker, h.nonce)
}

// facts makes a snapshot, again while it is behind.
func (l *Ledger) facts(ctx context.Context, i claim.Issue) lifecycle.Snapshot {
	for n := 0; ; n++ {
		got := l.forge.FactsOf(ctx, []claim.Issue{i})[0]
		if got.Err != nil || !l.behind(got.Facts) || n == waitsForOwn || l.clock.Sleep(ctx, protocol.Backoff(n)) != nil {
			return got
		}
	}
}
