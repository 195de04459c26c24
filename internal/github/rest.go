package github

import (
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

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
	Labels        []named         `json:"labels"`
	Assignees     []restUser      `json:"assignees"`
	PullRequest   *struct {
		MergedAt *time.Time `json:"merged_at"`
	} `json:"pull_request"`
}

// issue is its name.
func (r restIssue) issue() claim.Issue {
	slug := slugOf(r.RepositoryURL)
	if r.Repository != nil && r.Repository.FullName != "" {
		slug = r.Repository.FullName
	}
	in := place(slug)
	return in.Issue(r.Number)
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
		return Ghost
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
		ID:      m.ID,
		Created: m.CreatedAt.UTC(),
		Updated: m.UpdatedAt.UTC(),
		Author:  m.User.name(),
		URL:     m.HTMLURL,
		Body:    m.Body,
	}}
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
	return in.Issue(p.Number)
}

func (p restPull) pr() lifecycle.PR {
	out := lifecycle.PR{
		Repo:     p.Base.Repo.repo().String(),
		Number:   p.Number,
		Title:    p.Title,
		URL:      p.HTMLURL,
		State:    lifecycle.PRState(p.State),
		Draft:    p.Draft,
		MergedAt: p.MergedAt.UTC(),
		ClosedAt: p.ClosedAt.UTC(),
		Head:     p.Head.Ref,
		Base:     p.Base.Ref,
		Author:   p.User.name(),
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
