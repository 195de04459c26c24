package ledger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// A Part is one issue of a bundle, with the ledger of its repository.
type Part struct {
	Issue  claim.Issue
	Ledger *Ledger
}

// A Bundle is issues of one repository or several that one worker takes together or not at all.
type Bundle struct {
	slug  string
	parts []Part // in the one order in which everybody takes them
}

// NewBundle returns a bundle. A slug or label that cannot be, no issue at all and one that is named
// twice are an answer.Usage. It asks GitHub for nothing.
func NewBundle(slug string, parts []Part) (Bundle, error) {
	b := Bundle{slug, slices.Clone(parts)}
	slices.SortStableFunc(b.parts, func(x, y Part) int { return x.Issue.Compare(y.Issue) })
	if len(parts) == 0 {
		return Bundle{}, answer.Wrongf("bundle %s: no issue is named", slug)
	}

	for n, p := range b.parts {
		if _, err := p.Ledger.set.Rules.Scheme.Bundle(slug); err != nil {
			return Bundle{}, answer.Wrong(err)
		}
		if n > 0 && p.Issue.Same(b.parts[n-1].Issue) {
			return Bundle{}, answer.Wrongf("bundle %s: %s is named twice", slug, p.Issue)
		}
	}

	return b, nil
}

// Issues are the bundle's, in the order in which they are taken.
func (b Bundle) Issues() []claim.Issue {
	out := make([]claim.Issue, len(b.parts))
	for n, p := range b.parts {
		out[n] = p.Issue
	}
	return out
}

// A BundleError is the answer no, or could not find out, for a whole bundle: nothing of it is held.
// It is the error of its first issue, unless something could not be released.
type BundleError struct {
	Slug   string
	Causes []error // one for each issue that stood in the way
	Issues []claim.Issue
	Taken  []claim.Issue // what had been taken and was released
	Left   error         // what could not be released: not held by us, but not known to be free
}

func (e *BundleError) Error() string {
	texts := make([]string, len(e.Causes))
	for n, err := range e.Causes {
		texts[n] = e.Issues[n].String() + ": " + Reason(e.Issues[n], err)
	}
	return strings.Join(texts, "; ") + "; " + e.Aftermath()
}

// Aftermath says what became of the bundle.
func (e *BundleError) Aftermath() string {
	switch {
	case e.Left != nil:
		return "and what was taken could not be released: " + e.Left.Error()
	case len(e.Taken) > 0:
		return fmt.Sprintf("%d already taken, all released", len(e.Taken))
	}

	return "nothing was taken"
}

// Unwrap returns what decides the answer.
func (e *BundleError) Unwrap() []error {
	if e.Left != nil {
		return []error{e.Left}
	}

	for _, err := range e.Causes {
		var held *HeldError
		if !errors.As(err, &held) {
			return []error{err} // not known beats no
		}
	}

	return e.Causes
}

// check reads every issue and says, as a *BundleError, which of them the worker may not take. It
// writes nothing; a dry run takes the holds that the claims would find expired for ended. The
// snapshots are of the log alone, in the order of Issues.
func (b Bundle) check(ctx context.Context, w claim.Worker) ([]Snapshot, error) {
	no := &BundleError{Slug: b.slug}
	out := make([]Snapshot, len(b.parts))
	taken := b.parts[0].Ledger.Now()
	forges := make([]Forge, len(b.parts))
	for n, p := range b.parts {
		forges[n] = p.Ledger.forge
	}

	for n, read := range readAll(ctx, forges, b.Issues()) {
		var v lifecycle.Verdict
		p := b.parts[n]
		if read.Err == nil && p.Ledger.behind(read.Facts) {
			read = p.Ledger.facts(ctx, p.Issue)
		}
		f, err := p.Ledger.whole(p.Issue, read.Facts, read.Err)
		out[n] = Snapshot{Facts: f, Taken: taken}
		if err == nil {
			f, err = p.Ledger.Ruled(ctx, f)
		}

		if err == nil {
			ask := p.Ledger.set.Rules.Admits
			if p.Ledger.set.DryRun {
				ask = p.Ledger.set.Rules.Verdict
			}

			f = p.Ledger.Here(f)
			v = ask(f, lifecycle.Seeker{Worker: w})
			err = protocol.Unsure(f, v)
		}

		switch {
		case err != nil:
		case f.PullRequest:
			err = answer.Wrongf("%s is a pull request: a bundle contains only issues", p.Issue)
		case v.Has(lifecycle.CodeOwn):
			err = &HeldError{Issue: p.Issue, Verdict: v, Shared: true}
		case f.Log.Used(w):
			err = answer.Wrong(claim.ErrKeyUsed)
		case v.Answer != lifecycle.Free:
			err = &HeldError{Issue: p.Issue, Verdict: v}
		}

		if err != nil {
			no.Causes, no.Issues = append(no.Causes, err), append(no.Issues, p.Issue)
		}
	}

	if len(no.Causes) > 0 {
		return nil, no
	}

	return out, nil
}

// Worker completes a worker for the bundle's claims: all of them have one firing id.
func (b Bundle) Worker(w claim.Worker) claim.Worker {
	if l := b.parts[0].Ledger; w.FiringID == "" {
		w.FiringID = l.firing(l.token())
	}
	return w
}

// Nonce names the process that claims the bundle: every claim of the bundle has it.
func (b Bundle) Nonce() string { return b.parts[0].Ledger.token() }

