package github

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lease/gitref"
)

var (
	_ gitref.Refs  = (*Client)(nil)
	_ gitref.Mover = (*Client)(nil)
	_ gitref.Namer = (*Client)(nil)
)

// GetRef implements gitref.Refs: one query, or two REST requests. A repository that is not there,
// or not to be seen, is an error and never a missing reference.
func (c *Client) GetRef(ctx context.Context, i claim.Issue, name string) (gitref.Tip, error) {
	if c.queries() {
		tip, err := c.queryRef(ctx, i, name)
		var off unavailable
		if !errors.As(err, &off) {
			return tip, err
		}
	}
	return c.restRef(ctx, i, name)
}

// queryTip is a repository with one of its references as GraphQL shows it.
type queryTip struct {
	Repository *struct {
		ID  string
		Ref *queryTarget
	}
}

func (c *Client) queryRef(ctx context.Context, i claim.Issue, name string) (gitref.Tip, error) {
	d := newDocument()
	d.add("  repository(owner: %s, name: %s) {\n    id\n", d.bind("String!", i.Owner), d.bind("String!", i.Repo))
	d.add("    ref(qualifiedName: %s) %s\n  }\n", d.bind("String!", name), targetFields)
	var data queryTip
	got, err := c.ask(ctx, d.text(""), d.variables, &data)
	what := "repository " + i.Slug()
	switch {
	case err != nil:
		return gitref.Tip{}, err
	case len(got.errors) > 0:
		return gitref.Tip{}, got.errors[0].typed(what)
	case data.Repository == nil || data.Repository.ID == "" || got.now.IsZero():
		return gitref.Tip{}, &AnswerError{Status: http.StatusOK, Reason: "the repository or the date is not in it"}
	}
	tip, whole := data.Repository.Ref.tip(got.now, data.Repository.ID)
	if !whole {
		return gitref.Tip{}, &AnswerError{Status: http.StatusOK, Reason: "what the reference points at is not in it"}
	}
	return tip, nil
}

// restRef lists what begins like the name, because a 404 for the reference itself would not say
// whether it or the repository is missing. Its own name comes first in that list.
func (c *Client) restRef(ctx context.Context, i claim.Issue, name string) (gitref.Tip, error) {
	refs, header, err := c.matchingRefs(ctx, i, name)
	if err != nil {
		return gitref.Tip{}, err
	}
	tip := gitref.Tip{Now: answer{header: header}.date(time.Time{})}
	if tip.Now.IsZero() {
		return gitref.Tip{}, &AnswerError{Status: http.StatusOK, Reason: "the date is not in it"}
	}
	for _, ref := range refs {
		if ref.Ref != name {
			continue
		}
		if tip.OID = ref.Object.SHA; ref.Object.Type != "commit" {
			return tip, nil
		}
		made, err := c.restCommit(ctx, i, ref.Object.SHA)
		tip.Message, tip.Date = made.Message, made.Committer.Date
		return tip, err
	}
	return tip, nil
}

// A restNamed is a reference of the git database API.
type restNamed struct {
	Ref    string
	Object struct{ SHA, Type string }
}

// matchingRefs lists the references whose full names begin with name (REST, "List matching references").
func (c *Client) matchingRefs(ctx context.Context, i claim.Issue, name string) (refs []restNamed, header http.Header, err error) {
	path, err := onGit(i, "matching-refs/", strings.TrimPrefix(name, "refs/"))
	if err == nil {
		refs, header, err = list[restNamed](ctx, c, path)
	}
	return refs, header, missing(err, "repository "+i.Slug())
}

// RefNames implements gitref.Namer.
func (c *Client) RefNames(ctx context.Context, i claim.Issue, prefix string) ([]string, error) {
	refs, _, err := c.matchingRefs(ctx, i, prefix)
	names := make([]string, len(refs))
	for k, ref := range refs {
		names[k] = ref.Ref
	}
	return names, err
}

