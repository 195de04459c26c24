package github

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// A session remembers, while one batch is read by REST, what all issues of a repository share.
type session struct {
	api          *api
	repositories *repositories
	pauses       *pauses
	pulls        *pulls
	scheme       labels.Scheme
	web          string

	paused  map[ledger.Repo]*lifecycle.Pause
	asked   map[ledger.Repo]bool // whether paused has the answer
	open    map[ledger.Repo][]restPull
	answers map[ledger.Repo]error // whether the repository itself can be read; nil is yes
}

func (sn *snapshots) restSession() *session {
	return &session{
		api: sn.api, repositories: sn.repositories, pauses: sn.pauses, pulls: sn.pulls, scheme: sn.scheme, web: sn.web,
		paused: map[ledger.Repo]*lifecycle.Pause{}, asked: map[ledger.Repo]bool{}, open: map[ledger.Repo][]restPull{}, answers: map[ledger.Repo]error{},
	}
}

// alone reads one issue, by about five requests. What concerns only that issue is kept with it, and returned too if GitHub could not answer.
func (s *session) alone(ctx context.Context, r *snapshot) error {
	r.reset()
	r.err = s.read(ctx, r)
	r.read = r.err == nil
	if wholeRequest(r.err) || tooMuch(r.err) {
		return r.err
	}
	return nil
}

// read reads the issue, then side by side what does not depend on each other: comments, timeline, and what all issues of the repository
// share. The hook has no time for one after the other.
func (s *session) read(ctx context.Context, r *snapshot) error {
	i := r.facts.Issue
	repo := ledger.Repo{Owner: i.Owner, Name: i.Repo}
	seen, err := s.issue(ctx, r)
	if err != nil {
		return s.absence(ctx, repo, missing(err, "issue "+i.String()))
	}
	var group sync.WaitGroup
	var events []restEvent
	var noEvents, noPause error
	group.Go(func() { events, noEvents = s.timeline(ctx, i) })
	pull := r.facts.PullRequest
	group.Go(func() {
		if !s.asked[repo] {
			noPause = s.pauses.restPause(ctx, repo, s.paused)
			s.asked[repo] = noPause == nil
		}
		if noPause == nil && !pull {
			_, noPause = s.openPulls(ctx, repo)
		}
	})
	seen, again, err := s.withComments(ctx, r, seen)
	group.Wait()
	if err != nil {
		return missing(err, "issue "+i.String())
	}
	if again { // the timeline must be no older than the labels
		events, noEvents = s.timeline(ctx, i)
	}
	if err := cmp.Or(noPause, noEvents); err != nil {
		return err
	}
	r.facts.Pause = s.paused[repo]
	var mentions []restIssue
	for _, e := range events {
		switch {
		case e.Event == "labeled":
			r.facts.Labelled(s.scheme, e.Label.Name, e.CreatedAt, e.Actor.person())
		case e.Event == "reopened" && !r.facts.PullRequest:
			r.facts.ReopenedAt = e.CreatedAt.UTC()
		case e.Event == "cross-referenced" && e.Source.Issue != nil && e.Source.Issue.PullRequest != nil:
			mentions = append(mentions, *e.Source.Issue)
		}
	}
	if r.facts.PullRequest {
		return nil
	}
	if err := s.closers(ctx, r, repo, mentions); err != nil {
		return err
	}
	return s.blockers(ctx, r, seen)
}

// absence says what the 404 of an issue means. Only a repository that answers has no such issue; where it does not answer
// either, as on a server at another path or for a token that may not see it, nothing is known about the issue.
func (s *session) absence(ctx context.Context, r ledger.Repo, err error) error {
	var gone *NotFoundError
	if !errors.As(err, &gone) {
		return err
	}
	asked, known := s.answers[r]
	if !known {
		_, asked = s.repositories.Repository(ctx, r)
		s.answers[r] = asked
	}
	if asked != nil {
		return asked
	}
	return err
}

func (s *session) issue(ctx context.Context, r *snapshot) (restIssue, error) {
	i := r.facts.Issue
	path, err := onIssue(i, "")
	if err != nil {
		return restIssue{}, err
	}
	var got restIssue
	header, err := s.api.Do(ctx, http.MethodGet, path, nil, &got)
	if err != nil {
		return got, err
	}
	if err := s.samePlace(ctx, i, got); err != nil {
		return got, err
	}
	r.facts = lifecycle.Facts{
		Issue: i, Title: got.Title, URL: got.HTMLURL, PullRequest: got.PullRequest != nil, Open: got.State == "open", Created: got.CreatedAt.UTC(),
		StateReason: got.StateReason, Now: (answer{header: header}).date(r.facts.Now),
	}
	r.body = got.Body
	if r.facts.PullRequest {
		r.facts.StateReason = ""
		if got.PullRequest.MergedAt != nil {
			r.facts.StateReason = "merged"
		}
	}
	for _, l := range got.Labels {
		r.facts.Labels = append(r.facts.Labels, l.Name)
	}
	for _, u := range got.Assignees {
		r.facts.Assignees = append(r.facts.Assignees, u.Login)
	}
	return got, nil
}

