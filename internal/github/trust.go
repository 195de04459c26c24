package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/label-state/label-state/internal/claim"
)

// A Role is what an account may do in a repository.
type Role string

// GitHub's roles that may label an issue, least first.
const (
	RoleTriage   Role = "triage"
	RoleWrite    Role = "write"
	RoleMaintain Role = "maintain"
	RoleAdmin    Role = "admin"
)

const roleRead Role = "read"

// actionsBot is who a workflow's own token writes as.
const actionsBot = "github-actions[bot]"

// rank orders roles; one that is not known is 0.
func rank(r Role) int {
	switch r {
	case roleRead:
		return 1
	case RoleTriage:
		return 2
	case RoleWrite:
		return 3
	case RoleMaintain:
		return 4
	case RoleAdmin:
		return 5
	}
	return 0
}

// trusts reports whether the records of a comment's author count on an issue. A question that
// could not be answered is an error, never a no.
func (c *Client) trusts(ctx context.Context, i claim.Issue, m comment) (bool, error) {
	if m.Author == ghost {
		return false, nil
	}
	if m.association == "OWNER" || c.o.Trust.names(m.Author) {
		return true, nil
	}
	viewer, err := c.self(ctx)
	if err != nil || claim.SameLogin(viewer, m.Author) {
		return err == nil, err
	}
	trusted, err := c.collaborates(ctx, i, m.Author)
	var denied *PermissionError
	if errors.As(err, &denied) {
		return belongs(m.association), nil
	}
	return trusted, err
}

// belongs stands in where we may not ask for roles: that takes the right to push, which a reader's
// hook does not have. Whoever may write asks, so this never decides a claim.
func belongs(association string) bool {
	return association == "MEMBER" || association == "COLLABORATOR"
}

// names reports whether the configuration trusts a login.
func (t Trust) names(login string) bool {
	for _, one := range t.Logins {
		if claim.SameLogin(one, login) {
			return true
		}
	}
	for _, slug := range t.Apps {
		if claim.SameLogin(slug+botSuffix, login) {
			return true
		}
	}
	return false
}

// self is our own login; without a token there is none.
func (c *Client) self(ctx context.Context) (string, error) {
	if c.o.Token.Empty() {
		return "", nil
	}
	return c.Viewer(ctx)
}

// collaborates asks for an author's role, once in a client's life.
func (c *Client) collaborates(ctx context.Context, i claim.Issue, login string) (bool, error) {
	k := key(i.Slug(), login)
	c.mu.Lock()
	trusted, known := c.trusted[k]
	c.mu.Unlock()
	if known {
		return trusted, nil
	}
	trusted, err := c.askRole(ctx, i, login)
	if err != nil {
		return false, fmt.Errorf("ask for the role of %s: %w", oneLine(login), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.trusted[k] = trusted
	return trusted, nil
}

// askRole reads role_name, which knows triage; permission, which does not, stands in for roles an
// organization has made up and for servers that send no role.
func (c *Client) askRole(ctx context.Context, i claim.Issue, login string) (bool, error) {
	path, err := at(i.Owner, i.Repo, "/collaborators/%s/permission", url.PathEscape(login))
	if err != nil {
		return false, err
	}
	var got struct {
		Permission Role
		RoleName   Role `json:"role_name"`
	}
	_, err = c.Do(ctx, http.MethodGet, path, nil, &got)
	var gone *NotFoundError
	switch {
	case errors.As(err, &gone):
		return false, nil
	case err != nil:
		return false, err
	case got.Permission == "":
		return false, &AnswerError{Status: http.StatusOK, Reason: "it is not a permission"}
	}
	return max(rank(got.RoleName), rank(got.Permission)) >= rank(c.o.Trust.Minimum), nil
}
