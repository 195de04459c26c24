package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// An assumption is something that the product takes for granted of GitHub.
type assumption struct {
	name     string // its row in docs/github.md
	text     string
	expected string // what is seen begins with it
	look     func(context.Context, *forge) (seen string, err error)
}

func assumptions() []assumption {
	return []assumption{
		{
			"ref-not-swapped", "REST moves a reference below `refs/label-state/` to an unrelated commit although `force` is false, so that REST cannot compare and swap",
			"200, moved", refNotSwapped,
		},
		{"update-refs", "GraphQL's `updateRefs` refuses an update whose `beforeOid` is not the reference's", "refused", updateRefs},
		{"comment-order", "Comments made one after the other have growing ids and are listed in that order", "in order", commentOrder},
		{"comment-late", "A list shows a new comment within the settle delay, two seconds", "within 2 s", commentLate},
		{"comment-late-graphql", "GraphQL shows a new comment within the settle delay, two seconds", "within 2 s", commentLateGraphQL},
		{"timeline-skip", "A timeline of comments can be asked for from any place on (`skip`), in the order of the comments", "in order", timelineSkip},
		{"edited-by-edit", "An edit moves a comment's `lastEditedAt`", "lastEditedAt moved", editedByEdit},
		{"edited-by-minimize", "Hiding a comment does not move its `lastEditedAt`, whatever it does to `updatedAt`", "lastEditedAt stayed", editedByMinimize},
		{"edited-by-reaction", "A reaction does not move a comment's `lastEditedAt`", "lastEditedAt stayed", editedByReaction},
	}
}

// A question is something of which the product assumes nothing, and which nobody has recorded. What
// is seen is printed.
type question struct {
	name string
	text string
	ask  func(context.Context, *forge) (seen string, err error)
}

func questions() []question {
	return []question{
		{"node-limit", "What GraphQL answers to a query for more than 500,000 nodes", nodeLimit},
		{"scopes", "What GraphQL answers to a query that the token lacks the scope for", scopes},
	}
}

const noTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

type commit struct {
	SHA       string
	Committer struct{ Date time.Time }
}

// commit makes a commit on the empty tree that nothing points at.
func (f *forge) commit(ctx context.Context, message string, parents ...string) (c commit, r reply, err error) {
	sent := object{"message": message + " " + f.word, "tree": noTree, "parents": append([]string{}, parents...)}
	if r, err = f.send(ctx, http.MethodPost, "/git/commits", sent); err != nil {
		return c, r, err
	}
	if err := r.is(http.StatusCreated); err != nil {
		return c, r, err
	}
	return c, r, r.into(&c)
}

// ref makes a reference of that name at a new commit; it is deleted at the end.
func (f *forge) ref(ctx context.Context, name string) (full string, at commit, err error) {
	if at, _, err = f.commit(ctx, name); err != nil {
		return "", at, err
	}
	full = "refs/label-state/live/" + name + "-" + f.word
	if err = f.want(ctx, http.MethodPost, "/git/refs", object{"ref": full, "sha": at.SHA}, nil, http.StatusCreated); err == nil {
		f.undo(http.MethodDelete, "/git/"+full, nil)
	}
	return full, at, err
}

// refNotSwapped moves a reference by REST to a commit that does not contain the one that it is at.
func refNotSwapped(ctx context.Context, f *forge) (string, error) {
	full, _, err := f.ref(ctx, "unrelated")
	if err != nil {
		return "", err
	}
	other, _, err := f.commit(ctx, "other")
	if err != nil {
		return "", err
	}

	r, err := f.send(ctx, http.MethodPatch, "/git/"+full, object{"sha": other.SHA, "force": false})
	if err != nil {
		return "", err
	}
	if r.status != http.StatusOK {
		var said struct{ Message string }
		err := r.into(&said)
		return fmt.Sprint(r.status, " ", said.Message), err
	}

	var now struct{ Object struct{ SHA string } }
	if err := r.into(&now); err != nil {
		return "", err
	}
	if now.Object.SHA != other.SHA {
		return "200, not moved", nil
	}
	return "200, moved", nil
}

