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

// Renew extends the lease of w by editing its claim comment (spec.md#heartbeat). token is the
// fencing token the claim returned, 0 when not known. *LostError means: stop all
// work at once; so it does for a token that is not the hold's. *UnknownError leaves the old lease end
// standing. *StoreError says that another lease store decides.
func (l *Ledger) Renew(ctx context.Context, i claim.Issue, w claim.Worker, token int64) (Hold, error) {
	return l.renew(ctx, i, w, token, Hold{})
}

// renew is Renew for who may know the hold as it was last told; the zero Hold knows nothing.
func (l *Ledger) renew(ctx context.Context, i claim.Issue, w claim.Worker, token int64, known Hold) (Hold, error) {
	f, err := l.readUntilShown(ctx, i, l.logged, func(s claim.State) bool {
		c, claimed := s.Find(w)
		return s.Dead(w) || claimed && c.Held() && s.RefuseToken(w, token) == nil
	})
	if err != nil {
		return Hold{}, err
	}
	f, has, err := l.by.look(ctx, f)
	if err != nil {
		return Hold{}, err
	}
	terms := l.set.Rules.Terms
	c, _ := f.Log.Find(w)
	c = withKnownComment(c, known)
	end, limited := c.Until(terms)
	if err := cmp.Or(l.decides(i, c), l.renewable(f, w, c, end), l.fence(f, w, token)); err != nil {
		return Hold{}, err
	}
	r := c.Record
	r.Heartbeat++
	r.Token = max(r.Token, token)
	start := l.clock.Now()
	got, err := l.by.extend(ctx, c, has)
	switch {
	case errors.Is(err, lease.ErrLost):
		return Hold{}, l.lost(f, w, err)
	case err != nil:
		return Hold{}, &UnknownError{i, err}
	}
	edited, err := l.rewrite(ctx, f, c, r)
	switch {
	case errors.Is(err, ErrGone):
		return Hold{}, l.lost(f, w, err)
	case err != nil:
		return Hold{}, &UnknownError{i, err}
	case limited && !c.Stored && edited.Updated.After(end):
		return Hold{}, l.overrun(ctx, f, w)
	}
	if edited.ID != 0 && edited.ID != c.Comment {
		c.Comment, c.URL, c.Created = edited.ID, edited.URL, edited.Created
	}
	c.Record, c.Updated = r, edited.Updated
	return l.holdAfterRenewal(f, c, got, start), nil
}

// MayRenew says what Renew would answer before it writes, and writes nothing: nil is that it would go on.
func (l *Ledger) MayRenew(ctx context.Context, i claim.Issue, w claim.Worker, token int64) error {
	f, err := l.facts(ctx, i)
	if err != nil {
		return err
	}
	c, _ := f.Log.Find(w)
	end, _ := c.Until(l.set.Rules.Terms)
	return cmp.Or(l.decides(i, c), l.renewable(f, w, c, end), l.fence(f, w, token))
}

// withKnownComment adds to a claim that a store decided, and that a late snapshot of the log lacks, what its holder has
// written there: it is edited and not written again.
func withKnownComment(c claim.Claim, known Hold) claim.Claim {
	if c.Stored && c.Comment == 0 && known.Comment != 0 {
		c.Comment, c.URL, c.Created, c.Record = known.Comment, known.URL, known.Since, known.Record
	}
	return c
}

