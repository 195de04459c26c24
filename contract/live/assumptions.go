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
		{"custom-refs", "REST makes, moves and deletes references below `refs/label-state/`", "made, moved, deleted", customRefs},
		{"ref-once", "A reference that is there cannot be made again", "422", refOnce},
		{"update-refs", "GraphQL's `updateRefs` refuses an update whose `beforeOid` is not the reference's", "refused", updateRefs},
		{"empty-tree", "A commit can be made on the empty tree, which nobody stored", "201", emptyTree},
		{"commit-date", "A commit that is made without dates carries GitHub's time, not the caller's", "within 5 s of the Date header", commitDate},
		{"comment-order", "Comments made one after the other have growing ids and are listed in that order", "in order", commentOrder},
		{"comment-late", "A list shows a new comment within the settle delay, two seconds", "within 2 s", commentLate},
		{"comment-late-graphql", "GraphQL shows a new comment within the settle delay, two seconds", "within 2 s", commentLateGraphQL},
		{"timeline-skip", "A timeline of comments can be asked for from any place on (`skip`), in the order of the comments", "in order", timelineSkip},
		{"updated-by-edit", "An edit moves a comment's `updatedAt` and `lastEditedAt`", "updatedAt moved, lastEditedAt moved", updatedByEdit},
		{"updated-by-minimize", "Hiding a comment does not move its `lastEditedAt`, whatever it does to `updatedAt`", "lastEditedAt stayed", updatedByMinimize},
		{"updated-by-reaction", "A reaction does not move a comment's `lastEditedAt`", "lastEditedAt stayed", updatedByReaction},
		{"app-permission", "The permission endpoint has no permission for an App", "404", appPermission},
		{"unknown-label", "To put a label that the repository lacks on an issue makes the label, in grey", "made as ededed", unknownLabel},
		{"merge-queue-ref", "A merge queue's branches are named `gh-readonly-queue/BASE/pr-NUMBER-SHA`; queue a pull request before the look", "pr-NUMBER-SHA", mergeQueueRef},
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

func customRefs(ctx context.Context, f *forge) (string, error) {
	full, at, err := f.ref(ctx, "custom")
	if err != nil {
		return "", err
	}
	next, _, err := f.commit(ctx, "next", at.SHA)
	if err != nil {
		return "", err
	}
	if err := f.want(ctx, http.MethodPatch, "/git/"+full, object{"sha": next.SHA, "force": false}, nil, http.StatusOK); err != nil {
		return "", err
	}
	if err := f.want(ctx, http.MethodDelete, "/git/"+full, nil, nil, http.StatusNoContent); err != nil {
		return "", err
	}
	return "made, moved, deleted", nil
}