func updateRefs(ctx context.Context, f *forge) (string, error) {
	full, at, err := f.ref(ctx, "swap")
	if err != nil {
		return "", err
	}
	next, _, err := f.commit(ctx, "next", at.SHA)
	if err != nil {
		return "", err
	}
	swap := func(before, after string) error {
		return f.ask(ctx, `mutation($r: ID!, $n: GitRefname!, $b: GitObjectID!, $a: GitObjectID!) {
  updateRefs(input: {repositoryId: $r, refUpdates: [{name: $n, beforeOid: $b, afterOid: $a}]}) { clientMutationId }
}`, object{"r": f.repoID, "n": full, "b": before, "a": after}, &struct{}{})
	}
	var refused *queryError
	err = swap(next.SHA, next.SHA) // the reference is at another commit
	if err == nil {
		return "a wrong beforeOid was accepted", nil
	}
	if !errors.As(err, &refused) {
		return "", err
	}
	if err := swap(at.SHA, next.SHA); err != nil {
		return "", fmt.Errorf("with the right beforeOid: %w", err)
	}
	return "refused, " + refused.Type, nil
}

func commentOrder(ctx context.Context, f *forge) (string, error) {
	var ids []int64
	for n := range 3 {
		c, err := f.comment(ctx, fmt.Sprintf("Number %d.", n+1))
		if err != nil {
			return "", err
		}
		ids = append(ids, c.ID)
	}
	if ids[0] >= ids[1] || ids[1] >= ids[2] {
		return fmt.Sprintf("ids %v", ids), nil
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return "", err
	}
	listed, err := f.listed(ctx)
	at := 0
	for _, id := range listed {
		if at < len(ids) && id == ids[at] {
			at++
		}
	}
	if err == nil && at < len(ids) {
		return fmt.Sprintf("%v is listed as %v", ids, listed), nil
	}
	return "in order", err
}

// listed are the ids of the issue's comments, as REST lists them.
func (f *forge) listed(ctx context.Context) (ids []int64, err error) {
	var all []comment
	err = f.want(ctx, http.MethodGet, fmt.Sprintf("/issues/%d/comments?per_page=100", f.issue), nil, &all, http.StatusOK)
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return ids, err
}

func commentLate(ctx context.Context, f *forge) (string, error) {
	l, err := f.lateness(ctx)
	return longest(l.byREST), err
}

func commentLateGraphQL(ctx context.Context, f *forge) (string, error) {
	l, err := f.lateness(ctx)
	return longest(l.byGraphQL), err
}

// inQuery are the ids of the issue's comments, as GraphQL lists them.
func (f *forge) inQuery(ctx context.Context) (ids []string, err error) {
	var seen struct {
		Node struct {
			Comments struct{ Nodes []struct{ ID string } }
		}
	}
	err = f.ask(ctx, `query($i: ID!) { node(id: $i) { ... on Issue { comments(last: 100) { nodes { id } } } } }`, object{"i": f.issueID}, &seen)
	for _, n := range seen.Node.Comments.Nodes {
		ids = append(ids, n.ID)
	}
	return ids, err
}

// timelineSkip asks for the second and the third of three comments that were made.
func timelineSkip(ctx context.Context, f *forge) (string, error) {
	for n := range 3 {
		if _, err := f.comment(ctx, fmt.Sprintf("Place %d.", n+1)); err != nil {
			return "", err
		}
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return "", err
	}
	type list struct{ Nodes []struct{ ID string } }
	var seen struct {
		Node struct {
			Comments list
			Timeline list
		}
	}
	err := f.ask(ctx, `query($i: ID!) { node(id: $i) { ... on Issue { comments(first: 3) { nodes { id } }
  timeline: timelineItems(itemTypes: [ISSUE_COMMENT], skip: 1, first: 2) { nodes { ... on IssueComment { id } } } } } }`, object{"i": f.issueID}, &seen)
	if err != nil {
		return "", err
	}
	all, some := seen.Node.Comments.Nodes, seen.Node.Timeline.Nodes
	if len(all) < 3 || len(some) != 2 || all[1] != some[0] || all[2] != some[1] {
		return fmt.Sprintf("%v after %v", some, all), nil
	}
	return "in order", nil
}

