package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease/gitref"
	"github.com/label-state/label-state/internal/ledger"
)

// GetRef implements gitref.Refs: one query. A repository that is not there, or not to be seen, is
// an error and never a missing reference.
func (c *Client) GetRef(ctx context.Context, i claim.Issue, name string) (gitref.Tip, error) {
	d := newDocument()
	d.add("  repository(owner: %s, name: %s) {\n    id\n", d.bind("String!", i.Owner), d.bind("String!", i.Repo))
	d.add("    ref(qualifiedName: %s) %s\n  }\n", d.bind("String!", name), targetFields)
	var data struct {
		Repository *struct {
			ID  string
			Ref *queryTarget
		}
	}

	got, err := c.ask(ctx, d.text(""), d.variables, &data)
	switch {
	case err != nil:
		return gitref.Tip{}, err
	case len(got.errors) > 0:
		return gitref.Tip{}, got.errors[0].typed(Object{RepositoryObject, i.Slug()})
	case data.Repository == nil || data.Repository.ID == "" || got.now.IsZero():
		return gitref.Tip{}, &AnswerError{Reason: "the repository or the date is missing"}
	}

	tip, whole := data.Repository.Ref.tip(got.now, data.Repository.ID)
	if !whole {
		return gitref.Tip{}, &AnswerError{Reason: "the target of the reference is missing"}
	}

	return tip, nil
}

// A restNamed is a reference of the git database API.
type restNamed struct {
	Ref    string
	Object struct{ SHA, Type string }
}

