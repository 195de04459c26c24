package ledger

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// holds is what a worker may do that has one: extend it, and act under it.
type holds struct {
	*base
	snapshots *snapshots
	records   *records
}

// Renew extends the lease of w by editing its claim comment (spec.md#heartbeat). token is the
// fencing token the claim returned, 0 when not known. *LostError means: stop all
// work at once; so it does for a token that is not the hold's. *UnknownError leaves the old lease end
// standing. *StoreError says that another lease store decides.
func (hs *holds) Renew(ctx context.Context, i claim.Issue, w claim.Worker, token int64) (Hold, error) {
	return hs.renew(ctx, i, w, token, Hold{})
}

// renew is Renew for who may know the hold as it was last told; the zero Hold knows nothing.
func (hs *holds) renew(ctx context.Context, i claim.Issue, w claim.Worker, token int64, known Hold) (Hold, error) {
	f, err := hs.snapshots.readUntilShown(ctx, i, hs.snapshots.logged, func(s claim.State) bool {
		c, claimed := s.Find(w)
		return s.Dead(w) || claimed && c.Held() && s.RefuseToken(w, token) == nil
	})
	if err != nil {
		return Hold{}, err
	}
	f, has, err := hs.by.look(ctx, f)
	if err != nil {
		return Hold{}, err
	}
	terms := hs.set.Rules.Terms
	c, _ := f.Log.Find(w)
	if c.Stored && c.Comment == 0 && known.Comment != 0 { // a late snapshot of the log lacks what the holder has written: it is edited and not written again
		c.Comment, c.URL, c.Created, c.Record = known.Comment, known.URL, known.Since, known.Record
	}
	end, limited := c.Until(terms)
	if err := hs.renewable(f, w, c, token); err != nil {
		return Hold{}, err
	}
	r := c.Record
	r.Heartbeat++
	r.Token = max(r.Token, token)
	start := hs.clock.Now()
	got, err := hs.by.extend(ctx, c, has)
	switch {
	case errors.Is(err, lease.ErrLost):
		return Hold{}, hs.lost(f, w, err)
	case err != nil:
		return Hold{}, &UnknownError{i, err}
	}
	edited, err := hs.rewrite(ctx, f, c, r)
	switch {
	case errors.Is(err, ErrGone):
		return Hold{}, hs.lost(f, w, err)
	case err != nil:
		return Hold{}, &UnknownError{i, err}
	case limited && !c.Stored && edited.Updated.After(end):
		// it was applied after the lease had ended and must not stand for another lease, so the key ends here
		return Hold{}, errors.Join(hs.lost(f, w, claim.ErrOverdue), hs.records.tombstone(ctx, f, w, c.Record.Nonce, claim.OutcomeStaleSwept))
	}
	if edited.ID != 0 && edited.ID != c.Comment {
		c.Comment, c.URL, c.Created = edited.ID, edited.URL, edited.Created
	}
	c = c.Renewed(r, edited.Updated)
	return hs.holdAfterRenewal(f, c, got, start), nil
}

// MayRenew says what Renew would answer before it writes, and writes nothing: nil is that it would go on.
func (hs *holds) MayRenew(ctx context.Context, i claim.Issue, w claim.Worker, token int64) error {
	f, err := hs.snapshots.Look(ctx, i)
	if err != nil {
		return err
	}
	c, _ := f.Log.Find(w)
	return hs.renewable(f, w, c, token)
}