// moved says which of a comment's times a change moved.
func (f *forge) moved(ctx context.Context, change func(comment) error) (updated, edited bool, err error) {
	c, err := f.comment(ctx, "Before.")
	if err != nil {
		return false, false, err
	}
	type times struct {
		Node struct{ UpdatedAt, LastEditedAt *time.Time }
	}
	look := func() (t times, err error) {
		err = f.ask(ctx, `query($i: ID!) { node(id: $i) { ... on IssueComment { updatedAt lastEditedAt } } }`, object{"i": c.NodeID}, &t)
		if err == nil && t.Node.UpdatedAt == nil {
			err = errors.New("GraphQL does not show the comment yet")
		}
		return t, err
	}
	if err := pause(ctx, 3*time.Second); err != nil { // times are whole seconds, and reads may be late
		return false, false, err
	}
	before, err := look()
	if err != nil {
		return false, false, err
	}
	if err := change(c); err != nil {
		return false, false, err
	}
	if err := pause(ctx, 3*time.Second); err != nil {
		return false, false, err
	}
	after, err := look()
	if err != nil {
		return false, false, err
	}
	return after.Node.UpdatedAt.After(*before.Node.UpdatedAt), (after.Node.LastEditedAt != nil) != (before.Node.LastEditedAt != nil), nil
}

func verb(moved bool) string {
	if moved {
		return "moved"
	}
	return "stayed"
}

func editedByEdit(ctx context.Context, f *forge) (string, error) {
	updated, edited, err := f.moved(ctx, func(c comment) error {
		return f.want(ctx, http.MethodPatch, fmt.Sprintf("/issues/comments/%d", c.ID), object{"body": "After."}, nil, http.StatusOK)
	})
	return "lastEditedAt " + verb(edited) + ", updatedAt " + verb(updated), err
}

func editedByMinimize(ctx context.Context, f *forge) (string, error) {
	updated, edited, err := f.moved(ctx, func(c comment) error {
		return f.ask(ctx, `mutation($i: ID!) { minimizeComment(input: {subjectId: $i, classifier: OUTDATED}) { clientMutationId } }`, object{"i": c.NodeID}, &struct{}{})
	})
	return "lastEditedAt " + verb(edited) + ", updatedAt " + verb(updated), err
}

func editedByReaction(ctx context.Context, f *forge) (string, error) {
	updated, edited, err := f.moved(ctx, func(c comment) error {
		return f.want(ctx, http.MethodPost, fmt.Sprintf("/issues/comments/%d/reactions", c.ID), object{"content": "eyes"}, nil, http.StatusCreated, http.StatusOK)
	})
	return "lastEditedAt " + verb(edited) + ", updatedAt " + verb(updated), err
}

// nodeLimit asks for a million nodes.
func nodeLimit(ctx context.Context, f *forge) (string, error) {
	owner, name, _ := strings.Cut(f.repo, "/")
	return f.raw(ctx, fmt.Sprintf(`{ repository(owner: %q, name: %q) { issues(first: 100) { nodes { comments(first: 100) { nodes { userContentEdits(first: 100) { nodes { editedAt } } } } } } } }`, owner, name))
}

// scopes asks for what takes a scope of its own.
func scopes(ctx context.Context, f *forge) (string, error) {
	return f.raw(ctx, `{ viewer { organizations(first: 1) { nodes { login requiresTwoFactorAuthentication } } } }`)
}
