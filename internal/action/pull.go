package action

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/closing"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
)

// byPull signs what was done because of a pull request's event.
const byPull = "pull-request-event"

// lifecycle follows a pull request: every issue of this repository that it closes, or closed before
// it was edited, and the one that its chain is for, is brought in line, the holder whose work it is
// has its claim released with pr=, and the guard has its say. The pull request itself is brought in
// line with its own holds, which its end ends (spec.md#held-pull-requests).
func (s *Step) lifecycle(ctx context.Context) result {
	p, m, r, ok := s.pull(ctx)
	if !ok {
		return r
	}

	closes, before := s.moves(ctx, p, &r), s.named(s.Event.Changes.Body.From, p)
	if r.err != nil {
		return r
	}

	s.checkProposed(ctx, p, m, &r)

	if len(before) > lifecycle.MostIssues {
		before = nil // it moved none of them
	}

	// whose chains the bodies say it is of; whether that is so does not matter, because those are
	// only looked at again
	var parents []claim.Issue
	for _, body := range []string{p.Body, s.Event.Changes.Body.From} {
		if r, ok, err := prchain.Find(body); err == nil && ok {
			parents = append(parents, r.Parent)
		}
	}

	home, _ := s.apart(slices.Concat(closes, before, parents))
	_, abroad := s.apart(closes)
	r.err = s.unlink(ctx, p, before, &r)
	if p.Comments > 0 { // somebody may hold it
		self := s.Repo.Issue(p.Number)
		home = append(home, self)
		if s.Event.Action == "unlabeled" && r.err == nil {
			r.err = s.unlabeled(ctx, self, &r)
		}
	}

	// The guard judges whatever could not be recorded above, and before anything is written below.
	closed := closed{closes, s.landing(ctx, p, m, closes, &r)}
	snapshots := s.takeForAuthor(ctx, p, closes, s.Hub.FactsOf(ctx, home), &r)
	others := s.Hub.FactsOf(ctx, slices.Concat(abroad, closed.landing))
	others = s.takeForAuthor(ctx, p, closed.landing, others, &r)
	s.guardIssues(ctx, p, closed, slices.Concat(snapshots, others), &r)
	if r.err != nil {
		return r
	}

	r.add(s.tendSnapshots(ctx, snapshots, byPull))
	if len(r.report.Examined) == 0 && r.report.Failed > 0 {
		r.err = r.report.Findings[0].Err
		return r
	}

	s.comment(ctx, p, &r)
	return r
}

// unlink records that the pull request is not for the issues any more whose keyword an edit took
// out, although a release names it (spec-writing.md#unlink). What the description says now counts,
// whatever the event says of it.
func (s *Step) unlink(ctx context.Context, p github.Pull, before []claim.Issue, r *result) error {
	// also those that it names in vain, because they are too many
	gone, _ := s.apart(slices.DeleteFunc(before, func(i claim.Issue) bool {
		return slices.ContainsFunc(p.Closes, i.Same) ||
			closing.Closes(p.Body, s.Repo, s.Host, i)
	}))

	if s.dry() {
		return nil
	}
	by := s.Event.Sender.Login
	if by == "" {
		by = byPull
	}

	for _, i := range gone {
		did, err := s.Ledger.Unlink(ctx, i, p.PR, by)
		switch {
		case absent(err):
			s.Console.line("%s", err)
		case err != nil:
			return err
		case did:
			r.note("%s took the keyword for %s out of %s", by, i, p)
			s.deleteRepeats(ctx, nil, i)
		}
	}

	return nil
}

// moves lists the issues that the pull request closes, or none where it names more than it may
// move: then it says so.
func (s *Step) moves(ctx context.Context, p github.Pull, r *result) []claim.Issue {
	named := s.named(p.Body, p)
	home, abroad := s.apart(slices.Clone(named))
	all := append(home, abroad...)
	if p.State != lifecycle.PROpened {
		if len(all) >= closing.Limit {
			r.note("pull request %s names 1,000 issues or more; those after the first 1,000 are left to the sweep", p)
		}
		return named
	}

	excess, err := s.Hub.Excess(ctx, p, all)
	if err != nil {
		r.err = err
		s.couldNotJudge(r, unjudged{what: fmt.Sprintf("%s may close what it names", p), err: err})
		return named
	}
	if excess == nil {
		return named
	}

	r.excess = excess.String()
	r.leave("%s", r.excess)
	return nil
}

// guardOnly asks the guard and moves nothing.
func (s *Step) guardOnly(ctx context.Context) result {
	p, m, r, ok := s.pull(ctx)
	if !ok {
		return r
	}

	closes := s.moves(ctx, p, &r)
	if r.err != nil {
		return r
	}

	s.checkProposed(ctx, p, m, &r)
	s.guardPull(ctx, p, m, closes, &r)
	if len(r.refused)+len(r.unclaimed) == 0 && r.excess == "" {
		r.poor = false // there is nothing that it could not write
	}
	s.comment(ctx, p, &r)
	return r
}

