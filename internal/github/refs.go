package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/clock"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lease/gitref"
)

// GetRef implements gitref.Refs: one query. A repository that is not there, or not to be seen, is
// an error and never a missing reference.
func (c *Client) GetRef(ctx context.Context, i claim.Issue, name string) (gitref.Tip, error) {
	d := newDocument()
	d.add("    id\n    ref(qualifiedName: %s) %s\n", d.bind("String!", name), targetFields)
	var data struct {
		ID  string
		Ref *queryTarget
	}

	got, err := c.askIn(ctx, i.In(), d, &data)
	if err = cmp.Or(err, got.failed()); err != nil {
		return gitref.Tip{}, missing(err, repository(i.In()))
	}

	tip, whole := data.Ref.tip(got.now, data.ID)
	if !whole {
		return gitref.Tip{}, unusable("the date, the repository or the target of the reference is missing")
	}

	return tip, nil
}

// A restNamed is a reference of the git database API.
type restNamed struct{ Ref string }

// RefNames implements gitref.Namer (REST, "List matching references").
func (c *Client) RefNames(ctx context.Context, i claim.Issue, prefix string) ([]string, error) {
	refs, err := list[restNamed](ctx, c, onGit(i, "matching-refs/", strings.TrimPrefix(prefix, "refs/")))
	names := make([]string, len(refs))
	for k, ref := range refs {
		names[k] = ref.Ref
	}
	return names, err
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
		refused, is := errors.AsType[*StatusError](err)
		if !is || refused.Status != http.StatusUnprocessableEntity && refused.Status < http.StatusInternalServerError {
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
		err = unusable("it is not a tree")
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

	var made struct {
		SHA       string
		Committer struct{ Date time.Time }
	}

	_, err := c.send(hinted(ctx, repeatable), http.MethodPost, onGit(i, "commits", ""), sent, &made)
	if err == nil && (made.SHA == "" || made.Committer.Date.IsZero()) {
		err = unusable("it is not a commit")
	}
	if err != nil {
		return gitref.Commit{}, mayNotWrite(err)
	}

	return gitref.Commit{OID: made.SHA, Date: made.Committer.Date}, nil
}

// onGit is something of the git database API; name is escaped part by part.
func onGit(i claim.Issue, what, name string) target {
	path, ok := escaped(name)
	if !ok {
		return nowhere(ReferenceObject, oneLine(name), "not a name")
	}
	return at(i.In(), "/git/%s%s", what, path)
}

// zeroOID stands for a reference that must not exist.
const zeroOID = "0000000000000000000000000000000000000000"

// SwapRefs implements gitref.Refs: one updateRefs for all. REST has no such step: GitHub moves a
// reference outside refs/heads whatever it points at.
func (c *Client) SwapRefs(ctx context.Context, i claim.Issue, all ...gitref.Swap) error {
	updates := make([]any, len(all))
	for n, s := range all {
		updates[n] = map[string]any{
			"name": s.Name, "beforeOid": cmp.Or(s.Before, zeroOID), "afterOid": s.After,
			"force": false,
		}
	}

	d := newDocument()
	d.head = "mutation"
	d.add("  updateRefs(input: {repositoryId: %s, refUpdates: %s}) { clientMutationId }\n",
		d.bind("ID!", all[0].RepoID), d.bind("[RefUpdate!]!", updates))
	var data struct{ UpdateRefs *struct{} }
	got, err := c.ask(ctx, d, &data)
	switch {
	case is[*NoGraphQLError](err):
		return fmt.Errorf("%w: %w", gitref.ErrNoSwap, err)
	case err == nil && len(got.errors) > 0:
		err = missing(got.failed(), repository(i.In()))
	case err == nil && data.UpdateRefs == nil:
		err = unusable("the update is missing")
	}

	refused, is := errors.AsType[*QueryError](err)
	switch {
	case is && refused.Type == "STALE_DATA":
		return fmt.Errorf("%w: %w", gitref.ErrMoved, err)
	case is && refused.Type == "UNPROCESSABLE":
		return fmt.Errorf("%w: %s", gitref.ErrRefused, refused.Message)
	}

	return mayNotWrite(err)
}

// CanSwapRefs implements gitref.Refs: it asks the server's schema for updateRefs.
func (c *Client) CanSwapRefs(ctx context.Context) error {
	var data struct{ Input *named }
	d := newDocument()
	d.add("  input: __type(name: \"UpdateRefsInput\") { name }\n")
	_, err := c.ask(ctx, d, &data)
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

	if denied, is := errors.AsType[*PermissionError](err); is { // GraphQL says neither
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

// ShowLeases has every snapshot of an issue show the reference of its lease, for ShownRef. Whoever
// keeps leases in references asks for it.
func (c *Client) ShowLeases() { c.leases.Store(true) }

// ShownRef implements gitref.Shower: a reference as the last snapshot of the issue showed it, for 5
// s and until the next write.
func (c *Client) ShownRef(i claim.Issue, name string) (gitref.Tip, bool) {
	got, _ := c.shown.get(key(i.Slug(), name)) // one that is not known is too old
	if got.writes != c.transport.writes.Load() || clock.Passed(got.at, c.o.Clock.Now()) > fresh {
		return gitref.Tip{}, false
	}

	return got.tip, true
}

// queryTarget is a reference as GraphQL shows it, with what a tip has of its commit.
type queryTarget struct{ Target *gitref.Tip }

// there reports whether the reference was shown.
func (q *queryTarget) there() bool { return q != nil && q.Target != nil }

// targetFields are what is read of a reference.
const targetFields = "{ target { oid ... on Commit { message date: committedDate } } }"

// tip is the reference as a query showed it, of a repository with the id.
func (q *queryTarget) tip(now time.Time, id string) (tip gitref.Tip, whole bool) {
	if q.there() {
		tip = *q.Target
	}
	tip.Now, tip.RepoID = now, id
	return tip, !now.IsZero() && id != "" && (q == nil || tip.OID != "")
}

// tip asks for the reference of the n-th issue's lease.
func (d *document) tip(n int, i claim.Issue) string {
	return fmt.Sprintf("    t%d: ref(qualifiedName: %s) %s\n", n, d.bind("String!", gitref.RefName(i)), targetFields)
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
			d.add("%s", d.tip(len(asked), f.Issue))
			asked = append(asked, f.Issue)
		}
	}

	if !c.leases.Load() || len(asked) == 0 {
		return
	}

	writes := c.transport.writes.Load()
	s, err := c.askSheet(replaceable(ctx), r, d)
	if err != nil {
		return
	}

	for n, i := range asked {
		c.noteTip(s, n, i, writes)
	}
}

// noteTip remembers the reference of the n-th issue's lease, if the answer shows it; writes had
// been sent when it was asked for.
func (c *Client) noteTip(s sheet, n int, i claim.Issue, writes int64) {
	field := alias("t", n)
	var id string
	var shown *queryTarget
	if s.err != nil || s.fields[field] == nil || s.failed(field) != nil ||
		json.Unmarshal(s.fields["id"], &id) != nil || json.Unmarshal(s.fields[field], &shown) != nil {
		return
	}

	tip, whole := shown.tip(s.now, id)
	if !whole {
		return
	}

	c.shown.note(key(i.Slug(), gitref.RefName(i)), shownTip{tip, c.o.Clock.Now(), writes})
}
