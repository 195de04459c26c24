package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/label-state/label-state/internal/ledger"
)

// A Repository is what matters of one.
type Repository struct {
	Repo          ledger.Repo // as GitHub spells it now; differs from what was asked for after a renaming
	DefaultBranch string
	Private       bool
	Archived      bool
	HasIssues     bool
	Fork          bool
	Parent        ledger.Repo // of a fork
	Role          Role        // of the token's owner; empty when GitHub does not say, as for a workflow's token
}

// Repository reads a repository. One that does not exist, or that the token may not see, is a *NotFoundError.
func (c *Client) Repository(ctx context.Context, r ledger.Repo) (Repository, error) {
	path, err := at(r.Owner, r.Name, "")
	var got restRepository
	if err == nil {
		_, err = c.Do(ctx, http.MethodGet, path, nil, &got)
	}
	if err == nil && got.repo() == (ledger.Repo{}) {
		err = &AnswerError{Status: http.StatusOK, Reason: "it is not a repository"}
	}
	if err != nil {
		return Repository{}, fmt.Errorf("read repository %s: %w", r, missing(err, "repository "+r.String()))
	}
	out := Repository{
		Repo: got.repo(), DefaultBranch: got.DefaultBranch, Private: got.Private, Archived: got.Archived,
		HasIssues: got.HasIssues, Fork: got.Fork, Role: mapped(got.Permissions),
	}
	if got.Parent != nil {
		out.Parent = got.Parent.repo()
	}
	return out, nil
}

// restRepository is the repository object of REST, wherever it appears.
type restRepository struct {
	FullName      string          `json:"full_name"`
	DefaultBranch string          `json:"default_branch"`
	Private       bool            `json:"private"`
	Archived      bool            `json:"archived"`
	HasIssues     bool            `json:"has_issues"`
	Fork          bool            `json:"fork"`
	Parent        *restRepository `json:"parent"`
	Permissions   map[string]bool `json:"permissions"`
}

func (r *restRepository) repo() ledger.Repo {
	if r == nil {
		return ledger.Repo{}
	}
	owner, name, _ := strings.Cut(r.FullName, "/")
	return ledger.Repo{Owner: owner, Name: name}
}

// Viewer returns whose token it is. A workflow's own token may not ask; it is github-actions[bot].
func (c *Client) Viewer(ctx context.Context) (string, error) {
	if login := c.knownViewer(); login != "" {
		return login, nil
	}
	var login string
	err := c.eitherWay(
		func() (err error) { login, err = c.queryViewer(ctx); return err },
		func() (err error) { login, err = c.restViewer(ctx); return err })
	if err != nil {
		return "", fmt.Errorf("read who we are: %w", err)
	}
	c.noteViewer(login)
	return login, nil
}

func (c *Client) restViewer(ctx context.Context) (string, error) {
	var user struct{ Login string }
	_, err := c.Do(ctx, http.MethodGet, "user", nil, &user)
	var refused *PermissionError
	switch {
	case errors.As(err, &refused):
		return actionsBot, nil
	case err == nil && user.Login == "":
		return "", &AnswerError{Status: http.StatusOK, Reason: "it is not a user"}
	}
	return user.Login, err
}

func (c *Client) queryViewer(ctx context.Context) (string, error) {
	var data struct{ Viewer *actor }
	if _, err := c.ask(ctx, "query { viewer { login } }", nil, &data); err != nil {
		return "", err
	}
	if data.Viewer == nil || data.Viewer.Login == "" {
		return "", &AnswerError{Status: http.StatusOK, Reason: "nobody is in it"}
	}
	return data.Viewer.Login, nil
}

func (c *Client) knownViewer() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.viewer
}

func (c *Client) noteViewer(login string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if login != "" {
		c.viewer = login
	}
}

// TokenScopes returns the scopes of a classic token. told is false for other kinds of tokens,
// whose permissions GitHub does not list.
func (c *Client) TokenScopes(ctx context.Context) (scopes []string, told bool, err error) {
	header, err := c.Do(ctx, http.MethodGet, "rate_limit", nil, nil)
	if err != nil {
		return nil, false, fmt.Errorf("read token scopes: %w", err)
	}
	values, told := header[http.CanonicalHeaderKey("X-OAuth-Scopes")]
	for _, one := range strings.Split(strings.Join(values, ","), ",") {
		if one = strings.TrimSpace(one); one != "" {
			scopes = append(scopes, one)
		}
	}
	return scopes, told, nil
}