// guardPull reads the issues that the pull request closes, and asks the guard about them.
func (s *Step) guardPull(ctx context.Context, p github.Pull, m github.Merge, closes []claim.Issue, r *result) {
	closed := closed{closes, s.landing(ctx, p, m, closes, r)}
	home, abroad := s.apart(slices.Concat(closes, closed.landing))
	snapshots := s.Hub.FactsOf(ctx, slices.Concat(home, abroad))
	for _, one := range snapshots {
		switch {
		case one.Err == nil:
			r.report.Examined = append(r.report.Examined, one.Facts.Issue)
		case s.here(one.Facts.Issue) && !absent(one.Err):
			r.skip("%s", one.Err)
		}
	}

	s.guardIssues(ctx, p, closed, snapshots, r)
}

// pull reads the pull request that the event is about, with what a merge of it brings; ok is false
// when there is nothing to do.
func (s *Step) pull(ctx context.Context) (p github.Pull, m github.Merge, r result, ok bool) {
	number := s.Event.pull()
	if number == 0 {
		left := "the next sweep catches up"
		if s.mode() == modeGuard { // which leaves nothing to a sweep
			left = "nothing was checked"
		}
		r.leave("the event %s names no pull request; %s", s.Event.Name, left)

		return p, m, r, false
	}

	r.poor = s.Event.readOnly()
	var file github.FileAt
	if head := s.Event.head(); head != "" {
		file = github.FileAt{Commit: head, Path: s.configured()}
	}

	p, m, r.err = s.Hub.PullToMerge(ctx, s.Repo, number, file)
	if r.err != nil {
		what := fmt.Sprintf("pull request %s#%d closes an issue that somebody else holds", s.Repo, number)
		s.couldNotJudge(&r, unjudged{what: what, err: r.err})
	}

	return p, m, r, r.err == nil
}

// landing lists the issues that a merge of the pull request closes by the messages of its commits,
// and its description does not. Of a possible stranger, no more are read than a pull request may
// move.
func (s *Step) landing(ctx context.Context, p github.Pull, m github.Merge, closes []claim.Issue,
	r *result,
) []claim.Issue {
	if p.State != lifecycle.PROpened || !p.DefaultBase {
		return nil
	}
	judges := s.guards(ctx, p)
	if !judges && !s.takes() {
		return nil
	}

	// GitHub shows no more of them, so that another run finds out nothing either
	if judges && m.Unread > 0 && m.Methods.BringCommits() {
		s.couldNotJudge(r, unjudged{
			what: fmt.Sprintf("a commit of %s closes an issue that somebody else holds", p),
			err:  fmt.Errorf("%d of its commits could not be read", m.Unread),
			next: "split it, or let the repository only squash, without the messages of commits",
		})
	}

	var out []claim.Issue
	merged, more := closing.InMerge(m.Merge, s.Repo, s.Host)
	for _, i := range merged {
		if !slices.ContainsFunc(closes, i.Same) {
			out = append(out, i)
		}
	}

	if p.Outside() && len(out) > lifecycle.MostIssues {
		r.excess = fmt.Sprintf("pull request %s closes %d issues by its title and its commits, more than the %d that are judged", p, len(out), lifecycle.MostIssues)
		r.leave("%s", r.excess)
		return nil
	}

	if judges && more {
		s.couldNotJudge(r, unjudged{
			what: fmt.Sprintf("%s closes an issue that somebody else holds", p),
			err:  fmt.Errorf("its commits name more than %d issues", closing.Limit),
			next: "split it",
		})
	}

	return out
}

// named lists the issues that a description of the pull request closes, as we read it, and for the
// present one also by GitHub's.
func (s *Step) named(description string, p github.Pull) []claim.Issue {
	var out []claim.Issue
	if description == p.Body {
		out = slices.Clone(p.Closes)
	}

	return append(out, closing.InDescription(description, s.Repo, s.Host)...)
}

// apart sorts issues into those of this repository and those of others, which their own workflows
// look after, each once.
func (s *Step) apart(issues []claim.Issue) (home, abroad []claim.Issue) {
	slices.SortFunc(issues, claim.Issue.Compare)
	for _, i := range slices.CompactFunc(issues, claim.Issue.Same) {
		if s.here(i) {
			home = append(home, s.Repo.Issue(i.Number))
		} else {
			abroad = append(abroad, i)
		}
	}

	return home, abroad
}

// here reports whether an issue is of this repository.
func (s *Step) here(i claim.Issue) bool { return strings.EqualFold(i.Slug(), s.Repo.String()) }
