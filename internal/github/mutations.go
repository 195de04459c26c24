package github

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// Record implements ledger.Recorder: one mutation posts the comment, and its payload shows the issue as it is then. It takes the global
// id that an earlier snapshot has shown. What GitHub certainly refused is errors.ErrUnsupported: Comment finds out why.
func (c *Client) Record(ctx context.Context, i claim.Issue, body string) (claim.Comment, *lifecycle.Facts, error) {
	one := &snapshot{facts: lifecycle.Facts{Issue: i}}
	var posted claim.Comment
	err := untilUnderstood(func() (err error) { // where the schema lacks a part of the question nothing was carried out
		posted, err = c.postRecord(hinted(ctx, commenting), one, body)
		return err
	})
	if err != nil {
		return claim.Comment{}, nil, fmt.Errorf("comment on %s: %w", i, err)
	}
	if short(one.err) || one.more != nil {
		if c.completeFacts(ctx, []*snapshot{one}) != nil {
			return posted, nil, nil
		}
	}
	c.judgeRecords(ctx, readable([]*snapshot{one}, nil), everyRecord)
	if got := one.public(); one.read && got.Err == nil {
		return posted, &got.Facts, nil
	}
	return posted, nil, nil
}

func (c *Client) postRecord(ctx context.Context, one *snapshot, body string) (claim.Comment, error) {
	i := one.facts.Issue
	subject, known := c.issueNode(i)
	if !known {
		return claim.Comment{}, errors.ErrUnsupported
	}
	much := ofOne()
	d := newDocument()
	d.add("  post: addComment(input: {subjectId: %s, body: %s}) { commentEdge { node { ...C } } subject %s }\n",
		d.bind("ID!", subject), d.bind("String!", body), c.issueAfter(d, i))
	var data struct {
		Post *struct {
			CommentEdge *struct{ Node *queryComment }
			Subject     json.RawMessage
		}
	}
	writes := c.transport.writes.Load() + 1
	got, err := c.ask(ctx, d.operation("mutation Record", issueFields(c.api, much)+pullRequestFields(much)), d.variables, &data)
	switch {
	case is[*NoGraphQLError](err), hidden(err):
		return claim.Comment{}, errors.ErrUnsupported
	case err != nil:
		return claim.Comment{}, err
	case data.Post == nil && len(got.errors) > 0:
		e := got.errors[0]
		refusals := []string{"NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPES", "UNPROCESSABLE"} // of the field itself, not of a part of its payload
		if len(e.Path) == 1 && e.part(0) == "post" && slices.Contains(refusals, e.Type) {
			return claim.Comment{}, errors.ErrUnsupported
		}
		return claim.Comment{}, &QueryError{Type: oneLine(e.Type), Message: oneLine(e.Message)} // it may be there
	case data.Post == nil || data.Post.CommentEdge == nil || data.Post.CommentEdge.Node == nil:
		return claim.Comment{}, &AnswerError{Status: http.StatusOK, Reason: "the comment is not in it"}
	}
	node := data.Post.CommentEdge.Node
	if node.ID == 0 || node.CreatedAt.IsZero() || node.Author == nil || node.Author.Login == "" {
		return claim.Comment{}, &AnswerError{Status: http.StatusOK, Reason: "it is not a comment"}
	}
	c.takeAfter(one, got, data.Post.Subject, writes)
	posted := node.comment().Comment
	posted.Trusted = true
	return posted, nil
}

// Relabel implements ledger.Relabeler: the fields of a mutation run one after the other, and the payload of the last one shows the
// issue as it is then. It takes the global ids that an earlier snapshot has shown, so a label that does not exist is never created
// here. What GitHub refuses is errors.ErrUnsupported: one request a label finds out which, and why.
func (c *Client) Relabel(ctx context.Context, i claim.Issue, change labels.Change) (lifecycle.Facts, error) {
	one := &snapshot{facts: lifecycle.Facts{Issue: i}}
	err := untilUnderstood(func() error { return c.changeLabels(hinted(ctx, repeatable), one, change) })
	if err == nil {
		err = c.completeFacts(ctx, []*snapshot{one})
	}
	if err != nil {
		return lifecycle.Facts{}, fmt.Errorf("change labels of %s: %w", i, err)
	}
	c.judgeRecords(ctx, readable([]*snapshot{one}, nil), everyRecord)
	got := one.public()
	return got.Facts, got.Err
}