// matchingRefs lists the references whose full names begin with name (REST, "List matching
// references").
func (c *Client) matchingRefs(ctx context.Context, i claim.Issue,
	name string,
) (refs []restNamed, header http.Header, err error) {
	refs, header, err = list[restNamed](ctx, c.api, onGit(i, "matching-refs/", strings.TrimPrefix(name, "refs/")))
	return refs, header, missing(err, Object{RepositoryObject, i.Slug()})
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

// commit sends a request about a commit, and returns it.
func (c *Client) commit(ctx context.Context, method string, to target, body any) (made restCommit, err error) {
	_, err = c.send(ctx, method, to, body, &made)
	if err == nil && (made.SHA == "" || made.Committer.Date.IsZero()) {
		err = &AnswerError{Reason: "it is not a commit"}
	}
	return made, err
}

// emptyTree is the id that git gives the tree with nothing in it.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// featureEmptyTree is the repository's readiness to take a commit on a tree that nobody stored.
const featureEmptyTree = "emptyTree"

// CreateCommit implements gitref.Refs. Where GitHub does not take the empty tree, which was so for
// months in 2021, a tree with a single line is stored. Author and committer are left out, so that
// GitHub dates the commit (REST, "Create a commit"). A token that may not write is a
// *PermissionError.
func (c *Client) CreateCommit(ctx context.Context, i claim.Issue, parent, message string) (gitref.Commit, error) {
	if c.has(featureEmptyTree) {
		made, err := c.commitOn(replaceable(ctx), i, emptyTree, parent, message)
		if !unprocessable(err) && !failedThere(err) {
			return made, err
		}
		c.lack(featureEmptyTree)
	}

	tree, err := c.storeTree(ctx, i)
	if err != nil {
		return gitref.Commit{}, err
	}

	return c.commitOn(hinted(ctx, justCreated), i, tree, parent, message)
}

// storeTree stores a tree with one file in it and returns its id. A second time it stores nothing.
func (c *Client) storeTree(ctx context.Context, i claim.Issue) (string, error) {
	file := map[string]string{
		"path":    "README",
		"mode":    "100644",
		"type":    "blob",
		"content": "Leases of issues, kept by label-state.\n",
	}
	var made struct{ SHA string }
	_, err := c.send(hinted(ctx, repeatable), http.MethodPost, onGit(i, "trees", ""),
		map[string]any{"tree": []any{file}}, &made)
	if err == nil && made.SHA == "" {
		err = &AnswerError{Reason: "it is not a tree"}
	}

	return made.SHA, mayNotWrite(err)
}

// commitOn makes a commit on a tree, with at most one parent. It may be sent twice: what nothing
// points at changes nothing.
func (c *Client) commitOn(ctx context.Context, i claim.Issue, tree, parent, message string) (gitref.Commit, error) {
	parents := []string{}
	if parent != "" {
		parents = append(parents, parent)
	}

	sent := map[string]any{"message": message, "tree": tree, "parents": parents}

	made, err := c.commit(hinted(ctx, repeatable), http.MethodPost, onGit(i, "commits", ""), sent)
	if err != nil {
		return gitref.Commit{}, mayNotWrite(err)
	}

	return gitref.Commit{OID: made.SHA, Date: made.Committer.Date}, nil
}

// failedThere reports whether GitHub answered that it could not (5xx).
func failedThere(err error) bool {
	e, is := errors.AsType[*StatusError](err)
	return is && e.Status >= http.StatusInternalServerError
}

// unprocessable reports whether GitHub refused what was sent as it stands (422).
func unprocessable(err error) bool {
	refused, is := errors.AsType[*StatusError](err)
	return is && refused.Status == http.StatusUnprocessableEntity
}

// onGit is something of the git database API; name is escaped part by part.
func onGit(i claim.Issue, what, name string) target {
	parts := strings.Split(name, "/")
	for k, part := range parts {
		if strings.Trim(part, ".") == "" && part != "" {
			return target{err: &NotFoundError{
				What: Object{ReferenceObject, oneLine(name)}, Status: http.StatusNotFound,
				Message: "not a name",
			}}
		}
		parts[k] = url.PathEscape(part)
	}

	return at(i.Owner, i.Repo, "/git/%s%s", what, strings.Join(parts, "/"))
}

// zeroOID stands for a reference that must not exist.
const zeroOID = "0000000000000000000000000000000000000000"

// SwapRefs implements gitref.Refs: one updateRefs for all. REST has no such step: GitHub moves a
// reference outside refs/heads whatever it points at.
func (c *Client) SwapRefs(ctx context.Context, i claim.Issue, all ...gitref.Swap) error {
	const document = `mutation($repo: ID!, $refs: [RefUpdate!]!) {
  updateRefs(input: {repositoryId: $repo, refUpdates: $refs}) { clientMutationId }
}`
	updates := make([]any, len(all))
	for n, s := range all {
		updates[n] = map[string]any{
			"name": s.Name, "beforeOid": cmp.Or(s.Before, zeroOID), "afterOid": s.After,
			"force": false,
		}
	}

	var data struct {
		UpdateRefs *struct{ ClientMutationID *string }
	}

	got, err := c.ask(ctx, document, map[string]any{"repo": all[0].RepoID, "refs": updates}, &data)
	switch {
	case is[*NoGraphQLError](err):
		return fmt.Errorf("%w: %w", gitref.ErrNoSwap, err)
	case err == nil && len(got.errors) > 0:
		err = got.errors[0].typed(Object{RepositoryObject, i.Slug()})
	case err == nil && data.UpdateRefs == nil:
		err = &AnswerError{Reason: "the update is missing"}
	}

	var refused *QueryError
	if errors.As(err, &refused) && (refused.Type == "UNPROCESSABLE" || refused.Type == "STALE_DATA") {
		return fmt.Errorf("%w: %w", gitref.ErrMoved, err)
	}

	return mayNotWrite(err)
}

// CanSwapRefs implements gitref.Refs: it asks the server's schema for updateRefs.
func (c *Client) CanSwapRefs(ctx context.Context) error {
	var data struct{ Input *named }
	_, err := c.ask(ctx, `query { input: __type(name: "UpdateRefsInput") { name } }`, nil, &data)
	switch {
	case is[*NoGraphQLError](err):
		return fmt.Errorf("%w: %w", gitref.ErrNoSwap, err)
	case err == nil && data.Input == nil:
		return gitref.ErrNoSwap
	}

	return err
}

// contentsWrite is the permission that everything of git's asks for.
const contentsWrite = "contents: write"

// mayNotWrite names what a 404 for a write means. GitHub answers so rather than 403 where a token
// lacks a permission that its owner could have given it.
func mayNotWrite(err error) error {
	if hidden, is := errors.AsType[*NotFoundError](err); is {
		return &PermissionError{
			Status:  hidden.Status,
			Message: "no such repository, or the token lacks contents: write",
			Write:   true,
			Needs:   contentsWrite,
		}
	}

	var denied *PermissionError
	if errors.As(err, &denied) { // GraphQL says neither
		denied.Write = true
		if denied.ofToken() {
			denied.Needs = cmp.Or(denied.Needs, contentsWrite)
		}
	}

	return err
}

// A shownTip is a reference as a snapshot of its issue showed it.
type shownTip struct {
	tip    gitref.Tip
	at     time.Time
	writes int64 // that had been sent when it was asked for
}

// tips keeps the references that snapshots of issues showed.
type tips struct {
	api   *api
	clock ledger.Clock

	leases atomic.Bool // whether snapshots show the references of leases
	mu     sync.Mutex
	shown  map[string]shownTip // by owner/repo and reference, lower case
}

// ShowLeases has every snapshot of an issue show the reference of its lease, for ShownRef. Whoever
// keeps leases in references asks for it.
func (ts *tips) ShowLeases() { ts.leases.Store(true) }

// ShownRef implements gitref.Shower: a reference as the last snapshot of the issue showed it, for 5
// s and until the next write.
func (ts *tips) ShownRef(i claim.Issue, name string) (gitref.Tip, bool) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	got, known := ts.shown[key(i.Slug(), name)]
	if !known || got.writes != ts.api.transport.writes.Load() || clock.Passed(got.at, ts.clock.Now()) > fresh {
		return gitref.Tip{}, false
	}

	return got.tip, true
}

