package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lifecycle"
)

// byAuthors signs what was done because of pull requests whose authors hold nothing.
const byAuthors = "pull-request"

// unclaimedText is what the guard says of an issue whose pull request's author does not hold it.
const unclaimedText = "nobody holds it; the author can take it by the comment /claim on the issue"

// unclaimed reports whether the guard is to say that the author of the pull request does not hold
// the issue, which nobody else holds either.
func (s *Step) unclaimed(p github.Pull, f lifecycle.Facts) bool {
	says := s.Contributors.PullRequests == config.PullsWarn || s.Contributors.PullRequests == config.PullsFail
	if !says || !f.Open || f.PullRequest || !byStranger(p, f) {
		return false
	}
	_, held := s.Ledger.Rules().Holder(f)
	return !held
}

// byStranger reports whether the records of the pull request's author do not count. Apps are no
// strangers.
func byStranger(p github.Pull, f lifecycle.Facts) bool {
	for _, o := range f.PRs {
		if o.Number == p.Number && strings.EqualFold(o.Repo, p.Repo) {
			return o.Stranger
		}
	}
	return p.Outside()
}

// unclaimedComment is what the guard says under a pull request whose author holds none of what it
// closes.
func unclaimedComment(unclaimed []refusal) string {
	var b strings.Builder
	b.WriteString(guardMark + "\n**Take the issue that this pull request closes.** Otherwise somebody else may be at work on it.\n\n")
	for _, r := range unclaimed[:min(len(unclaimed), guardLimit)] {
		fmt.Fprintf(&b, "- %s: %s\n", issueLink(r.issue.Issue, r.issue.URL), markdown(r.reason.Text))
	}

	b.WriteString("\nThis pull request stays open either way. After `/claim` run this check again, or push.")
	return b.String()
}

// takes reports whether the repository gives the authors of pull requests the holds of what they
// close.
func (p Place) takes() bool {
	c := p.Contributors
	return c.PullRequests == config.PullsClaim && c.Claim != "" && c.Claim != config.ContributorsOff
}

// takeForAuthor gives the author of a pull request the holds of the issues that it closes, where a
// contributor may take them; and returns the snapshots as they are then. A run that may not write
// leaves that to the sweep.
func (s *Step) takeForAuthor(ctx context.Context, p github.Pull, closes []claim.Issue, snapshots []github.Snapshot,
	r *result,
) []github.Snapshot {
	if !s.takes() || s.dry() || p.State != lifecycle.PROpened || !p.DefaultBase {
		return snapshots
	}
	cm := &commands{Place: s.Place, console: s.Console, tend: s.tend}
	for n, one := range snapshots {
		if one.Err != nil || !slices.ContainsFunc(closes, one.Facts.Issue.Same) {
			continue
		}
		if cm.takeFor(ctx, p, one.Facts, r) {
			snapshots[n] = s.Hub.FactsOf(ctx, []claim.Issue{one.Facts.Issue})[0]
		}
	}

	return snapshots
}

// takeFor gives the author of a pull request the hold of one issue, and reports whether it did.
// What goes wrong is told and tried again by the next sweep; it makes no check red.
func (cm *commands) takeFor(ctx context.Context, p github.Pull, f lifecycle.Facts, r *result) bool {
	if !f.Open || f.PullRequest || !byStranger(p, f) || !(Account{Login: p.Author}).person() {
		return false
	}

	o := order{
		facts: f,
		by:    p.Author,
		at:    f.Now,
		ttl:   cm.Contributors.TTL,
		run:   fmt.Sprintf("pull-%d", p.Number),
		nonce: nonceOf(int64(p.Number)),
	}

	if !unconfirmed(f.Log, o) {
		if _, held := cm.Ledger.Rules().Holder(f); held {
			return false
		}
		if f.Log.Used(claim.Worker{Codename: o.by, FiringID: o.run}) {
			return false // that hold has ended: who wants it again says so
		}
	}

	err := cm.mayTake(ctx, &o, p.Number, nil)
	if err == nil {
		err = cm.claim(ctx, o, r)
	}

	var refused no
	switch {
	case errors.As(err, &refused):
		cm.console.line("%s does not get the hold of %s for %s: %s", p.Author, f.Issue, p, refused)
		return false
	case err != nil:
		r.notes = append(r.notes, fmt.Sprintf("%s could not be given to the author of %s: %s; the next sweep tries again", f.Issue, p, err))
		return false
	}

	return true
}

// unconfirmed reports whether an earlier run has begun the claim of the order and was cut off.
func unconfirmed(log claim.State, o order) bool {
	c, claimed := log.Find(claim.Worker{Codename: o.by, FiringID: o.run})
	return claimed && c.Live() && !c.Held()
}

// takeForAuthors does for the open pull requests what their own runs could not do, because they
// come from forks: the oldest first, and no more in a sweep than contributors.hourly.
func (s *Step) takeForAuthors(ctx context.Context, p Place, r *result) {
	if !p.takes() || s.dry() || r.report.Stopped != nil {
		return
	}
	pulls, err := p.Hub.NewestPulls(ctx, p.Repo)
	if err != nil {
		r.report.Skipped = append(r.report.Skipped, "pull requests of contributors: "+err.Error())
		return
	}

	pulls = slices.DeleteFunc(pulls, func(o github.Pull) bool { return !o.Outside() || !o.DefaultBase })
	slices.SortFunc(pulls, func(a, b github.Pull) int { return a.Number - b.Number })

	cm := s.sweepingCommands(p)
	snapshots := map[claim.Issue]lifecycle.Facts{}
	for _, one := range p.Hub.FactsOf(ctx, s.closedByAll(p, pulls)) {
		if one.Err == nil {
			snapshots[one.Facts.Issue.Folded()] = one.Facts
		}
	}

	var given []claim.Issue
	for _, o := range pulls {
		for _, i := range s.closedByAll(p, []github.Pull{o}) {
			f, read := snapshots[i.Folded()]
			if !read || len(given) == p.Contributors.Hourly || !closes(f, o) || slices.ContainsFunc(given, i.Same) {
				continue
			}

			if cm.takeFor(ctx, o, f, r) {
				given = append(given, i)
			}
		}
	}

	if len(given) > 0 {
		r.add(cm.tend(ctx, given, byAuthors))
	}
}

// closes reports whether the facts of an issue have the pull request as one that is open for it, so
// that a stranger's that names too many issues gets none.
func closes(f lifecycle.Facts, p github.Pull) bool {
	return slices.ContainsFunc(f.PRs, func(o lifecycle.PR) bool {
		return o.Number == p.Number && strings.EqualFold(o.Repo, p.Repo) && o.State == lifecycle.PROpened &&
			o.DefaultBase && !o.Bare && !o.Sibling
	})
}

// closedByAll lists the issues of a place that the descriptions of pull requests close, each once.
func (s *Step) closedByAll(p Place, pulls []github.Pull) []claim.Issue {
	var out []claim.Issue
	for _, o := range pulls {
		refs := closing.InDescription(o.Body, closing.Repo{Owner: p.Repo.Owner, Name: p.Repo.Name}, s.Host)
		for _, ref := range refs[:min(len(refs), lifecycle.MostIssues)] {
			here := strings.EqualFold(ref.Issue.Slug(), p.Repo.String())
			if here && !slices.ContainsFunc(out, ref.Issue.Same) {
				out = append(out, claim.Issue{Owner: p.Repo.Owner, Repo: p.Repo.Name, Number: ref.Issue.Number})
			}
		}
	}

	return out
}
