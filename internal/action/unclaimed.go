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
	"github.com/label-state/label-state/internal/printable"
)

// byAuthors signs what was done because of pull requests whose authors hold nothing.
const byAuthors = "pull-request"

// unclaimedText is what the guard says of an issue whose pull request's author does not hold it.
const unclaimedText = "nobody holds it; the author can take it by commenting /claim on the issue"

// demands reports whether the repository wants contributors to hold what their pull requests close.
func (p Place) demands() bool {
	return p.Contributors.PullRequests == config.PullsWarn || p.Contributors.PullRequests == config.PullsFail
}

// contributor reports whether the records of a login do not count, which is the same question for
// commands and pull requests. Apps are not contributors. A member of the organization who may only
// read is one, so that GitHub is asked for the role of everybody else than a stranger.
func (p Place) contributor(ctx context.Context, login string) (bool, error) {
	if !(Account{Login: login}).person() {
		return false, nil
	}
	counts, err := p.Hub.MayLabel(ctx, p.Repo, login)
	return err == nil && !counts, err
}

// unheld reports whether the author of the pull request is a contributor who must hold the issue,
// and does not. The role is asked last: who holds the issue costs no request.
func (s *Step) unheld(ctx context.Context, p github.Pull, f lifecycle.Facts) (bool, error) {
	if !s.demands() || !s.here(f.Issue) || !f.Open || f.PullRequest || delivered(p, f) {
		return false, nil
	}
	if c, held := s.Ledger.Rules().Holder(f); held && c.IsOf(p.Author) {
		return false, nil
	}
	return s.contributor(ctx, p.Author)
}

// heldBy is who holds an issue that the author of a pull request does not hold, else what keeps the
// author from it, else how to take it.
func (s *Step) heldBy(f lifecycle.Facts, v lifecycle.Verdict, author string) lifecycle.Reason {
	for _, reason := range v.Reasons {
		if reason.Code == lifecycle.CodeInFlight || reason.Code == lifecycle.CodeOwn {
			return reason
		}
	}

	var barred no
	text := unclaimedText
	if errors.As(s.barred(&order{facts: f, by: author}, 0), &barred) {
		text = barred.text
	}

	return lifecycle.Reason{Text: text, URL: f.URL}
}

// delivered reports whether a holder's release names the pull request as its work.
func delivered(p github.Pull, f lifecycle.Facts) bool {
	return slices.ContainsFunc(f.PRs, func(o lifecycle.PR) bool { return o.Recorded && o.Is(p.PR) })
}

// unclaimedComment is what the guard says under a pull request whose author holds none of what it
// closes.
func unclaimedComment(unclaimed []refusal) string {
	var b strings.Builder
	b.WriteString(guardMark + "\n**The author does not hold the issue that this pull request closes.** " +
		"Somebody else may be at work on it.\n\n")
	b.WriteString(listRefusals(unclaimed, func(r refusal) string {
		return fmt.Sprintf("%s: %s", issueLink(r.issue.Issue, r.issue.URL), markdown(toPeople(r.reason)))
	}))
	b.WriteString("\nThis pull request stays open either way. Once you hold the issue, run this check again, or push." +
		printable.Footer)
	return b.String()
}

// takes reports whether the repository gives the authors of pull requests the holds of what they
// close.
func (p Place) takes() bool {
	return p.Contributors.PullRequests == config.PullsClaim && p.Contributors.Open()
}

// takeForAuthor gives the author of a pull request the holds of the issues that it closes, where a
// contributor may take them; and returns the snapshots as they are then. A run that may not write
// leaves that to the sweep.
func (s *Step) takeForAuthor(ctx context.Context, p github.Pull, closes []claim.Issue, snapshots []lifecycle.Snapshot,
	r *result,
) []lifecycle.Snapshot {
	if !s.takes() || s.dry() || p.State != lifecycle.PROpened || !p.DefaultBase {
		return snapshots
	}
	cm := &commands{Step: s}
	for n, one := range snapshots {
		i := one.Facts.Issue
		if one.Err != nil || !s.here(i) || !slices.ContainsFunc(closes, i.Same) {
			continue
		}
		took, err := cm.takeFor(ctx, p, one.Facts, r)
		switch {
		case err != nil: // makes no check red
			r.note("%s; the next sweep tries again", err)
		case took:
			snapshots[n] = s.Hub.FactsOf(ctx, []claim.Issue{one.Facts.Issue})[0]
		}
	}

	return snapshots
}

