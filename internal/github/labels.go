package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

// AddLabel puts a label on an issue. GitHub would create a name it does not know, in grey; so a
// label of the scheme that is missing is created properly first, and any other is refused.
func (c *Client) AddLabel(ctx context.Context, i claim.Issue, name string) error {
	if err := c.addLabel(ctx, i, name); err != nil {
		return fmt.Errorf("add label %q to %s: %w", name, i, err)
	}
	return nil
}

func (c *Client) addLabel(ctx context.Context, i claim.Issue, name string) error {
	path, err := onIssue(i, "/labels")
	if err != nil {
		return err
	}
	if err := c.ensureLabel(ctx, ledger.Repo{Owner: i.Owner, Name: i.Repo}, name); err != nil {
		return err
	}
	var got []*gogithub.Label
	body := map[string][]string{"labels": {name}} // go-github sends the bare list, which GitHub no longer describes
	if _, err := c.Do(repeating(ctx), http.MethodPost, path, body, &got); err != nil {
		return missing(Cause(err), "issue "+i.String())
	}
	if !slices.ContainsFunc(got, func(l *gogithub.Label) bool { return labels.Same(l.GetName(), name) }) {
		return &AnswerError{Status: http.StatusOK, Reason: "the label is not in it"}
	}
	return nil
}

// RemoveLabel takes a label off an issue; one that is not there is success.
func (c *Client) RemoveLabel(ctx context.Context, i claim.Issue, name string) error {
	escaped, err := labelName(name)
	if err == nil {
		_, err = onIssue(i, "")
	}
	if err == nil {
		_, err = c.rest.Issues.RemoveLabelForIssue(ctx, i.Owner, i.Repo, i.Number, escaped)
		err = missing(Cause(err), "issue "+i.String())
	}
	var gone *NotFoundError
	if errors.As(err, &gone) && gone.Message == "Label does not exist" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove label %q from %s: %w", name, i, err)
	}
	return nil
}

// Assign assigns a login to an issue. GitHub drops a login that cannot be assigned without a word, and so does this.
func (c *Client) Assign(ctx context.Context, i claim.Issue, login string) error {
	if err := c.assignees(ctx, http.MethodPost, i, login); err != nil {
		return fmt.Errorf("assign %s to %s: %w", login, i, err)
	}
	return nil
}

// Unassign takes a login off an issue; one that is not assigned is success.
func (c *Client) Unassign(ctx context.Context, i claim.Issue, login string) error {
	if err := c.assignees(ctx, http.MethodDelete, i, login); err != nil {
		return fmt.Errorf("take %s off %s: %w", login, i, err)
	}
	return nil
}

func (c *Client) assignees(ctx context.Context, method string, i claim.Issue, login string) error {
	path, err := onIssue(i, "/assignees")
	if err != nil {
		return err
	}
	_, err = c.Do(ctx, method, path, map[string][]string{"assignees": {login}}, nil)
	return missing(Cause(err), "issue "+i.String())
}

// ensureLabel makes sure that a label exists before it is put on.
func (c *Client) ensureLabel(ctx context.Context, r ledger.Repo, name string) error {
	if c.labelExists(r, name) {
		return nil
	}
	escaped, err := labelName(name)
	if err != nil {
		return err
	}
	_, _, err = c.rest.Issues.GetLabel(ctx, r.Owner, r.Name, escaped)
	var gone *NotFoundError
	switch {
	case err == nil:
		c.noteLabel(r, name, true)
		return nil
	case !errors.As(err, &gone):
		return Cause(err)
	}
	for _, d := range c.scheme.Definitions() {
		if labels.Same(d.Name, name) {
			return c.supplyLabel(ctx, r, d)
		}
	}
	if slug, ok := c.scheme.BundleOf(name); ok {
		return c.supplyLabel(ctx, r, c.scheme.BundleDefinition(slug))
	}
	return &NotFoundError{What: fmt.Sprintf("label %q of %s", name, r), Status: http.StatusNotFound, Message: "it is not one of ours to create"}
}

// supplyLabel creates a label of ours that is missing. That takes the right to push, which many who may label do not have.
func (c *Client) supplyLabel(ctx context.Context, r ledger.Repo, d labels.Definition) error {
	err := c.CreateLabel(ctx, r, d)
	var denied *PermissionError
	if !errors.As(err, &denied) {
		return err
	}
	own := c.ownRole(r)
	if own == "" {
		got, unread := c.Repository(ctx, r)
		if unread != nil {
			return err
		}
		own = got.Role
	}
	if own != "" && rank(own) < rank(RoleWrite) {
		return &MissingLabelError{Repo: r, Name: d.Name, Err: denied}
	}
	return err
}