// queryTarget is a reference with its commit as GraphQL shows it.
type queryTarget struct {
	Target *struct {
		OID           string
		Message       string
		CommittedDate time.Time
	}
}

// targetFields are what is read of a reference.
const targetFields = "{ target { oid ... on Commit { message committedDate } } }"

// tip is the reference as a query showed it, of a repository with the id.
func (q *queryTarget) tip(now time.Time, id string) (tip gitref.Tip, whole bool) {
	tip = gitref.Tip{Now: now, RepoID: id}
	switch {
	case now.IsZero() || id == "":
		return tip, false
	case q == nil:
		return tip, true
	case q.Target == nil || q.Target.OID == "":
		return tip, false
	}

	tip.OID, tip.Message, tip.Date = q.Target.OID, q.Target.Message, q.Target.CommittedDate
	return tip, true
}

// tip asks for the reference of the n-th issue's lease.
func (d *document) tip(n int, i claim.Issue) {
	d.add("    t%d: ref(qualifiedName: %s) %s\n", n, d.bind("String!", gitref.RefName(i)), targetFields)
}

// showTips reads the references of the leases of listed issues that may be held, by one query. One
// that it does not show is asked for when it is needed.
func (c *Client) showTips(ctx context.Context, r claim.Repo, part []listed) {
	d := newDocument()
	d.open("r0", r)
	d.add("    id\n")
	var asked []claim.Issue
	for _, one := range part {
		f := &one.snapshot.facts
		if len(f.Log.Live()) > 0 || labels.Has(f.Labels, c.o.Scheme.Claimed) {
			d.tip(len(asked), f.Issue)
			asked = append(asked, f.Issue)
		}
	}

	d.add("  }\n")
	if !c.leases.Load() || len(asked) == 0 {
		return
	}

	var data map[string]json.RawMessage
	writes := c.transport.writes.Load()
	got, err := c.ask(replaceable(ctx), d.text(""), d.variables, &data)
	if err != nil {
		return
	}

	s := sheet{repo: r, alias: "r0", partial: got}
	s.read(data)
	for n, i := range asked {
		c.noteTip(s, n, i, writes)
	}
}

// noteTip remembers the reference of the n-th issue's lease, if the answer shows it; writes had
// been sent when it was asked for.
func (ts *tips) noteTip(s sheet, n int, i claim.Issue, writes int64) {
	alias := fmt.Sprintf("t%d", n)
	var id string
	var shown *queryTarget
	if s.err != nil || s.fields[alias] == nil || s.failed(alias, Object{}) != nil ||
		json.Unmarshal(s.fields["id"], &id) != nil || json.Unmarshal(s.fields[alias], &shown) != nil {
		return
	}

	tip, whole := shown.tip(s.now, id)
	if !whole {
		return
	}

	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.shown[key(i.Slug(), gitref.RefName(i))] = shownTip{tip, ts.clock.Now(), writes}
}