// samePlace refuses an issue that was transferred: the read followed it, a write would not. A
// renamed repository is the same place.
func (s *session) samePlace(ctx context.Context, i claim.Issue, got restIssue) error {
	slug := slugOf(got.RepositoryURL)
	switch {
	case got.Number != i.Number:
		return &MovedError{To: oneLine(got.HTMLURL)}
	case strings.EqualFold(slug, i.Slug()):
		return nil
	}
	r, err := s.repositories.Repository(ctx, ledger.Repo{Owner: i.Owner, Name: i.Repo})
	if err == nil && !strings.EqualFold(slug, r.Repo.String()) {
		err = &MovedError{To: oneLine(got.HTMLURL)}
	}
	return err
}

// timeline reads what happened to an issue.
func (s *session) timeline(ctx context.Context, i claim.Issue) ([]restEvent, error) {
	path, err := onIssue(i, "/timeline?per_page=100")
	if err != nil {
		return nil, err
	}
	events, _, err := list[restEvent](ctx, s.api, path)
	return events, err
}

// closers adds the pull requests whose description closes the issue: the open ones of its own
// repository, and those of any repository that mention it.
func (s *session) closers(ctx context.Context, r *snapshot, repo ledger.Repo, mentions []restIssue) error {
	open, err := s.openPulls(ctx, repo)
	if err != nil {
		return err
	}
	for _, p := range open {
		in := p.Base.Repo.repo()
		if closes(pullID{Owner: in.Owner, Repo: in.Name, Number: p.Number}, p.Body, r.facts.Issue, s.web) {
			r.addCloser(p)
		}
	}
	for _, m := range mentions {
		from := m.repo()
		id := pullID{Owner: from.Owner, Repo: from.Name, Number: m.Number}
		if !closes(id, m.Body, r.facts.Issue, s.web) || r.pull(id) != nil {
			continue
		}
		p, err := s.pulls.restPullRequest(ctx, id)
		if err != nil {
			return err
		}
		p.Body = m.Body
		r.addCloser(p)
	}
	return nil
}

func (s *session) openPulls(ctx context.Context, repo ledger.Repo) ([]restPull, error) {
	if open, known := s.open[repo]; known {
		return open, nil
	}
	path, err := at(repo.Owner, repo.Name, "/pulls?state=open&per_page=100")
	if err != nil {
		return nil, err
	}
	open, _, err := list[restPull](ctx, s.api, path)
	if err == nil {
		s.open[repo] = open
	}
	return open, err
}

// addCloser adds a pull request if its keywords close anything: only the default branch does
// (spec.md#closing-keywords).
func (r *snapshot) addCloser(pull restPull) {
	if p := pull.pr(); p.DefaultBase {
		r.facts.PRs = append(r.facts.PRs, p)
		r.hear(pullOf(p), pull.Body, pull.Association)
	}
}

// blockers reads the issues that block this one, where the server knows of such a thing.
func (s *session) blockers(ctx context.Context, r *snapshot, seen restIssue) error {
	if !s.api.has(featureDependencies) {
		return nil
	}
	if seen.Dependencies != nil && seen.Dependencies.Total == 0 {
		r.facts.BlockersRead = true
		return nil
	}
	path, err := onIssue(r.facts.Issue, "/dependencies/blocked_by?per_page=100")
	if err != nil {
		return err
	}
	found, _, err := list[restIssue](ctx, s.api, path)
	var gone *NotFoundError
	switch {
	case errors.As(err, &gone):
		s.api.lack(featureDependencies)
		return nil
	case err != nil:
		return err
	}
	r.facts.BlockersRead = true
	for _, b := range found {
		from := b.repo()
		r.facts.Blockers = append(r.facts.Blockers, lifecycle.Blocker{
			Issue: claim.Issue{Owner: from.Owner, Repo: from.Name, Number: b.Number}, Open: b.State == "open", URL: b.HTMLURL,
		})
	}
	return nil
}