// holdAfterRenewal is the hold after a renewal; got is the store's lease of a claim that a store decides.
func (hs *holds) holdAfterRenewal(f lifecycle.Facts, c claim.Claim, got lease.Lease, start time.Time) Hold {
	terms := hs.set.Rules.Terms
	h := Hold{
		Issue: f.Issue, Title: f.Title, Record: c.Record, Comment: c.Comment, URL: c.URL, Token: c.Record.Token,
		Since: c.Created, start: start, lease: c.Lease(terms), stored: c.Stored,
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

// rewrite edits the claim comment of c, or posts the one that is still missing: only a store's hold can
// be without one of its worker's own.
func (hs *holds) rewrite(ctx context.Context, f lifecycle.Facts, c claim.Claim, r claim.Record) (claim.Comment, error) {
	if c.Comment != 0 {
		edited, err := hs.records.edit(ctx, f, c.Comment, r)
		if !c.Stored || !errors.Is(err, ErrGone) {
			return edited, err
		}
	}
	r.By, r.Nonce, r.Lease, r.At = "", cmp.Or(r.Nonce, hs.token()), hs.store, f.Now
	body, err := claim.Body(r, sentence(f, r))
	if err != nil {
		return claim.Comment{}, &CallError{err}
	}
	return hs.records.append(ctx, f.Issue, body, func(s claim.State) (string, bool) {
		own, _ := s.Find(r.Worker)
		return own.URL, own.Comment != 0
	})
}

// renewable asks whether this store decides the hold c of w, the log, what people may have done, and whether the token is the
// hold's. People who close the issue or take it themselves stop a worker at its next heartbeat.
func (hs *holds) renewable(f lifecycle.Facts, w claim.Worker, c claim.Claim, token int64) error {
	if err := hs.decides(f.Issue, c); err != nil {
		return err
	}
	margin := time.Duration(0)
	if c.Held() {
		end, _ := c.Until(hs.set.Rules.Terms)
		margin = hs.margin(end.Sub(c.Updated))
	}
	if err := f.Log.RefuseRenewal(w, f.Viewer, hs.set.Rules.Terms, f.Now, margin); err != nil {
		return hs.lost(f, w, err)
	}
	v := hs.set.Rules.Verdict(f, lifecycle.Seeker{Worker: w})
	switch {
	case v.Answer == lifecycle.Unknown:
		return &UnknownError{f.Issue, errors.New(v.String())}
	case f.PullRequest && v.Has(lifecycle.CodeClosed):
		return hs.lost(f, w, errors.New("the pull request has ended"))
	case v.Has(lifecycle.CodeClosed):
		return hs.lost(f, w, errors.New("the issue was closed"))
	case v.Has(lifecycle.CodeHold):
		return hs.lost(f, w, errors.New("a person took it (label "+hs.set.Rules.Scheme.Hold+")"))
	}
	if err := f.Log.RefuseToken(w, token); err != nil {
		return hs.lost(f, w, err)
	}
	return nil
}

// Holds says by a snapshot whether w may still end its hold: nil, or a *LostError with who has the issue now. token is the fencing token
// that the claim returned, 0 when not known.
func (hs *holds) Holds(f lifecycle.Facts, w claim.Worker, token int64) error {
	end := claim.Record{Kind: claim.KindRelease, Worker: w}
	err := cmp.Or(f.Log.Refuse(end, f.Viewer, hs.set.Rules.Terms, f.Now), f.Log.RefuseToken(w, token))
	if err != nil {
		return hs.lost(f, w, err)
	}
	return nil
}

// Owns reports whether the holder may still act under h: it must ask before every step that
// others can see (spec.md#acting-under-a-hold). It is false for a hold that did not come from this process.
func (hs *holds) Owns(h Hold) bool {
	return !h.start.IsZero() && hs.elapsed(h.start) < h.lease-hs.margin(h.lease)
}

// Keep renews a hold of this process. One that has run out locally is never renewed (spec.md#heartbeat).
func (hs *holds) Keep(ctx context.Context, h Hold) (Hold, error) {
	if !hs.Owns(h) {
		return h, &LostError{Issue: h.Issue, Worker: h.Record.Worker, Err: claim.ErrOverdue}
	}
	return hs.renew(ctx, h.Issue, h.Record.Worker, h.Token, h)
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

	// Unassigned says why the login could not be assigned; nil when it was, or was not to be. The hold is real either way.
	Unassigned error
}

// Extended returns this machine's time before the request that last extended the lease: from then on the lease runs. It is zero for a
// hold that did not come from this process.
func (h Hold) Extended() time.Time { return h.start }

// Lease returns how long the hold lasts from then on; claim.NoExpiry for one that never expires.
func (h Hold) Lease() time.Duration {
	if h.Until.IsZero() {
		return claim.NoExpiry
	}
	return h.lease
}