func (c *Client) changeLabels(ctx context.Context, one *snapshot, change labels.Change) error {
	i := one.facts.Issue
	repo := ledger.Repo{Owner: i.Owner, Name: i.Repo}
	subject, known := c.issueNode(i)
	add, all := c.labelNodes(repo, change.Add)
	remove, both := c.labelNodes(repo, change.Remove)
	if !known || !all || !both || len(add)+len(remove) == 0 {
		return errors.ErrUnsupported
	}
	much := ofOne()
	d := newDocument()
	sent := d.bind("ID!", subject)
	seen := "labelable " + c.issueAfter(d, i)
	if len(add) > 0 {
		payload := "clientMutationId"
		if len(remove) == 0 {
			payload = seen
		}
		d.add("  add: addLabelsToLabelable(input: {labelableId: %s, labelIds: %s}) { %s }\n", sent, d.bind("[ID!]!", add), payload)
	}
	if len(remove) > 0 {
		d.add("  remove: removeLabelsFromLabelable(input: {labelableId: %s, labelIds: %s}) { %s }\n", sent, d.bind("[ID!]!", remove), seen)
	}
	var data map[string]*struct{ Labelable json.RawMessage }
	writes := c.transport.writes.Load() + 1
	got, err := c.ask(ctx, d.operation("mutation Relabel", issueFields(c.api, much)+pullRequestFields(much)), d.variables, &data)
	switch {
	case is[*NoGraphQLError](err), hidden(err), tooMuch(err):
		return errors.ErrUnsupported
	case err != nil:
		return err
	case len(got.errors) > 0:
		return errors.ErrUnsupported
	}
	last := cmp.Or(data["remove"], data["add"])
	if last == nil {
		return errors.ErrUnsupported
	}
	c.takeAfter(one, got, last.Labelable, writes)
	return nil
}

// issueAfter is the selection by which the payload of a mutation shows an issue as it is then, for takeAfter.
func (c *Client) issueAfter(d *document, i claim.Issue) string {
	tip := document{declared: d.declared, variables: d.variables}
	names := names(c.o.Scheme, &tip)
	if c.tips.leases.Load() {
		tip.add("    id\n")
		tip.tip(0, i)
	}
	d.declared = tip.declared
	repository := "repository { nameWithOwner\n" + names + tip.body.String() + "  }"
	return "{ __typename ... on Issue { ...I " + repository + " } ... on PullRequest { ...Q " + repository + " } }"
}

// takeAfter fills a snapshot from the payload of a mutation, the last of so many writes.
func (c *Client) takeAfter(one *snapshot, got partial, payload json.RawMessage, writes int64) {
	var whole struct{ Repository json.RawMessage }
	_ = json.Unmarshal(payload, &whole) // null leaves it empty
	i := one.facts.Issue
	s := sheet{repo: ledger.Repo{Owner: i.Owner, Name: i.Repo}, alias: "repository", partial: got}
	s.read(map[string]json.RawMessage{"repository": whole.Repository})
	if s.err == nil {
		c.noteTip(s, 0, i, writes)
		s.fields["i0"] = payload
	}
	c.takeAt(one, s, "i0")
	one.read = one.err == nil
}

// minimizedAtOnce is how many comments one mutation minimizes.
const minimizedAtOnce = 20

// Minimize implements ledger.Minimizer. Comments that were not read by GraphQL are left alone, those that are gone, or were
// minimized meanwhile, are no error. A token that may not minimize is a *PermissionError.
func (c *Client) Minimize(ctx context.Context, comments []claim.Comment) (done int, err error) {
	for part := range slices.Chunk(comments, minimizedAtOnce) {
		d := newDocument()
		for n, m := range part {
			if m.Node != "" {
				d.add("  m%d: minimizeComment(input: {subjectId: %s, classifier: OUTDATED}) { minimizedComment { isMinimized } }\n", n, d.bind("ID!", m.Node))
			}
		}
		if len(d.declared) == 0 {
			continue
		}
		var data map[string]*struct {
			MinimizedComment *struct{ IsMinimized bool }
		}
		got, err := c.ask(hinted(ctx, repeatable), d.operation("mutation Minimize", ""), d.variables, &data)
		for _, one := range data {
			if one != nil && one.MinimizedComment != nil && one.MinimizedComment.IsMinimized {
				done++
			}
		}
		for _, e := range got.errors {
			if e := e.typed(Object{Kind: CommentObject}); err == nil && !is[*NotFoundError](e) {
				err = e
			}
		}
		if err != nil {
			return done, fmt.Errorf("minimize comments: %w", err)
		}
	}
	return done, nil
}