// restCommit is a commit of the git database API.
type restCommit struct {
	SHA       string
	Message   string
	Committer struct{ Date time.Time }
}

func (m restCommit) check() error {
	if m.SHA == "" || m.Committer.Date.IsZero() {
		return &AnswerError{Status: http.StatusOK, Reason: "it is not a commit"}
	}
	return nil
}

func (c *Client) restCommit(ctx context.Context, i claim.Issue, sha string) (made restCommit, err error) {
	path, err := onGit(i, "commits/", sha)
	if err == nil {
		_, err = c.Do(afterCreating(ctx), http.MethodGet, path, nil, &made)
	}
	if err == nil {
		err = made.check()
	}
	return made, err
}

// emptyTree is the id that git gives the tree with nothing in it.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// featureEmptyTree is the repository's readiness to take a commit on a tree that nobody stored.
const featureEmptyTree = "emptyTree"

// CreateCommit implements gitref.Refs. Where GitHub does not know the empty tree it stores one with
// a single line in it. A token that may not write is a *PermissionError.
func (c *Client) CreateCommit(ctx context.Context, i claim.Issue, parent, message string) (gitref.Commit, error) {
	tree := emptyTree
	if !c.has(featureEmptyTree) {
		var err error
		if tree, err = c.createTree(ctx, i); err != nil {
			return gitref.Commit{}, err
		}
	}
	made, err := c.createCommit(ctx, i, tree, parent, message)
	var refused *StatusError
	if tree == emptyTree && errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity && c.learnMissing(featureEmptyTree) {
		return c.CreateCommit(ctx, i, parent, message)
	}
	if err != nil {
		return gitref.Commit{}, err
	}
	return gitref.Commit{OID: made.SHA, Date: made.Committer.Date}, nil
}

// createCommit leaves author and committer out, so that GitHub dates the commit (REST, "Create a commit").
func (c *Client) createCommit(ctx context.Context, i claim.Issue, tree, parent, message string) (made restCommit, err error) {
	sent := struct {
		Message string   `json:"message"`
		Tree    string   `json:"tree"`
		Parents []string `json:"parents"`
	}{message, tree, []string{}}
	if parent != "" {
		sent.Parents = append(sent.Parents, parent)
	}
	path, err := onGit(i, "commits", "")
	if err == nil {
		_, err = c.Do(ctx, http.MethodPost, path, sent, &made)
	}
	if err == nil {
		err = made.check()
	}
	return made, mayNotWrite(err)
}

// createTree stores a tree with one file; doing it again stores nothing new.
func (c *Client) createTree(ctx context.Context, i claim.Issue) (string, error) {
	type entry struct {
		Path    string `json:"path"`
		Mode    string `json:"mode"`
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	sent := struct {
		Tree []entry `json:"tree"`
	}{[]entry{{"README", "100644", "blob", "Leases of issues, kept by label-state.\n"}}}
	path, err := onGit(i, "trees", "")
	var made struct{ SHA string }
	if err == nil {
		_, err = c.Do(ctx, http.MethodPost, path, sent, &made)
	}
	if err == nil && made.SHA == "" {
		err = &AnswerError{Status: http.StatusOK, Reason: "it is not a tree"}
	}
	return made.SHA, mayNotWrite(err)
}

func (c *Client) learnMissing(feature string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.lacks[feature]
	c.lacks[feature] = true
	return !known
}

// onGit returns a path of the git database API; name is escaped part by part.
func onGit(i claim.Issue, what, name string) (string, error) {
	parts := strings.Split(name, "/")
	for k, part := range parts {
		if strings.Trim(part, ".") == "" && part != "" {
			return "", &NotFoundError{What: "reference " + oneLine(name), Status: http.StatusNotFound, Message: "not a name"}
		}
		parts[k] = url.PathEscape(part)
	}
	return at(i.Owner, i.Repo, "/git/%s%s", what, strings.Join(parts, "/"))
}
