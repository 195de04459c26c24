package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
)

// definitions reads and writes the labels that repositories define.
type definitions struct {
	api          *api
	repositories *repositories
	roles        *roles
	scheme       labels.Scheme

	mu     sync.Mutex
	exists map[string]bool   // labels seen, by owner/repo and name, lower case
	nodes  map[string]string // their global ids, likewise
}

// A restLabel is the global id of a label.
type restLabel struct {
	Node string `json:"node_id"`
}

// ensureLabel makes sure that a label exists before it is put on. To create one of ours that is
// missing takes the right to push, which many who may label do not have.
func (ds *definitions) ensureLabel(ctx context.Context, r claim.Repo, name string) error {
	ds.mu.Lock()
	exists := ds.exists[key(r.String(), name)]
	ds.mu.Unlock()
	if exists {
		return nil
	}

	to := labelPath(r, name)
	var there restLabel
	_, err := ds.api.send(ctx, http.MethodGet, to, nil, &there)
	switch {
	case err == nil:
		ds.noteLabel(r, name, true)
		ds.noteLabelNode(r, name, there.Node)
		return nil
	case to.err != nil || !is[*NotFoundError](err):
		return err
	}

	var ours labels.Definition
	if n := slices.IndexFunc(ds.scheme.Definitions(),
		func(d labels.Definition) bool { return labels.Same(d.Name, name) }); n >= 0 {
		ours = ds.scheme.Definitions()[n]
	} else if slug, ok := ds.scheme.BundleOf(name); ok {
		ours = ds.scheme.BundleDefinition(slug)
	} else {
		return &NotFoundError{
			What: Object{LabelObject, fmt.Sprintf("%q of %s", name, r)}, Status: http.StatusNotFound,
			Message: "it is not one of ours to create",
		}
	}

	err = ds.CreateLabel(ctx, r, ours)
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
func (ds *definitions) Lacks(r claim.Repo, name string) bool {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	exists, known := ds.exists[key(r.String(), name)]
	return known && !exists
}

func (ds *definitions) noteLabel(r claim.Repo, name string, exists bool) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.exists[key(r.String(), name)] = exists
	if !exists {
		delete(ds.nodes, key(r.String(), name))
	}
}

func (ds *definitions) forgetLabel(r claim.Repo, name string) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	delete(ds.exists, key(r.String(), name))
	delete(ds.nodes, key(r.String(), name))
}

// Labels lists the labels a repository defines, in GitHub's order.
func (ds *definitions) Labels(ctx context.Context, r claim.Repo) ([]labels.Definition, error) {
	got, _, err := list[labels.Definition](ctx, ds.api, at(r.Owner, r.Name, "/labels?per_page=100"))
	if err != nil {
		return nil, failed(err, Object{RepositoryObject, r.String()}, "list labels of %s", r)
	}

	out := make([]labels.Definition, 0, len(got))
	for _, l := range got {
		l.Color = strings.ToLower(l.Color)
		out = append(out, l)
	}

	return out, nil
}

// CreateLabel defines a label in a repository; one that exists already is success and stays as it
// is. Who may not do it gets a *PermissionError that says what is missing.
func (ds *definitions) CreateLabel(ctx context.Context, r claim.Repo, d labels.Definition) error {
	if err := ds.createLabel(ctx, r, d); err != nil && !taken(err) {
		return failed(err, Object{RepositoryObject, r.String()}, "create label %q in %s", d.Name, r)
	}
	ds.noteLabel(r, d.Name, true)
	return nil
}

// createLabel sends the definition. GitHub answers 404 to a login that may not push, and 403 to a
// token that lacks the permission: both are a *PermissionError. A repository that cannot be read
// either is not there.
func (ds *definitions) createLabel(ctx context.Context, r claim.Repo, d labels.Definition) error {
	body := map[string]string{"name": d.Name, "color": d.Color, "description": d.Description}
	var made restLabel
	_, err := ds.api.send(ctx, http.MethodPost, at(r.Owner, r.Name, "/labels"), body, &made)
	if err == nil {
		ds.noteLabelNode(r, d.Name, made.Node)
	}

	denied, forbidden := errors.AsType[*PermissionError](err)
	hidden, absent := errors.AsType[*NotFoundError](err)
	if !forbidden && !absent {
		return err
	}

	own := ds.roles.ownRole(r)
	if own == "" {
		got, unread := ds.repositories.Repository(ctx, r)
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
	var refused *StatusError
	return errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity &&
		slices.Contains(refused.Codes, "already_exists")
}

// UpdateLabel rewrites the colour and description of the label called name, and renames it when
// d.Name differs. A label that does not exist is a *NotFoundError.
func (ds *definitions) UpdateLabel(ctx context.Context, r claim.Repo, name string, d labels.Definition) error {
	if err := ds.updateLabel(ctx, r, name, d); err != nil {
		return failed(err, Object{Kind: LabelObject}, "update label %q of %s", name, r)
	}
	ds.noteLabel(r, name, false)
	ds.noteLabel(r, d.Name, true)
	return nil
}

func (ds *definitions) updateLabel(ctx context.Context, r claim.Repo, name string, d labels.Definition) error {
	body := map[string]string{"new_name": d.Name, "color": d.Color, "description": d.Description}
	_, err := ds.api.send(ctx, http.MethodPatch, labelPath(r, name), body, nil)
	return err
}

// DeleteLabel removes a label's definition, and so the label from every issue; one that does not
// exist is success, if the repository does.
func (ds *definitions) DeleteLabel(ctx context.Context, r claim.Repo, name string) error {
	to := labelPath(r, name)
	_, err := ds.api.send(ctx, http.MethodDelete, to, nil, nil)
	if to.err == nil && is[*NotFoundError](err) {
		_, err = ds.repositories.Repository(ctx, r) // is only the label missing?
	}

	if err != nil {
		return failed(err, Object{Kind: LabelObject}, "delete label %q of %s", name, r)
	}
	ds.noteLabel(r, name, false)

	return nil
}

// labelPath is the definition of a label.
func labelPath(r claim.Repo, name string) target {
	escaped, err := labelName(name)
	if err != nil {
		return target{err: err}
	}
	return at(r.Owner, r.Name, "/labels/%s", escaped)
}

// labelNodes are the global ids of labels of a repository; all is false when one of them is not
// known.
func (ds *definitions) labelNodes(r claim.Repo, names []string) (ids []string, all bool) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	for _, name := range names {
		id := ds.nodes[key(r.String(), name)]
		if id == "" {
			return nil, false
		}
		ids = append(ids, id)
	}

	return ids, true
}

// noteLabelNode remembers the global id of a label; an empty one forgets it.
func (ds *definitions) noteLabelNode(r claim.Repo, name, id string) {
	ds.mu.Lock()
	defer ds.mu.Unlock()
	ds.nodes[key(r.String(), name)] = id
}
