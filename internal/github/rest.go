package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

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
	*r = snapshot{facts: lifecycle.Facts{Issue: r.facts.Issue}}
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
	if is[*NotFoundError](err) {
		// Only a repository that answers has no such issue; where it does not answer either, as on a server at another path or for a token that
		// may not see it, nothing is known about the issue.
		asked, known := s.answers[repo]
		if !known {
			_, asked = s.repositories.Repository(ctx, repo)
			s.answers[repo] = asked
		}
		if asked != nil {
			return asked
		}
	}
	if err != nil {
		return missing(err, Object{IssueObject, i.String()})
	}
	var group sync.WaitGroup
	var events []restEvent
	var noEvents, noPause error
	timeline := func() { events, _, noEvents = list[restEvent](ctx, s.api, onIssue(i, "/timeline?per_page=100")) }
	group.Go(timeline)
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
		return missing(err, Object{IssueObject, i.String()})
	}
	if again { // the timeline must be no older than the labels
		timeline()
	}
	if err := cmp.Or(noPause, noEvents); err != nil {
		return err
	}
	r.facts.Pause = s.paused[repo]
	var mentions []restIssue
	for _, e := range events {
		switch {
		case e.Event == "labeled":
			by := "" // the login of a person
			if e.Actor != nil && e.Actor.Type == "User" {
				by = e.Actor.Login
			}
			r.facts.Labelled(s.scheme, e.Label.Name, e.CreatedAt, by)
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

// issue begins a snapshot with what the issue says of itself.
func (s *session) issue(ctx context.Context, r *snapshot) (restIssue, error) {
	i := r.facts.Issue
	got, header, err := fetch[restIssue](ctx, s.api, onIssue(i, ""))
	if err != nil {
		return got, err
	}
	// An issue that was transferred is refused: the read followed it, a write would not. A renamed repository is the same place.
	in := slugOf(got.RepositoryURL)
	switch {
	case got.Number == 0:
		return got, &AnswerError{Status: http.StatusOK, Reason: "it is not an issue"}
	case got.Number != i.Number:
		return got, &MovedError{To: oneLine(got.HTMLURL)}
	}
	if !strings.EqualFold(in, i.Slug()) {
		now, err := s.repositories.Repository(ctx, ledger.Repo{Owner: i.Owner, Name: i.Repo})
		if err == nil && !strings.EqualFold(in, now.Repo.String()) {
			err = &MovedError{To: oneLine(got.HTMLURL)}
		}
		if err != nil {
			return got, err
		}
	}
	r.facts = lifecycle.Facts{
		Issue: i, Title: got.Title, URL: got.HTMLURL, PullRequest: got.PullRequest != nil, Open: got.State == "open", Created: got.CreatedAt.UTC(),
		StateReason: got.StateReason, Now: (answer{header: header}).date(r.facts.Now), Labels: got.labels(), Assignees: got.assignees(),
	}
	r.body = got.Body
	if r.facts.PullRequest {
		r.facts.StateReason = ""
		if got.PullRequest.MergedAt != nil {
			r.facts.StateReason = "merged"
		}
	}
	return got, nil
}

// closers adds the pull requests whose description closes the issue: the open ones of its own
// repository, and those of any repository that mention it.
func (s *session) closers(ctx context.Context, r *snapshot, repo ledger.Repo, mentions []restIssue) error {
	open, err := s.openPulls(ctx, repo)
	if err != nil {
		return err
	}
	for _, p := range open {
		if closes(p.id(), p.Body, r.facts.Issue, s.web) {
			r.addCloser(p)
		}
	}
	for _, m := range mentions {
		id := m.issue()
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
	open, known := s.open[repo]
	if known {
		return open, nil
	}
	open, _, err := list[restPull](ctx, s.api, at(repo.Owner, repo.Name, "/pulls?state=open&per_page=100"))
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
	found, _, err := list[restIssue](ctx, s.api, onIssue(r.facts.Issue, "/dependencies/blocked_by?per_page=100"))
	switch {
	case is[*NotFoundError](err):
		s.api.lack(featureDependencies)
		return nil
	case err != nil:
		return err
	}
	r.facts.BlockersRead = true
	for _, b := range found {
		r.facts.Blockers = append(r.facts.Blockers, lifecycle.Blocker{Issue: b.issue(), Open: b.State == "open", URL: b.HTMLURL})
	}
	return nil
}

// onePage is how many comments one page holds at most.
const onePage = 100

// withComments reads all comments of an issue that was read, and where need be the issue again, until their number is what the issue
// says, and nothing happened to the issue while its pages were read. Where there still are fewer in the end, and nothing happened
// meanwhile, the difference is comments that GitHub shows to nobody.
func (s *session) withComments(ctx context.Context, r *snapshot, seen restIssue) (now restIssue, again bool, err error) {
	reason := ""
	for try := range rereads {
		if try > 0 {
			again = true
			if seen, err = s.issue(ctx, r); err != nil {
				return seen, again, err
			}
		}
		comments, _, err := list[restComment](ctx, s.api, onIssue(r.facts.Issue, "/comments?per_page=%d", onePage))
		if err != nil {
			return seen, again, err
		}
		have := len(comments)
		if have < seen.Comments && try < rereads-1 {
			continue
		}
		// Pages are numbered: one comment deleted and another posted between two of them hide a third, and the number is as before. So the
		// issue is looked at again then.
		reason = ""
		if have > seen.Comments {
			reason = fmt.Sprintf("%d comments counted and %d readable", seen.Comments, have)
		} else if have < seen.Comments || have > onePage {
			now, _, err := fetch[restIssue](ctx, s.api, onIssue(r.facts.Issue, ""))
			if err != nil {
				return seen, again, err
			}
			if !now.UpdatedAt.Equal(seen.UpdatedAt) || now.Comments != seen.Comments {
				reason = "comments came and went while they were read"
			}
		}
		if reason == "" {
			r.comments = nil
			for _, m := range comments {
				r.comments = append(r.comments, m.comment())
			}
			r.facts.Unshown = seen.Comments - have
			return seen, again, nil
		}
	}
	return restIssue{}, again, &AnswerError{Status: http.StatusOK, Reason: reason}
}

// restIssue is the issue object of REST with the fields that go-github v62 does not know.
type restIssue struct {
	Number        int             `json:"number"`
	Title         string          `json:"title"`
	Body          string          `json:"body"`
	HTMLURL       string          `json:"html_url"`
	RepositoryURL string          `json:"repository_url"`
	Repository    *restRepository `json:"repository"` // in timelines
	State         string          `json:"state"`
	StateReason   string          `json:"state_reason"`
	CreatedAt     time.Time       `json:"created_at"`
	UpdatedAt     time.Time       `json:"updated_at"`
	Comments      int             `json:"comments"`
	Labels        []named         `json:"labels"`
	Assignees     []restUser      `json:"assignees"`
	PullRequest   *struct {
		MergedAt *time.Time `json:"merged_at"`
	} `json:"pull_request"`
	Dependencies *struct {
		Total int `json:"total_blocked_by"`
	} `json:"issue_dependencies_summary"`
}

// issue is its name.
func (r restIssue) issue() claim.Issue {
	slug := slugOf(r.RepositoryURL)
	if r.Repository != nil && r.Repository.FullName != "" {
		slug = r.Repository.FullName
	}
	in := place(slug)
	return claim.Issue{Owner: in.Owner, Repo: in.Name, Number: r.Number}
}

func (r restIssue) labels() (names []string) {
	for _, l := range r.Labels {
		names = append(names, l.Name)
	}
	return names
}

func (r restIssue) assignees() (logins []string) {
	for _, u := range r.Assignees {
		logins = append(logins, u.Login)
	}
	return logins
}

// slugOf is the owner/repo that the address of a repository in the API ends in.
func slugOf(url string) string {
	parts := strings.Split(url, "/")
	if len(parts) < 2 {
		return ""
	}
	return strings.Join(parts[len(parts)-2:], "/")
}

type restUser struct{ Login, Type string }

// name is the login; who is gone is ghost.
func (u *restUser) name() string {
	if u == nil || u.Login == "" {
		return ghost
	}
	return u.Login
}

type restComment struct {
	ID          int64     `json:"id"`
	Body        string    `json:"body"`
	HTMLURL     string    `json:"html_url"`
	User        *restUser `json:"user"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	Association string    `json:"author_association"`
}

func (m restComment) comment() comment {
	return comment{association: m.Association, Comment: claim.Comment{
		ID: m.ID, Created: m.CreatedAt.UTC(), Updated: m.UpdatedAt.UTC(), Author: m.User.name(), URL: m.HTMLURL, Body: m.Body,
	}}
}

type restEvent struct {
	Event     string    `json:"event"`
	CreatedAt time.Time `json:"created_at"`
	Label     named     `json:"label"`
	Actor     *restUser `json:"actor"`
	Source    struct {
		Issue *restIssue `json:"issue"`
	} `json:"source"`
}

type restPull struct {
	Number   int       `json:"number"`
	Title    string    `json:"title"`
	Body     string    `json:"body"`
	HTMLURL  string    `json:"html_url"`
	State    string    `json:"state"`
	Draft    bool      `json:"draft"`
	MergedAt time.Time `json:"merged_at"`
	ClosedAt time.Time `json:"closed_at"`
	User     *restUser `json:"user"`
	Comments int       `json:"comments"`
	Labels   []named   `json:"labels"`

	Association string `json:"author_association"`

	Head restBranch `json:"head"`
	Base restBranch `json:"base"`
}

type restBranch struct {
	Ref  string          `json:"ref"`
	SHA  string          `json:"sha"`
	Repo *restRepository `json:"repo"`
}

// id is its name.
func (p restPull) id() pullID {
	in := p.Base.Repo.repo()
	return pullID{Owner: in.Owner, Repo: in.Name, Number: p.Number}
}

func (p restPull) pr() lifecycle.PR {
	out := lifecycle.PR{
		Repo: p.Base.Repo.repo().String(), Number: p.Number, Title: p.Title, URL: p.HTMLURL, State: lifecycle.PRState(p.State),
		Draft: p.Draft, MergedAt: p.MergedAt.UTC(), ClosedAt: p.ClosedAt.UTC(), Head: p.Head.Ref, Base: p.Base.Ref, Author: p.User.name(),
	}
	if p.Head.Repo != nil {
		out.HeadRepo = p.Head.Repo.FullName
	}
	if !p.MergedAt.IsZero() {
		out.State = lifecycle.PRMerged
	}
	out.DefaultBase = p.Base.Repo != nil && p.Base.Repo.DefaultBranch == p.Base.Ref
	return out
}