// Claim takes every issue of the bundle for one worker, or none. All of it is looked at before the
// first write. The issues are then taken one after the other, in an order that is the same for
// everybody, and nobody waits for a hold: so of two bundles over the same issues exactly one is
// taken, and no number of them stand in each other's way for ever. When all are taken each is
// renewed once: that they are whole is known then and not before (claim.Claim.Provisional).
//
// The error is a *BundleError, and whatever was taken has been released with the labels as they
// were; or joined *LabelsErrors beside the holds, which are real. Whoever dies in between leaves
// claims that expire within Terms.Bundle and are undone by whoever sees them next.
func (b Bundle) Claim(ctx context.Context, req Request) ([]Hold, error) {
	req.Worker, req.Bundle, req.Nonce = b.Worker(req.Worker), b.slug, cmp.Or(req.Nonce, b.Nonce())
	for _, p := range b.parts { // each repository has settings of its own
		if err := p.Ledger.MayClaim(p.Issue, req); err != nil {
			return nil, fmt.Errorf("%s: %w", p.Issue, err)
		}
	}

	judged, err := b.check(ctx, req.Worker)
	switch {
	case err != nil:
		return nil, err
	case b.parts[0].Ledger.set.DryRun:
		return nil, &Unsent{}
	}

	t := taking{
		Bundle: b,
		worker: req.Worker,
		nonce:  req.Nonce,
		judged: judged,
	}
	for len(t.holds) < len(b.parts) { // the next issue, or all of its repository, where a store takes them in one step
		n, err := t.together(ctx, req)
		if errors.Is(err, errors.ErrUnsupported) {
			var h Hold
			n = len(t.holds)
			req.Judged = t.judged[n]
			if h, err = b.parts[n].Ledger.Claim(ctx, b.parts[n].Issue, req); err == nil || late(err) {
				t.holds, err = append(t.holds, h), nil
			}
		}

		if err != nil {
			return nil, t.undo(ctx, n, err)
		}
	}

	return t.keep(ctx)
}

// keep renews every hold once, and brings the labels in line, the bundle's own among them.
func (t *taking) keep(ctx context.Context) ([]Hold, error) {
	runs, ops := make([]*run, len(t.parts)), make([]protocol.Operation, len(t.parts))
	for n, p := range t.parts {
		h := t.holds[n]
		if !p.Ledger.Owns(h) {
			return nil, t.undo(ctx, n, &LostError{Issue: p.Issue, Worker: h.Record.Worker, Err: claim.ErrOverdue})
		}
		runs[n], ops[n] = &run{Ledger: p.Ledger, ctx: ctx, issue: p.Issue},
			p.Ledger.renewal(p.Issue, h.Record.Worker, h.Token, h).Relabeling().Run
	}

	var labels []error
	for n, end := range runAll(runs, ops) {
		if end.Err != nil && !late(end.Err) {
			return nil, t.undo(ctx, n, end.Err)
		}
		t.holds[n] = t.parts[n].Ledger.renewed(end)
		labels = append(labels, end.Err)
	}

	return t.holds, errors.Join(labels...)
}

// late reports whether only labels failed.
func late(err error) bool {
	var labels *LabelsError
	return errors.As(err, &labels)
}

// A taking is a bundle on the way from the first claim to the last.
type taking struct {
	Bundle
	worker claim.Worker
	nonce  string     // of its process
	judged []Snapshot // of all parts, before the first claim
	holds  []Hold     // of the first parts
}

// undo releases what was taken, in the opposite order, because part n could not be, or could not
// be kept. It goes on when the caller's time is over.
func (t *taking) undo(ctx context.Context, n int, because error) error {
	failed := t.parts[n]
	no := &BundleError{Slug: t.slug, Causes: []error{because}, Issues: []claim.Issue{failed.Issue}}
	var held *HeldError

	// a plain no left nothing behind; of any other only the log knows how it ended
	if !errors.As(because, &held) && !answer.Is(because, answer.Usage) {
		_, batch := failed.Ledger.leases.store.(lease.Batcher)
		for k := len(t.holds); k < len(t.parts) && (k == n || batch && failed.Issue.SameRepo(t.parts[k].Issue)); k++ {
			if _, err := t.parts[k].Undo(ctx, t.worker, t.nonce, false); err != nil {
				no.Left = errors.Join(no.Left, fmt.Errorf("%s: %w", t.parts[k].Issue, err))
			}
		}
	}

	for k := len(t.holds) - 1; k >= 0; k-- {
		no.Taken = append(no.Taken, t.parts[k].Issue)
		if _, err := t.parts[k].Undo(ctx, t.worker, t.nonce, true); err != nil {
			no.Left = errors.Join(no.Left, fmt.Errorf("%s: %w", t.parts[k].Issue, err))
		}
	}

	return no
}

// Undo gives a claim of the bundle back, with the labels as they were: one that certainly was taken
// whatever a snapshot shows, any other if the log shows it. It ends the claim of the process with
// the nonce, of an empty one that of the key. was reports whether there was one. Labels that are
// late are not an error: the sweep puts them right.
func (p Part) Undo(ctx context.Context, w claim.Worker, nonce string, taken bool) (was bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), detachedIn)
	defer cancel()
	op := protocol.NewUndo(p.Ledger.config(), p.Issue, w, nonce, taken)
	end := p.Ledger.Run(ctx, p.Issue, op)
	if late(end.Err) {
		end.Err = nil
	}

	return len(end.Records) > 0, end.Err
}