// holdAfterRenewal is the hold after a renewal; got is the store's lease of a claim that a store decides.
func (l *Ledger) holdAfterRenewal(f lifecycle.Facts, c claim.Claim, got lease.Lease, start time.Time) Hold {
	terms := l.set.Rules.Terms
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

// fence refuses who shows a token that is not the hold's.
func (l *Ledger) fence(f lifecycle.Facts, w claim.Worker, token int64) error {
	if err := f.Log.RefuseToken(w, token); err != nil {
		return l.lost(f, w, err)
	}
	return nil
}

// rewrite edits the claim comment of c, or posts the one that is still missing: only a store's hold can
// be without one of its worker's own.
func (l *Ledger) rewrite(ctx context.Context, f lifecycle.Facts, c claim.Claim, r claim.Record) (claim.Comment, error) {
	if c.Comment != 0 {
		edited, err := l.edit(ctx, f, c.Comment, r)
		if !c.Stored || !errors.Is(err, ErrGone) {
			return edited, err
		}
	}
	r.By, r.Nonce, r.Lease, r.At = "", l.token(), l.by.kind(), f.Now
	body, err := claim.Body(r, sentence(f, r))
	if err != nil {
		return claim.Comment{}, &CallError{err}
	}
	return l.append(ctx, f.Issue, body, func(s claim.State) (string, bool) {
		own, _ := s.Find(r.Worker)
		return own.URL, own.Comment != 0
	})
}

// A reader makes one snapshot of an issue.
type reader func(context.Context, claim.Issue) (lifecycle.Facts, error)

// sightings is how many snapshots an own claim is looked for before it counts as never made.
const sightings = 3

// readUntilShown reads until the log shows what its asker knows to be there. A snapshot that lacks it may be
// stale, and an absence decides nothing at once (spec.md#claim); the last snapshot is the answer. Where a
// store decides, the log may lack it for good, and the first snapshot is.
func (l *Ledger) readUntilShown(ctx context.Context, i claim.Issue, read reader, shown func(claim.State) bool) (lifecycle.Facts, error) {
	for n := 1; ; n++ {
		f, err := read(ctx, i)
		if err != nil || n == sightings || l.IsStrict() || shown(f.Log) {
			return f, err
		}
		if err := l.clock.Sleep(ctx, backoff(n-1)); err != nil {
			return f, &UnknownError{i, err}
		}
	}
}

// overrun is a renewal that was applied after the lease had ended. It must not stand for another
// lease, so the key ends here.
func (l *Ledger) overrun(ctx context.Context, f lifecycle.Facts, w claim.Worker) error {
	return errors.Join(l.lost(f, w, claim.ErrOverdue), l.tombstone(ctx, f, w, claim.OutcomeStaleSwept))
}

// renewable asks the log, then what people may have done: closing the issue or taking it
// themselves stops a worker at its next heartbeat.
func (l *Ledger) renewable(f lifecycle.Facts, w claim.Worker, c claim.Claim, end time.Time) error {
	margin := time.Duration(0)
	if c.Held() {
		margin = l.margin(end.Sub(c.Updated))
	}
	if err := f.Log.RefuseRenewal(w, f.Viewer, l.set.Rules.Terms, f.Now, margin); err != nil {
		return l.lost(f, w, err)
	}
	v := l.set.Rules.Verdict(f, lifecycle.Seeker{Worker: w})
	switch {
	case v.Answer == lifecycle.Unknown:
		return &UnknownError{f.Issue, verdictError{v}}
	case f.PullRequest && v.Has(lifecycle.CodeClosed):
		return l.lost(f, w, errors.New("the pull request has ended"))
	case v.Has(lifecycle.CodeClosed):
		return l.lost(f, w, errors.New("the issue was closed"))
	case v.Has(lifecycle.CodeHold):
		return l.lost(f, w, errors.New("a person took it (label "+l.set.Rules.Scheme.Hold+")"))
	}
	return nil
}

func (l *Ledger) lost(f lifecycle.Facts, w claim.Worker, err error) error {
	lost := &LostError{Issue: f.Issue, Worker: w, Err: err}
	if h, ok := l.set.Rules.Holder(f); ok && h.Record.Worker != w {
		lost.Holder = &h
	}
	return lost
}

// Owns reports whether the holder may still act under h: it must ask before every step that
// others can see (spec.md#acting-under-a-hold). It is false for a hold that did not come from this process.
func (l *Ledger) Owns(h Hold) bool {
	return !h.start.IsZero() && l.elapsed(h.start) < h.lease-l.margin(h.lease)
}

// Keep renews a hold of this process. One that has run out locally is never renewed (spec.md#heartbeat).
func (l *Ledger) Keep(ctx context.Context, h Hold) (Hold, error) {
	if !l.Owns(h) {
		return h, &LostError{Issue: h.Issue, Worker: h.Record.Worker, Err: claim.ErrOverdue}
	}
	return l.renew(ctx, h.Issue, h.Record.Worker, h.Token, h)
}
