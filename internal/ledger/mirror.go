package ledger

import (
	"context"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
)

// known are the numbers of the repository's issues that a strict store may know a lease of. The log and
// the labels of such an issue may not have heard of it: its worker died between the two.
func (l *Ledger) known(ctx context.Context, r Repo) (map[int]bool, error) {
	lister, ok := l.store.(lease.Lister)
	if !ok {
		return nil, nil
	}
	numbers, err := lister.Known(ctx, claim.Issue{Owner: r.Owner, Repo: r.Name, Number: 1})
	out := make(map[int]bool, len(numbers))
	for _, n := range numbers {
		out[n] = true
	}
	return out, l.said(err)
}

// doubtful asks a strict store about an issue that somebody may hold; for all others the store, the log
// and the labels agree that nobody does. A closed issue needs no holder: its lease runs out.
func (w *sweeper) doubtful(ctx context.Context, f lifecycle.Facts) (lifecycle.Facts, error) {
	hidden := f.Open && w.hidden[f.Issue.Number]
	if len(f.Log.Live()) == 0 && !labels.Has(f.Labels, w.set.Rules.Scheme.Claimed) && !hidden {
		return f, nil
	}
	return w.ruled(ctx, f)
}

// unmirrored is the hold that the store knows and the log has never heard of.
func unmirrored(f lifecycle.Facts) (claim.Claim, bool) {
	for _, c := range f.Log.Live() {
		if c.Stored && len(c.Ranks) == 0 {
			return c, true
		}
	}
	return claim.Claim{}, false
}

// remirror writes the record of a hold that the log has never heard of, on behalf of its worker
// (spec.md#fold). It reports the hold, nil when none is missing.
func (w *sweeper) remirror(ctx context.Context, f lifecycle.Facts) (*claim.Claim, error) {
	c, missing := unmirrored(f)
	if !missing {
		return nil, nil
	}
	r := c.Record
	r.Nonce, r.By, r.Lease, r.At, r.Attempt = w.token(), w.s.By, w.kind, f.Now, 1+confirmed(f.Log)
	body, err := claim.Body(r, sentence(f, r))
	if err != nil {
		return nil, &CallError{err}
	}
	_, err = w.append(ctx, f.Issue, body, func(s claim.State) (string, bool) {
		own, _ := s.Find(r.Worker)
		return own.URL, len(own.Ranks) > 0
	})
	return &c, wrapWrite(f.Issue, err)
}
