package ledger

import (
	"cmp"
	"context"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// Renew extends the lease of w by editing its claim comment (spec-writing.md#heartbeat). token is
// the fencing token the claim returned, 0 when not known. *LostError means: stop all work at once;
// so it does for a token that is not the hold's. *UnknownError leaves the old lease end standing.
// answer.WrongStore says that another lease store decides.
func (l *Ledger) Renew(ctx context.Context, i claim.Issue, w claim.Worker, token int64) (Hold, error) {
	return l.Note(ctx, i, w, token, "")
}

// Note is Renew with one line in the claim comment for others to read. An empty one keeps the line
// that is there.
func (l *Ledger) Note(ctx context.Context, i claim.Issue, w claim.Worker, token int64, note string) (Hold, error) {
	return l.renew(ctx, i, l.renewal(i, w, token, Hold{}).Noting(note))
}

func (l *Ledger) renew(ctx context.Context, i claim.Issue, r protocol.Renewal) (Hold, error) {
	end := l.Run(ctx, i, r.Run)
	if end.Err != nil {
		return Hold{}, end.Err
	}
	return l.renewed(end), nil
}

// renewal is the operation that extends the lease of w. known is the hold as it was last told; the
// zero Hold knows nothing.
func (l *Ledger) renewal(i claim.Issue, w claim.Worker, token int64, known Hold) protocol.Renewal {
	told := claim.Claim{
		Record:  known.Record,
		Comment: known.Comment,
		URL:     known.URL,
		Created: known.Since,
	}

	return protocol.NewRenewal(l.config(), i, w, token, told, l.token())
}

// renewed is the hold after a renewal that has ended so.
func (l *Ledger) renewed(end protocol.Conclusion) Hold {
	return l.holdAfterRenewal(end.Facts, end.Claim, end.Lease, end.Began.Add(end.Since))
}

// holdAfterRenewal is the hold after a renewal; got is the store's lease of a claim that a store
// decides.
func (l *Ledger) holdAfterRenewal(f lifecycle.Facts, c claim.Claim, got lease.Lease, start time.Time) Hold {
	terms := l.set.Rules.Terms
	h := Hold{
		Issue:   f.Issue,
		Title:   f.Title,
		Record:  c.Record,
		Comment: c.Comment,
		URL:     c.URL,
		Token:   c.Record.Token,
		Since:   c.Created,
		start:   start,
		lease:   c.Lease(terms),
		stored:  c.Stored,
		Waits:   c.Plan.Pending() && !c.Stored,
	}
	h.Until, _ = c.Until(terms)
	if c.Stored {
		h.lease, h.Until = got.TTL, got.Expires
	}

	if h.Until.IsZero() && c.Stored {
		h.Until = f.Now.Add(got.TTL)
	}

	return h
}

// Holds says by a snapshot whether w may still end its hold: nil, or a *LostError with who has the
// issue now. token is the fencing token that the claim returned, 0 when not known.
func (l *Ledger) Holds(f lifecycle.Facts, w claim.Worker, token int64) error {
	end := claim.Record{Kind: claim.KindRelease, Worker: w}
	err := cmp.Or(f.Log.Refuse(end, f.Viewer, l.set.Rules.Terms, f.Now), f.Log.RefuseToken(w, token))
	if err != nil {
		return l.Lost(f, w, err)
	}
	return nil
}

// Lost is the error about a hold of w that does not stand by a snapshot, for the reason no: a
// *LostError, or an *UnknownError where the snapshot may be late.
func (l *Ledger) Lost(f lifecycle.Facts, w claim.Worker, no error) error {
	return l.config().Lost(f, w, no)
}

// Owns reports whether the holder may still act under h: it must ask before every step that others
// can see (spec-writing.md#acting-under-a-hold). It is false for a hold that did not come from this
// process.
func (l *Ledger) Owns(h Hold) bool {
	return !h.start.IsZero() && l.elapsed(h.start) < h.lease-l.config().MarginOf(h.lease)
}

// Keep renews a hold of this process. One that has run out locally is never renewed
// (spec-writing.md#heartbeat).
func (l *Ledger) Keep(ctx context.Context, h Hold) (Hold, error) {
	if !l.Owns(h) {
		return Hold{}, &LostError{Issue: h.Issue, Worker: h.Record.Worker, Err: claim.ErrOverdue}
	}
	return l.renew(ctx, h.Issue, l.renewal(h.Issue, h.Record.Worker, h.Token, h))
}

// A Hold is a worker's right to an issue. Times are the server's.
type Hold struct {
	Issue   claim.Issue
	Title   string
	Record  claim.Record // as last written
	Comment int64
	URL     string // of the claim comment
	Token   int64  // fencing token; who shows a smaller one for the same issue is stale
	Since   time.Time
	Until   time.Time // zero when it never expires
	start   time.Time // local time before the request that last extended the lease
	lease   time.Duration
	stored  bool // a lease store decided it; known after a renewal

	// Waits is that a plan of the holder waits for its answer: Until is when that must have come,
	// and no heartbeat is due. It is known after a renewal.
	Waits bool

	// Unassigned says why the login could not be assigned; nil when it was, or was not to be. The
	// hold is real either way.
	Unassigned error
}

// Extended returns this machine's time before the request that last extended the lease: from then
// on the lease runs. It is zero for a hold that did not come from this process.
func (h Hold) Extended() time.Time { return h.start }

// Lease returns how long the hold lasts from then on; claim.NoExpiry for one that never expires.
func (h Hold) Lease() time.Duration {
	if h.Until.IsZero() {
		return claim.NoExpiry
	}
	return h.lease
}