func (c *Client) labelExists(r ledger.Repo, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.exists[key(r.String(), name)]
}

// Lacks reports whether what was read has shown that the repository has no label of the name. It asks nothing, and false may be unknown.
func (c *Client) Lacks(r ledger.Repo, name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	exists, known := c.exists[key(r.String(), name)]
	return known && !exists
}

func (c *Client) noteLabel(r ledger.Repo, name string, exists bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.exists[key(r.String(), name)] = exists
	if !exists {
		delete(c.nodes, key(r.String(), name))
	}
}

// Labels lists the labels a repository defines, in GitHub's order.
func (c *Client) Labels(ctx context.Context, r ledger.Repo) ([]labels.Definition, error) {
	path, err := at(r.Owner, r.Name, "/labels?per_page=100")
	var got []gogithub.Label
	if err == nil {
		got, _, err = list[gogithub.Label](ctx, c, path)
	}
	if err != nil {
		return nil, fmt.Errorf("list labels of %s: %w", r, missing(err, "repository "+r.String()))
	}
	out := make([]labels.Definition, 0, len(got))
	for _, l := range got {
		out = append(out, labels.Definition{Name: l.GetName(), Color: strings.ToLower(l.GetColor()), Description: l.GetDescription()})
	}
	return out, nil
}

// CreateLabel defines a label in a repository; one that exists already is success and stays as it is.
func (c *Client) CreateLabel(ctx context.Context, r ledger.Repo, d labels.Definition) error {
	err := c.createLabel(ctx, r, d)
	if err != nil && !taken(err) {
		return fmt.Errorf("create label %q in %s: %w", d.Name, r, missing(err, "repository "+r.String()))
	}
	c.noteLabel(r, d.Name, true)
	return nil
}

func (c *Client) createLabel(ctx context.Context, r ledger.Repo, d labels.Definition) error {
	if _, err := at(r.Owner, r.Name, ""); err != nil {
		return err
	}
	_, _, err := c.rest.Issues.CreateLabel(ctx, r.Owner, r.Name, fields(d))
	return Cause(err)
}

func taken(err error) bool {
	var refused *StatusError
	return errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity && slices.Contains(refused.Codes, "already_exists")
}

func fields(d labels.Definition) *gogithub.Label {
	return &gogithub.Label{Name: &d.Name, Color: &d.Color, Description: &d.Description}
}

// UpdateLabel rewrites the colour and description of the label called name, and renames it when
// d.Name differs. A label that does not exist is a *NotFoundError.
func (c *Client) UpdateLabel(ctx context.Context, r ledger.Repo, name string, d labels.Definition) error {
	err := c.updateLabel(ctx, r, name, d)
	if err != nil {
		return fmt.Errorf("update label %q of %s: %w", name, r, missing(err, "label"))
	}
	c.noteLabel(r, name, false)
	c.noteLabel(r, d.Name, true)
	return nil
}

func (c *Client) updateLabel(ctx context.Context, r ledger.Repo, name string, d labels.Definition) error {
	path, err := labelPath(r, name)
	if err != nil {
		return err
	}
	body := struct {
		NewName     string `json:"new_name"`
		Color       string `json:"color"`
		Description string `json:"description"`
	}{d.Name, d.Color, d.Description}
	_, err = c.Do(ctx, http.MethodPatch, path, body, nil)
	return err
}

// DeleteLabel removes a label's definition, and so the label from every issue; one that does not
// exist is success, if the repository does.
func (c *Client) DeleteLabel(ctx context.Context, r ledger.Repo, name string) error {
	if err := c.deleteLabel(ctx, r, name); err != nil {
		return fmt.Errorf("delete label %q of %s: %w", name, r, missing(err, "label"))
	}
	c.noteLabel(r, name, false)
	return nil
}

func (c *Client) deleteLabel(ctx context.Context, r ledger.Repo, name string) error {
	path, err := labelPath(r, name)
	if err != nil {
		return err
	}
	_, err = c.Do(ctx, http.MethodDelete, path, nil, nil)
	var gone *NotFoundError
	if errors.As(err, &gone) {
		_, err = c.Repository(ctx, r) // is only the label missing?
	}
	return err
}

func labelPath(r ledger.Repo, name string) (string, error) {
	escaped, err := labelName(name)
	if err != nil {
		return "", err
	}
	return at(r.Owner, r.Name, "/labels/%s", escaped)
}