func refOnce(ctx context.Context, f *forge) (string, error) {
	full, at, err := f.ref(ctx, "once")
	if err != nil {
		return "", err
	}
	r, err := f.send(ctx, http.MethodPost, "/git/refs", object{"ref": full, "sha": at.SHA})
	var said struct{ Message string }
	if err == nil {
		err = r.into(&said)
	}
	return fmt.Sprint(r.status, " ", said.Message), err
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

func emptyTree(ctx context.Context, f *forge) (string, error) {
	_, r, err := f.commit(ctx, "empty")
	if r.status != 0 && r.status != http.StatusCreated {
		return fmt.Sprint(r.status), nil
	}
	return fmt.Sprint(r.status), err
}

func commitDate(ctx context.Context, f *forge) (string, error) {
	c, r, err := f.commit(ctx, "dated")
	if err != nil {
		return "", err
	}
	now, err := http.ParseTime(r.header.Get("Date"))
	if err != nil {
		return "", err
	}
	if apart := now.Sub(c.Committer.Date).Abs(); apart > 5*time.Second {
		return apart.String() + " from the Date header", nil
	}
	return "within 5 s of the Date header", nil
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
	return f.late(ctx, func(c comment) (bool, error) {
		ids, err := f.listed(ctx)
		for _, id := range ids {
			if id == c.ID {
				return true, err
			}
		}
		return false, err
	})
}

func commentLateGraphQL(ctx context.Context, f *forge) (string, error) {
	return f.late(ctx, func(c comment) (bool, error) {
		var seen struct {
			Node struct {
				Comments struct{ Nodes []struct{ ID string } }
			}
		}
		err := f.ask(ctx, `query($i: ID!) { node(id: $i) { ... on Issue { comments(last: 100) { nodes { id } } } } }`, object{"i": f.issueID}, &seen)
		for _, n := range seen.Node.Comments.Nodes {
			if n.ID == c.NodeID {
				return true, err
			}
		}
		return false, err
	})
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

// late is the longest that it took until a new comment was shown, of five.
func (f *forge) late(ctx context.Context, shows func(comment) (bool, error)) (string, error) {
	var longest time.Duration
	for range 5 {
		c, err := f.comment(ctx, "How late am I?")
		if err != nil {
			return "", err
		}
		start := time.Now()
		for {
			shown, err := shows(c)
			if err != nil {
				return "", err
			}
			took := time.Since(start)
			if longest = max(longest, took); shown {
				break
			}
			if took > 30*time.Second {
				return "not within 30 s", nil
			}
			if err := pause(ctx, 100*time.Millisecond); err != nil {
				return "", err
			}
		}
	}
	if longest > 2*time.Second {
		return longest.Round(100 * time.Millisecond).String(), nil
	}
	return fmt.Sprintf("within 2 s (the longest of five: %s)", longest.Round(10*time.Millisecond)), nil
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

func updatedByEdit(ctx context.Context, f *forge) (string, error) {
	updated, edited, err := f.moved(ctx, func(c comment) error {
		return f.want(ctx, http.MethodPatch, fmt.Sprintf("/issues/comments/%d", c.ID), object{"body": "After."}, nil, http.StatusOK)
	})
	return "updatedAt " + verb(updated) + ", lastEditedAt " + verb(edited), err
}

func updatedByMinimize(ctx context.Context, f *forge) (string, error) {
	updated, edited, err := f.moved(ctx, func(c comment) error {
		return f.ask(ctx, `mutation($i: ID!) { minimizeComment(input: {subjectId: $i, classifier: OUTDATED}) { clientMutationId } }`, object{"i": c.NodeID}, &struct{}{})
	})
	return "lastEditedAt " + verb(edited) + ", updatedAt " + verb(updated), err
}

func updatedByReaction(ctx context.Context, f *forge) (string, error) {
	updated, edited, err := f.moved(ctx, func(c comment) error {
		return f.want(ctx, http.MethodPost, fmt.Sprintf("/issues/comments/%d/reactions", c.ID), object{"content": "eyes"}, nil, http.StatusCreated, http.StatusOK)
	})
	return "lastEditedAt " + verb(edited) + ", updatedAt " + verb(updated), err
}

func appPermission(ctx context.Context, f *forge) (string, error) {
	r, err := f.send(ctx, http.MethodGet, "/collaborators/github-actions%5Bbot%5D/permission", nil)
	var said struct{ Message, Permission string }
	if err == nil {
		err = r.into(&said)
	}
	return fmt.Sprint(r.status, " ", said.Message, said.Permission), err
}

func unknownLabel(ctx context.Context, f *forge) (string, error) {
	name := "live-" + f.word
	f.undo(http.MethodDelete, "/labels/"+name, nil)
	if err := f.want(ctx, http.MethodPost, fmt.Sprintf("/issues/%d/labels", f.issue), object{"labels": []string{name}}, nil, http.StatusOK); err != nil {
		return "", err
	}
	if err := pause(ctx, time.Second); err != nil {
		return "", err
	}
	var made struct{ Color string }
	err := f.want(ctx, http.MethodGet, "/labels/"+name, nil, &made, http.StatusOK)
	return "made as " + made.Color, err
}

func mergeQueueRef(ctx context.Context, f *forge) (string, error) {
	var refs []struct{ Ref string }
	if err := f.want(ctx, http.MethodGet, "/git/matching-refs/heads/gh-readonly-queue/", nil, &refs, http.StatusOK); err != nil {
		return "", err
	}
	if len(refs) == 0 {
		return "", errors.New("no pull request is in a merge queue")
	}
	ref := refs[0].Ref
	last := ref[strings.LastIndex(ref, "/")+1:]
	var number int
	var sha string
	if n, _ := fmt.Sscanf(strings.ReplaceAll(last, "-", " "), "pr %d %s", &number, &sha); n != 2 {
		return ref, nil
	}
	return "pr-NUMBER-SHA, " + ref, nil
}
