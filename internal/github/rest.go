package github

import (
	"path"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/prchain"
)

// restIssue is the issue object of REST with the fields that go-github v62 does not know.
type restIssue struct {
	Number        int        `json:"number"`
	Title         string     `json:"title"`
	Body          string     `json:"body"`
	HTMLURL       string     `json:"html_url"`
	RepositoryURL string     `json:"repository_url"`
	State         string     `json:"state"`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	Labels        []named    `json:"labels"`
	Assignees     []restUser `json:"assignees"`
	PullRequest   *struct {
		MergedAt *time.Time `json:"merged_at"`
	} `json:"pull_request"`
}

// issue is its name.
func (r restIssue) issue() claim.Issue {
	owner, name := path.Split(r.RepositoryURL)
	return claim.Repo{Owner: path.Base(owner), Name: name}.Issue(r.Number)
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
	MergedAt time.Time `json:"merged_at"`
	Labels   []named   `json:"labels"`

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

func (p restPull) state() string {
	if !p.MergedAt.IsZero() {
		return prchain.Merged
	}
	return p.State
}
