package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// A label is what was learned of one of a repository.
type label struct {
	exists bool
	node   string // its global id; empty when not known
}

// A restLabel is the global id of a label.
type restLabel struct {
	Node string `json:"node_id"`
}

// ensureLabel makes sure that a label exists before it is put on. To create one of ours that is
// missing takes the right to push, which many who may label do not have.
func (c *Client) ensureLabel(ctx context.Context, r claim.Repo, name string) error {
	if known, _ := c.labels.get(key(r.String(), name)); known.exists {
		return nil
	}

	to := at(r, "").label(name)
	var there restLabel
	_, err := c.send(ctx, http.MethodGet, to, nil, &there)
	switch {
	case err == nil:
		c.noteLabel(r, name, label{true, there.Node})
		return nil
	case to.err != nil || !is[*NotFoundError](err):
		return err
	}

	var ours labels.Definition
	if n := slices.IndexFunc(c.o.Scheme.Definitions(),
		func(d labels.Definition) bool { return labels.Same(d.Name, name) }); n >= 0 {
		ours = c.o.Scheme.Definitions()[n]
	} else if slug, ok := c.o.Scheme.BundleOf(name); ok {
		ours = c.o.Scheme.BundleDefinition(slug)
	} else {
		return nowhere(LabelObject, fmt.Sprintf("%q of %s", name, r), "it is not one of ours to create").err
	}

	err = c.CreateLabel(ctx, r, ours)
	if denied, is := errors.AsType[*PermissionError](err); is && denied.Push {
		create := "label-state labels sync " + r.String()
		return &answer.Problem{
			Code: answer.NotFound,
			Why: fmt.Sprintf("label %s does not exist in %s, and this login may not create it: %s",
				oneLine(ours.Name), r, create),
			Next:  []answer.Command{answer.Advice("somebody who may push creates it with: " + create)},
			Cause: denied,
		}
	}

	return err
}

// Lacks reports whether what was read has shown that the repository has no label of the name. It
// asks nothing, and false may be unknown.
func (c *Client) Lacks(r claim.Repo, name string) bool {
	l, known := c.labels.get(key(r.String(), name))
	return known && !l.exists
}

func (c *Client) noteLabel(r claim.Repo, name string, l label) {
	c.labels.note(key(r.String(), name), l)
}

// Labels lists the labels a repository defines, in GitHub's order.
func (c *Client) Labels(ctx context.Context, r claim.Repo) ([]labels.Definition, error) {
	got, err := list[labels.Definition](ctx, c, at(r, "/labels?per_page=100"))
	for n := range got {
		got[n].Color = strings.ToLower(got[n].Color)
	}
	return got, failed(err, "list labels of %s", r)
}

// CreateLabel defines a label in a repository; one that exists already is success and stays as it
// is. Who may not do it gets a *PermissionError that says what is missing.
func (c *Client) CreateLabel(ctx context.Context, r claim.Repo, d labels.Definition) error {
	if err := c.createLabel(ctx, r, d); err != nil && !taken(err) {
		return failed(err, "create label %q in %s", d.Name, r)
	}
	return nil
}

// createLabel sends the definition. GitHub answers 404 to a login that may not push, and 403 to a
// token that lacks the permission: both are a *PermissionError. A repository that cannot be read
// either is not there.
func (c *Client) createLabel(ctx context.Context, r claim.Repo, d labels.Definition) error {
	body := map[string]string{"name": d.Name, "color": d.Color, "description": d.Description}
	var made restLabel
	_, err := c.send(ctx, http.MethodPost, at(r, "/labels"), body, &made)
	if err == nil || taken(err) {
		c.noteLabel(r, d.Name, label{true, made.Node})
	}

	denied, forbidden := errors.AsType[*PermissionError](err)
	hidden, absent := errors.AsType[*NotFoundError](err)
	if !forbidden && !absent {
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

	if absent {
		denied = &PermissionError{
			Status: hidden.Status, Message: "creating a label requires push access",
			Write: true,
		}
	}

	denied.Push = own != "" && rank(own) < rank(RoleWrite)
	if !denied.Push && (absent || slices.Contains(denied.Codes, "unauthorized")) {
		denied.Needs = cmp.Or(denied.Needs, "issues: write")
	}

	return denied
}

func taken(err error) bool {
	refused, is := errors.AsType[*StatusError](err)
	return is && refused.Status == http.StatusUnprocessableEntity &&
		slices.Contains(refused.Codes, "already_exists")
}

// UpdateLabel rewrites the colour and description of the label called name, and renames it when
// d.Name differs. A label that does not exist is a *NotFoundError.
func (c *Client) UpdateLabel(ctx context.Context, r claim.Repo, name string, d labels.Definition) error {
	err := c.updateLabel(ctx, at(r, "").label(name).about(Object{Kind: LabelObject}), d)
	if err == nil {
		c.noteLabel(r, name, label{})
		c.noteLabel(r, d.Name, label{exists: true})
	}

	return failed(err, "update label %q of %s", name, r)
}

func (c *Client) updateLabel(ctx context.Context, to target, d labels.Definition) error {
	body := map[string]string{"new_name": d.Name, "color": d.Color, "description": d.Description}
	_, err := c.send(ctx, http.MethodPatch, to, body, nil)
	return err
}

// DeleteLabel removes a label's definition, and so the label from every issue, and reports whether
// it was there. One that was not is success, if the repository is there.
func (c *Client) DeleteLabel(ctx context.Context, r claim.Repo, name string) (there bool, err error) {
	to := at(r, "").label(name)
	_, err = c.send(ctx, http.MethodDelete, to, nil, nil)
	there = err == nil
	if to.err == nil && is[*NotFoundError](err) {
		_, err = c.Repository(ctx, r) // is only the label missing?
	}

	if err == nil {
		c.noteLabel(r, name, label{})
	}

	return there, failed(err, "delete label %q of %s", name, r)
}

// labelNodes are the global ids of labels of a repository; all is false when one of them is not
// known.
func (c *Client) labelNodes(r claim.Repo, names []string) (ids []string, all bool) {
	for _, name := range names {
		l, _ := c.labels.get(key(r.String(), name))
		if l.node == "" {
			return nil, false
		}
		ids = append(ids, l.node)
	}

	return ids, true
}