// takeFor gives the author of a pull request the hold of one issue, and reports whether it did.
func (cm *commands) takeFor(ctx context.Context, p github.Pull, f lifecycle.Facts, r *result) (bool, error) {
	if !f.Open || delivered(p, f) || !(Account{Login: p.Author}).person() {
		return false, nil
	}

	o := order{
		facts:   f,
		by:      p.Author,
		at:      f.Now,
		ttl:     cm.Contributors.TTL,
		run:     fmt.Sprintf("pull-%d", p.Number),
		nonce:   nonceOf(int64(p.Number)),
		outside: true,
	}

	begun := unconfirmed(f.Log, o)
	for again := 2; !begun && f.Log.Used(o.worker()); again++ {
		if c, _ := f.Log.Find(o.worker()); c.Held() {
			return false, nil // that hold has ended: who wants it again says so
		}

		// a claim that was given up before it was a hold has used its name up
		o.run = fmt.Sprintf("pull-%d-%d", p.Number, again)
		begun = unconfirmed(f.Log, o)
	}

	if _, held := cm.Ledger.Rules().Holder(f); held && !begun {
		return false, nil
	}

	err := cm.mayTake(ctx, &o, p.Number, nil)
	if err == nil {
		err = cm.claim(ctx, o, r)
	}

	var refused no
	switch {
	case errors.Is(err, errMember):
		return false, nil
	case errors.As(err, &refused):
		cm.Console.line("%s does not get the hold of %s for %s: %s", p.Author, f.Issue, p, refused)
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s could not be given to the author of %s: %w", f.Issue, p, err)
	}

	return true, nil
}

// unconfirmed reports whether an earlier run has begun the claim of the order and was cut off.
func unconfirmed(log claim.State, o order) bool {
	c, claimed := log.Find(o.worker())
	return claimed && c.Live() && !c.Held()
}

// takeForAuthors does for the open pull requests what their own runs could not do, because they
// come from forks: the oldest first, and no more in a sweep than contributors.hourly.
func (s *Step) takeForAuthors(ctx context.Context, r *result) {
	if !s.takes() || s.dry() || r.report.Stopped != nil {
		return
	}
	pulls, err := s.Hub.NewestPulls(ctx, s.Repo)
	if err != nil {
		r.skip("pull requests of contributors: %s", err)
		return
	}

	pulls = slices.DeleteFunc(pulls, func(o github.Mergeable) bool {
		return !o.DefaultBase || !(Account{Login: o.Author}).person()
	})
	slices.SortFunc(pulls, func(a, b github.Mergeable) int { return a.Number - b.Number })

	var all []claim.Issue
	for _, o := range pulls {
		described, landing := s.closedIn(o)
		all = slices.Concat(all, described, landing)
	}

	slices.SortFunc(all, claim.Issue.Compare)
	cm := &commands{Step: s}
	snapshots := map[claim.Issue]lifecycle.Facts{}
	var unread error
	for _, one := range s.Hub.FactsOf(ctx, slices.CompactFunc(all, claim.Issue.Same)) {
		switch {
		case one.Err == nil:
			snapshots[one.Facts.Issue.Folded()] = one.Facts
		case !absent(one.Err):
			unread = one.Err
		}
	}

	if unread != nil {
		r.skip("issues of contributors' pull requests: %s", unread)
	}

	var given []claim.Issue
	for _, o := range pulls {
		described, landing := s.closedIn(o)
		for n, i := range slices.Concat(described, landing) {
			f, read := snapshots[i.Folded()]
			if !read || len(given) == s.Contributors.Hourly || slices.ContainsFunc(given, i.Same) {
				continue
			}

			// so that a stranger's that describes too many issues gets none
			if lands := n >= len(described); !lands && !closes(f, o.Pull) {
				continue
			}

			took, err := cm.takeFor(ctx, o.Pull, f, r)
			switch {
			case err != nil:
				r.skip("%s", err)
			case took:
				given = append(given, i)
			}
		}
	}

	if len(given) > 0 {
		r.add(cm.tend(ctx, given, byAuthors))
	}
}

// closes reports whether the facts of an issue have the pull request as one that is open for it.
func closes(f lifecycle.Facts, p github.Pull) bool {
	return slices.ContainsFunc(f.PRs, func(o lifecycle.PR) bool {
		return o.Is(p.PR) && o.State == lifecycle.PROpened && !o.Bare && !o.Sibling
	})
}

// closedIn lists the issues of this repository that a pull request closes: by its description, and
// by nothing but its title and its commits; neither of them if they are more than one may move.
func (s *Step) closedIn(o github.Mergeable) (described, landing []claim.Issue) {
	take := func(closed []claim.Issue) (out []claim.Issue) {
		for _, i := range closed {
			if s.here(i) && !slices.ContainsFunc(described, i.Same) {
				out = append(out, s.Repo.Issue(i.Number))
			}
		}

		if len(closed) > lifecycle.MostIssues {
			return nil
		}
		return out
	}

	described = take(closing.InDescription(o.Body, s.Repo, s.Host))
	merged, _ := closing.InMerge(o.Merge.Merge, s.Repo, s.Host)
	return described, take(merged)
}
