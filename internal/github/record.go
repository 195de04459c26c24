package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/lifecycle"
)

// mutations writes, and takes from the answer what the issue is then.
type mutations struct {
	api         *api
	viewer      *viewer
	definitions *definitions
	snapshots   *snapshots
}

// Record implements ledger.Recorder: one mutation posts the comment, and its payload shows the issue as it is then. It takes the global
// id that an earlier snapshot has shown. What GitHub certainly refused is errors.ErrUnsupported: Comment finds out why.
func (mt *mutations) Record(ctx context.Context, i claim.Issue, body string) (claim.Comment, *lifecycle.Facts, error) {
	one := &snapshot{facts: lifecycle.Facts{Issue: i}}
	posted, err := mt.record(hinted(ctx, commenting), one, body)
	for errors.Is(err, errAgain) { // the schema lacks a part of the question, so nothing was carried out
		posted, err = mt.record(hinted(ctx, commenting), one, body)
	}
	if err != nil {
		return claim.Comment{}, nil, fmt.Errorf("comment on %s: %w", i, err)
	}
	mt.viewer.note(posted.Author)
	if short(one.err) || one.more != nil {
		if mt.snapshots.completeFacts(ctx, []*snapshot{one}) != nil {
			return posted, nil, nil
		}
	}
	if !one.read {
		return posted, nil, nil
	}
	mt.snapshots.finish(ctx, []*snapshot{one}, everyRecord)
	got := one.public()
	if got.Err != nil {
		return posted, nil, nil
	}
	return posted, &got.Facts, nil
}

func (mt *mutations) record(ctx context.Context, one *snapshot, body string) (claim.Comment, error) {
	i := one.facts.Issue
	subject, known := mt.snapshots.node(i)
	if !mt.api.queries() || !known {
		return claim.Comment{}, errors.ErrUnsupported
	}
	much := ofOne()
	d := newDocument()
	d.add("  post: addComment(input: {subjectId: %s, body: %s}) { commentEdge { node { ...C } } subject %s }\n",
		d.bind("ID!", subject), d.bind("String!", body), mt.snapshots.issueAfter(d, i))
	var data struct {
		Post *struct {
			CommentEdge *struct{ Node *queryComment }
			Subject     json.RawMessage
		}
	}
	writes := mt.api.transport.writes.Load() + 1
	got, err := mt.api.ask(ctx, d.mutation("Record", issueFields(mt.api, much)+pullRequestFields(much)), d.variables, &data)
	switch {
	case is[unavailable](err):
		return claim.Comment{}, errors.ErrUnsupported
	case err != nil:
		return claim.Comment{}, err
	case data.Post == nil && len(got.errors) > 0 && got.errors[0].refuses("post"):
		return claim.Comment{}, errors.ErrUnsupported
	case data.Post == nil && len(got.errors) > 0:
		return claim.Comment{}, &QueryError{Type: oneLine(got.errors[0].Type), Message: oneLine(got.errors[0].Message)} // it may be there
	case data.Post == nil || data.Post.CommentEdge == nil || data.Post.CommentEdge.Node == nil:
		return claim.Comment{}, &AnswerError{Status: http.StatusOK, Reason: "the comment is not in it"}
	}
	node := data.Post.CommentEdge.Node
	if node.ID == 0 || node.CreatedAt.IsZero() || node.Author == nil || node.Author.Login == "" {
		return claim.Comment{}, &AnswerError{Status: http.StatusOK, Reason: "it is not a comment"}
	}
	mt.snapshots.takeAfter(one, got, data.Post.Subject, writes)
	posted := node.comment().Comment
	posted.Trusted = true
	return posted, nil
}

// refuses reports whether the error says that the field of a mutation was not carried out: it is about the field itself, and not about
// a part of its payload.
func (e queryError) refuses(field string) bool {
	if len(e.Path) != 1 || e.part(0) != field {
		return false
	}
	switch e.Type {
	case "NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPES", "UNPROCESSABLE":
		return true
	}
	return false
}
