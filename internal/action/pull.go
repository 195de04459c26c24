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

// lifecycle follows a pull request: every issue of this repository that it closes, or closed
// before it was edited, and the one that its chain is for, is brought in line, the holder whose work it is has its claim released
// with pr=, and the guard has its say. The pull request itself is brought in line with its own holds, which its end ends
// (spec.md#held-pull-requests).
func (s *Step) lifecycle(ctx context.Context) result {
	p, r, ok := s.pull(ctx)
	if !ok {
		return r
	}
	closes, before := s.moves(ctx, p, &r), s.named(s.Event.Changes.Body.From, p)
	if r.err != nil {
		return r
	}
	if len(before) > lifecycle.MostIssues {
		before = nil // it moved none of them
	}
	var parents []claim.Issue // whose chains the bodies say it is of; whether that is so does not matter, because those are only looked at again
	for _, body := range []string{p.Body, s.Event.Changes.Body.From} {
		if r, ok, err := prchain.Find(body); err == nil && ok {
			parents = append(parents, r.Parent)
		}
	}
	home, _ := s.apart(slices.Concat(closes, before, parents))
	_, abroad := s.apart(closes)
	if r.err = s.unlink(ctx, p, before, &r); r.err != nil {
		return r
	}
	if p.Comments > 0 { // somebody may hold it
		self := claim.Issue{Owner: s.Repo.Owner, Repo: s.Repo.Name, Number: p.Number}
		home = append(home, self)
		if s.Event.Action == "unlabeled" {
			r.err = s.unlabeled(ctx, self, &r)
		}
		if r.err != nil {
			return r
		}
	}
	var facts []lifecycle.Facts
	r.add(s.tend(ctx, home, byPull, func(f lifecycle.Facts) {
		if slices.ContainsFunc(closes, f.Issue.Same) {
			facts = append(facts, f)
		}
	}))
	if r.report.Examined == 0 && r.report.Failed > 0 {
		r.err = r.report.Findings[0].Err
		return r
	}
	s.stand(ctx, p, append(facts, s.look(ctx, abroad, &r)...), &r)
	return r
}

// unlink records that the pull request is not for the issues any more whose keyword an edit took out, although a release
// names it (spec.md#unlink). What the description says now counts, whatever the event says of it.
func (s *Step) unlink(ctx context.Context, p github.Pull, before []claim.Issue, r *result) error {
	gone, _ := s.apart(slices.DeleteFunc(before, func(i claim.Issue) bool { // also those that it names in vain, because they are too many
		return slices.ContainsFunc(p.Closes, i.Same) || closing.Closes(p.Body, closing.Repo{Owner: s.Repo.Owner, Name: s.Repo.Name}, s.Host, i)
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
			r.notes = append(r.notes, fmt.Sprintf("%s took the keyword for %s out of %s", by, i, p))
			s.deleteRepeats(ctx, []claim.Issue{i}, nil)
		}
	}
	return nil
}

// moves lists the issues that the pull request closes, or none where it names more than it may move: then it says so.
func (s *Step) moves(ctx context.Context, p github.Pull, r *result) []claim.Issue {
	named := s.named(p.Body, p)
	home, abroad := s.apart(slices.Clone(named))
	all := append(home, abroad...)
	if p.State != lifecycle.PROpened {
		if len(all) >= closing.Limit {
			r.notes = append(r.notes, fmt.Sprintf("pull request %s names 1,000 issues or more; those after the first 1,000 are left to the sweep", p))
		}
		return named
	}
	excess, err := s.Hub.Excess(ctx, p, all)
	if r.err = err; err != nil || excess == nil {
		return named
	}
	r.excess = excess.String()
	r.notes = append(r.notes, r.excess)
	return nil
}

// guardOnly asks the guard and moves nothing.
func (s *Step) guardOnly(ctx context.Context) result {
	p, r, ok := s.pull(ctx)
	if !ok {
		return r
	}
	closes := s.moves(ctx, p, &r)
	if r.err != nil {
		return r
	}
	home, abroad := s.apart(closes)
	facts := s.look(ctx, append(home, abroad...), &r)
	r.report.Examined = len(facts)
	s.stand(ctx, p, facts, &r)
	return r
}

// pull reads the pull request that the event is about; ok is false when there is nothing to do.
func (s *Step) pull(ctx context.Context) (p github.Pull, r result, ok bool) {
	number := s.Event.pull()
	if number == 0 {
		s.Console.notice("event %s names no pull request; the next sweep catches up", s.Event.Name)
		return p, r, false
	}
	r.poor = s.Event.readOnly()
	p, r.err = s.Hub.Pull(ctx, s.Repo, number)
	return p, r, r.err == nil
}

// named lists the issues that a description of the pull request closes, as we read it, and for the
// present one also by GitHub's.
func (s *Step) named(description string, p github.Pull) []claim.Issue {
	var out []claim.Issue
	if description == p.Body {
		out = slices.Clone(p.Closes)
	}
	for _, ref := range closing.InDescription(description, closing.Repo{Owner: s.Repo.Owner, Name: s.Repo.Name}, s.Host) {
		out = append(out, ref.Issue)
	}
	return out
}

// apart sorts issues into those of this repository and those of others, which their own workflows
// look after, each once.
func (s *Step) apart(issues []claim.Issue) (home, abroad []claim.Issue) {
	slices.SortFunc(issues, claim.Issue.Compare)
	for _, i := range slices.CompactFunc(issues, claim.Issue.Same) {
		if s.here(i) {
			home = append(home, claim.Issue{Owner: s.Repo.Owner, Repo: s.Repo.Name, Number: i.Number})
		} else {
			abroad = append(abroad, i)
		}
	}
	return home, abroad
}

// here reports whether an issue is of this repository.
func (s *Step) here(i claim.Issue) bool { return strings.EqualFold(i.Slug(), s.Repo.String()) }

// look reads issues for the guard. Those of other repositories that this token cannot see are
// none of this run's business.
func (s *Step) look(ctx context.Context, issues []claim.Issue, r *result) []lifecycle.Facts {
	var out []lifecycle.Facts
	if len(issues) == 0 {
		return nil
	}
	for _, one := range s.Hub.FactsOf(ctx, issues) {
		switch {
		case one.Err == nil:
			out = append(out, one.Facts)
		case absent(one.Err) || !s.here(one.Facts.Issue):
			s.Console.line("%s", one.Err)
		default:
			r.report.Skipped = append(r.report.Skipped, fmt.Sprint(one.Err))
		}
	}
	return out
}
