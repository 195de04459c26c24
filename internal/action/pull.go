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
// with pr=, and the guard has its say.
func (s *Step) lifecycle(ctx context.Context) result {
	p, r, ok := s.pull(ctx)
	if !ok {
		return r
	}
	closes := s.named(p.Body, p)
	before := s.named(s.Event.Changes.Body.From, p)
	home, _ := s.apart(slices.Concat(closes, before, parents(p.Body, s.Event.Changes.Body.From)))
	_, abroad := s.apart(closes)
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

// guardOnly asks the guard and moves nothing.
func (s *Step) guardOnly(ctx context.Context) result {
	p, r, ok := s.pull(ctx)
	if !ok {
		return r
	}
	home, abroad := s.apart(s.named(p.Body, p))
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

// named lists the issues that a description of the pull request closes, by our reading, and for the
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

// parents lists the issues that bodies say their chains are for. Whether that is so does not matter
// here: those issues are only looked at again.
func parents(bodies ...string) []claim.Issue {
	var out []claim.Issue
	for _, body := range bodies {
		if r, ok, err := prchain.Find(body); err == nil && ok {
			out = append(out, r.Parent)
		}
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
