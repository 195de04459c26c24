package github

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// errSlow: the part of the time that is for roles is over.
var errSlow = errors.New("no answer in time")

// A scope is which records of a log are wanted.
type scope int

const (
	everyRecord scope = iota
	standingClaims
)

// account is a login in the repository of the issue.
func (r *snapshot) account(login string) account {
	a := account{repo: r.facts.Issue.In(), login: login}
	if n := slices.IndexFunc(r.comments, func(m comment) bool { return m.Author == login }); n >= 0 {
		a.association = r.comments[n].association
	}
	return a
}

// accounts are the authors of comments, each once.
func (r *snapshot) accounts(comments []claim.Comment) (out []account) {
	for _, m := range comments {
		if !slices.ContainsFunc(out, func(a account) bool { return strings.EqualFold(a.login, m.Author) }) {
			out = append(out, r.account(m.Author))
		}
	}
	return out
}

// judgeAuthors finds out whose records count, for all snapshots together. For a caller that only
// asks who holds the issues, nobody is asked about who has ended all own claims; and about who
// ended a claim only if that claim counts.
func (c *Client) judgeAuthors(ctx context.Context, snapshots []*snapshot, want scope) *judgement {
	var all []account
	// keys whose records can change who holds the issue, or which pull requests are for it
	stakes := map[*snapshot][]claim.Stake{}
	for _, r := range snapshots {
		var records []claim.Comment // whose authors matter
		for _, m := range r.comments {
			if m.record && r.err == nil {
				records = append(records, m.Comment)
			}
		}

		if want == everyRecord {
			all = append(all, r.accounts(records)...)
			continue
		}

		stakes[r] = slices.DeleteFunc(claim.Stakes(records), func(s claim.Stake) bool {
			return s.Over && !slices.ContainsFunc(s.PRs, func(pr string) bool {
				id, ok := parsePull(pr, c.o.Web)
				shown := r.pull(id)
				return ok && (shown == nil ||
					shown.State == lifecycle.PROpened && c.opened(r, *shown).excessive(c.o.OutsiderIssues))
			})
		})

		for _, s := range stakes[r] {
			all = append(all, r.accounts(s.Claims)...)
		}
	}

	if want == everyRecord {
		return c.judgementOf(ctx, all)
	}

	if deadline, limited := ctx.Deadline(); limited { // a tenth of the time is for saying what was found out by then
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, deadline.Add(-time.Until(deadline)/10), errSlow)
		defer cancel()
	}

	claimers := c.judgementOf(ctx, all)
	var enders []account
	for _, r := range snapshots {
		for _, s := range stakes[r] {
			if slices.ContainsFunc(r.accounts(s.Claims), claimers.mayCount) {
				enders = append(enders, r.accounts(s.Marks)...)
			}
		}
	}

	claimers.ask(ctx, enders)
	return claimers
}

// doubt takes in that it could not be found out whether some records count.
func (r *snapshot) doubt(err error, want scope) {
	if want == everyRecord {
		r.err = cmp.Or(r.err, err)
	} else if text := err.Error(); !slices.Contains(r.facts.Doubts, text) {
		r.facts.Doubts = append(r.facts.Doubts, text)
	}
}

// replay folds the records and notices that count. Of an author about whom nobody could be asked
// the whole snapshot is unknown; where only standing claims are wanted the log goes without that
// author, and the facts say so. Beside it there is a guess then, if GitHub calls somebody of whom
// it tells no role a member or a collaborator.
func (r *snapshot) replay(judged *judgement, want scope) error {
	log, careful := slices.Clone(r.talk), slices.Clone(r.talk)
	guessed := false
	for _, m := range r.comments {
		counts, err := false, error(nil)
		if m.record {
			counts, err = judged.of(r.account(m.Author))
		}

		switch {
		case err != nil && want == everyRecord:
			return err
		case err != nil:
			r.doubt(err, want)
			if m.Trusted = judged.mayCount(r.account(m.Author)); m.Trusted {
				guessed, careful = true, append(careful, m.Comment)
			}
			continue
		}

		m.Trusted = counts
		log, careful = append(log, m.Comment), append(careful, m.Comment)
	}

	r.facts.Log = claim.Replay(log)
	if guessed {
		guess := claim.Replay(careful)
		r.guess = &guess
	}

	return nil
}
