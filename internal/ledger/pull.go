package ledger

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// pulls is what pull requests mean for holds.
type pulls struct {
	*base
	snapshots *snapshots
	records   *records
}

// Unlink records, in the name of by, that a pull request is not for the issue any more, for every release that
// names it (spec.md#unlink). It reports whether there was one. Labels are for the caller to bring in line.
func (ps *pulls) Unlink(ctx context.Context, i claim.Issue, pr lifecycle.PR, by string) (bool, error) {
	f, err := ps.snapshots.Look(ctx, i)
	if err != nil {
		return false, err
	}
	var of []claim.Claim
	for _, c := range f.Log.Claims {
		if c.End != nil && !c.End.Unlinked && pr.At(c.End.PR) {
			of = append(of, c)
		}
	}
	return len(of) > 0, ps.unlink(ctx, f, of, by)
}

// unlink takes the pull requests out of the releases of claims.
func (ps *pulls) unlink(ctx context.Context, f lifecycle.Facts, of []claim.Claim, by string) error {
	for _, c := range of {
		r := claim.Record{Kind: claim.KindUnlink, Worker: c.Record.Worker, By: by, PR: c.End.PR, At: f.Now}
		if _, err := ps.records.do(ctx, f, r); err != nil {
			return wrapWrite(f.Issue, err)
		}
	}
	return nil
}

// ResolvePull looks the pull request up that a worker names, as Release does before anything is written (spec.md#fields), and takes
// GitHub's own spelling of its address. A *CallError says that there is none.
func (ps *pulls) ResolvePull(ctx context.Context, i claim.Issue, e Ending) (Ending, error) {
	see, able := ps.forge.(PullReader)
	if e.PR == "" || !able {
		return e, nil
	}
	p, err := see.PullAt(ctx, e.PR, i)
	var none *NoPullError
	switch {
	case errors.As(err, &none):
		return e, &CallError{err}
	case err != nil:
		return e, &UnknownError{i, err}
	}
	e.PR, e.closes = p.URL, !p.Bare
	return e, nil
}

// handOver ends the hold of a worker whose own pull request is open or merged, naming it in the
// record; by says who noticed. It reports whether there was one.
func (ps *pulls) handOver(ctx context.Context, f lifecycle.Facts, by string) (claim.Claim, bool, error) {
	c, pr, ok := ps.set.Rules.Delivered(f)
	if !ok {
		return c, false, nil
	}
	if err := ps.decides(f.Issue, c); err != nil {
		return c, true, err
	}
	r := claim.Record{
		Kind: claim.KindRelease, Worker: c.Record.Worker, Outcome: claim.OutcomeSuccess, PR: pr.URL, Closes: !pr.Bare, By: by,
		Attempt: c.Record.Attempt, At: f.Now,
	}
	if _, err := ps.records.do(ctx, f, r); err != nil {
		return c, true, wrapWrite(f.Issue, err)
	}
	return c, true, nil
}
