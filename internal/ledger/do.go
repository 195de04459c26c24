package ledger

import (
	"context"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/protocol"
)

// records writes into logs.
type records struct {
	*base
	snapshots *snapshots
}

// do writes the record r about the issue that f shows, once: a lost answer is resolved by looking for the record in the log.
// Every record goes through here but a claim's own comment and a plan, whose text is the worker's.
//
// A record that ends a hold takes effect in the order in which a crash does least harm. The login that the claim has
// assigned is taken off first: whoever dies in between leaves a hold without an assignee, not an assignee without a hold.
// Then a lease store releases its lease: the log only follows.
//
// It returns a snapshot that shows the record, nil when it has to be read. Errors of the request are returned as they are;
// a record that cannot be written is a *CallError.
func (rs *records) do(ctx context.Context, f lifecycle.Facts, r claim.Record) (*lifecycle.Facts, error) {
	if r.Kind == claim.KindRelease {
		return rs.doBy(ctx, f, r, rs.appendRead)
	}
	return rs.doBy(ctx, f, r, func(ctx context.Context, i claim.Issue, body string, in landedIn) (claim.Comment, *lifecycle.Facts, error) {
		c, err := rs.append(ctx, i, body, in)
		return c, nil, err
	})
}

// A writer posts a record, with a snapshot that shows it or nil.
type writer func(ctx context.Context, i claim.Issue, body string, in landedIn) (claim.Comment, *lifecycle.Facts, error)

// doBy is do with its way of posting.
func (rs *records) doBy(ctx context.Context, f lifecycle.Facts, r claim.Record, write writer) (*lifecycle.Facts, error) {
	text := protocol.Sentence(f, r)
	if rs.set.Rules.Unproven(f, r) {
		text += " No pull request was named, so the issue is ready again; `--pr` names one, and `--done` closes the issue."
	}
	body, err := claim.Body(r, text)
	if err != nil {
		return nil, &CallError{Err: err}
	}

	if r.Kind == claim.KindRelease || r.Kind == claim.KindReject {
		if err := rs.unassign(ctx, f, r); err != nil {
			return nil, err
		}
		if err := rs.by.end(ctx, f.Issue, r); err != nil {
			return nil, err
		}
	}

	_, next, err := write(ctx, f.Issue, body, landedAs(r, f.Log))
	return next, err
}

// unassign takes off the login that the claim has assigned, unless the claim goes on by another process of its key, or another live claim
// has assigned the same login. That GitHub refuses it is no reason to keep the hold, and no error.
func (rs *records) unassign(ctx context.Context, f lifecycle.Facts, r claim.Record) error {
	assigner, able := rs.forge.(Assigner)
	c, _ := f.Log.Find(r.Worker)
	if !able || c.Record.Assignee == "" || !c.Held() || c.End != nil {
		return nil
	}

	goesOn := r.Nonce != "" && slices.ContainsFunc(c.Standing(), func(b claim.Bid) bool { return b.Nonce != r.Nonce })
	shared := slices.ContainsFunc(f.Log.Live(), func(o claim.Claim) bool {
		return o.Record.Worker != r.Worker && claim.SameLogin(o.Record.Assignee, c.Record.Assignee)
	})
	if goesOn || shared {
		return nil
	}
	if err := assigner.Unassign(ctx, f.Issue, c.Record.Assignee); err != nil && !lease.Rejected(err) {
		return err
	}
	return nil
}

// landedAs finds the record r in a log that did not have it before.
func landedAs(r claim.Record, before claim.State) landedIn {
	return func(s claim.State) (url string, ok bool) {
		c, claimed := s.Find(r.Worker)
		switch r.Kind {
		case claim.KindRelease:
			had, _ := before.Find(r.Worker)
			switch {
			case r.Nonce != "":
				return "", s.Over(r.Worker, r.Nonce)
			case r.Token != 0 && len(had.Bids) > 0 && c.End == nil: // of the process that had it; another one may have taken it over
				return "", s.Over(r.Worker, had.Record.Nonce)
			case claimed && c.End != nil:
				return c.End.URL, true
			case claimed: // and a store may have let it go: that is not in the log
				return "", false
			}
			return "", s.Dead(r.Worker)
		case claim.KindRevoke:
			return "", claimed && c.Revoked != nil
		case claim.KindApprove, claim.KindReject:
			return "", c.Plan != nil && !c.Plan.Pending()
		case claim.KindUnlink:
			return "", c.End != nil && c.End.Unlinked
		case claim.KindReset:
			if r.Restart {
				return "", s.Restart.Compare(before.Restart) > 0
			}
			return "", !slices.ContainsFunc(s.Attempts, func(a claim.Attempt) bool { return a.Worker == r.Worker })
		}
		return "", false
	}
}
