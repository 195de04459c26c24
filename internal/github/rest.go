package github

import (
	"time"

	"github.com/label-state/label-state/internal/claim"
)

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
