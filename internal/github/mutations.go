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

// Record implements ledger.Recorder: one mutation posts the comment, and its payload shows the
// issue as it is then. It takes the global id that an earlier snapshot has shown. What GitHub
// certainly refused is errors.ErrUnsupported: Comment finds out why.
func (c *Client) Record(ctx context.Context, i claim.Issue, body string) (claim.Comment, *lifecycle.Facts, error) {
	posted, after, err := c.written(ctx, i, func(one *snapshot) (claim.Comment, error) {
		return c.postRecord(hinted(ctx, commenting), one, body, labels.Change{})
	})
	if err != nil {
		return claim.Comment{}, nil, fmt.Errorf("comment on %s: %w", i, err)
	}

	return posted, after, nil
}

// Mirror implements ledger.Mirrorer: the fields of the mutation run one after the other, and the
// payload of the last one shows the issue as it is then. Labels are named by the global ids that an
// earlier snapshot has shown, so that none is created.
func (c *Client) Mirror(ctx context.Context, i claim.Issue, body string,
	change labels.Change,
) (claim.Comment, *lifecycle.Facts, error) {
	posted, after, err := c.written(ctx, i, func(one *snapshot) (claim.Comment, error) {
		return c.postRecord(hinted(ctx, commenting), one, body, change)
	})
	if err != nil {
		return claim.Comment{}, nil, fmt.Errorf("comment on %s: %w", i, err)
	}

	return posted, after, nil
}

// Amend implements ledger.Amender: one mutation edits a comment of an issue, and its payload shows
// the issue as it is then. It takes the comment's global id. What GitHub certainly refused is
// errors.ErrUnsupported: EditComment finds out why.
func (c *Client) Amend(ctx context.Context, i claim.Issue, m claim.Comment,
	body string,
) (claim.Comment, *lifecycle.Facts, error) {
	edited, after, err := c.written(ctx, i, func(one *snapshot) (claim.Comment, error) {
		return c.amendRecord(hinted(ctx, repeatable), one, m, body)
	})
	if err != nil {
		return claim.Comment{}, nil, fmt.Errorf("edit comment %d of %s: %w", m.ID, i, err)
	}

	return edited, after, nil
}

// written sends a mutation about a comment, and completes the snapshot that its payload shows: nil
// when it cannot be.
func (c *Client) written(ctx context.Context, i claim.Issue,
	send func(*snapshot) (claim.Comment, error),
) (claim.Comment, *lifecycle.Facts, error) {
	one := &snapshot{facts: lifecycle.Facts{Issue: i}}
	var got claim.Comment
	err := untilUnderstood(func() (err error) { // where the schema lacks a part of the question nothing was carried out
		got, err = send(one)
		return err
	})
	if err != nil {
		return claim.Comment{}, nil, err
	}

	if short(one.err) || one.more != nil {
		if c.completeFacts(ctx, []*snapshot{one}) != nil {
			return got, nil, nil
		}
	}

	c.judgeRecords(ctx, readable([]*snapshot{one}, nil), everyRecord)
	if after := one.public(); one.read && after.Err == nil {
		return got, &after.Facts, nil
	}

	return got, nil, nil
}

// postRecord posts a comment, then changes labels; the last of these fields shows the issue.
func (c *Client) postRecord(ctx context.Context, one *snapshot, body string,
	change labels.Change,
) (claim.Comment, error) {
	i := one.facts.Issue
	repo := ledger.Repo{Owner: i.Owner, Name: i.Repo}
	subject, known := c.issueNode(i)
	add, all := c.labelNodes(repo, change.Add)
	remove, both := c.labelNodes(repo, change.Remove)
	if !known || !all || !both {
		return claim.Comment{}, errors.ErrUnsupported
	}

	much := ofOne()
	d := newDocument()
	sent, text := d.bind("ID!", subject), d.bind("String!", body)
	shown := c.issueAfter(d, i)
	last := "post"
	if len(add) > 0 {
		last = "add"
	}

	if len(remove) > 0 {
		last = "remove"
	}

	seen := func(field, payload string) string {
		if field == last {
			return payload + " " + shown
		}
		return "clientMutationId"
	}

	d.add("  post: addComment(input: {subjectId: %s, body: %s}) { commentEdge { node { ...C } } %s }\n", sent, text,
		seen("post", "subject"))
	if len(add) > 0 {
		d.add("  add: addLabelsToLabelable(input: {labelableId: %s, labelIds: %s}) { %s }\n", sent,
			d.bind("[ID!]!", add), seen("add", "labelable"))
	}

	if len(remove) > 0 {
		d.add("  remove: removeLabelsFromLabelable(input: {labelableId: %s, labelIds: %s}) { %s }\n", sent,
			d.bind("[ID!]!", remove), seen("remove", "labelable"))
	}

	type labelled struct{ Labelable json.RawMessage }
	var data struct {
		Post *struct {
			CommentEdge *struct{ Node *queryComment }
			Subject     json.RawMessage
		}
		Add, Remove *labelled
	}
	writes := c.transport.writes.Load() + 1
	got, err := c.ask(ctx, d.operation("mutation Record", issueFields(c.api, much)+pullRequestFields(much)),
		d.variables, &data)
	if err := refusedWrite("post", data.Post == nil, got, err); err != nil {
		return claim.Comment{}, err
	}

	if data.Post == nil || data.Post.CommentEdge == nil {
		return claim.Comment{}, &AnswerError{Status: http.StatusOK, Reason: "the comment is not in it"}
	}
	posted, err := ownComment(data.Post.CommentEdge.Node)
	if err != nil {
		return posted, err
	}

	payload := data.Post.Subject
	if l := map[string]*labelled{"add": data.Add, "remove": data.Remove}[last]; l != nil {
		payload = l.Labelable
	}

	if of := len(add) > 0 && data.Add == nil; !of { // what could not be added must not be told as done
		c.takeAfter(one, got, payload, writes)
	}

	return posted, nil
}

func (c *Client) amendRecord(ctx context.Context, one *snapshot, m claim.Comment, body string) (claim.Comment, error) {
	if m.Node == "" {
		return claim.Comment{}, errors.ErrUnsupported
	}
	much := ofOne()
	d := newDocument()
	id, text := d.bind("ID!", m.Node), d.bind("String!", body)
	shown := "issue { __typename ...I " + c.repositoryAfter(d, one.facts.Issue) + " }"
	d.add("  edit: updateIssueComment(input: {id: %s, body: %s}) { issueComment { ...C %s } }\n", id, text, shown)
	var data struct {
		Edit *struct{ IssueComment json.RawMessage }
	}
	writes := c.transport.writes.Load() + 1
	got, err := c.ask(ctx, d.operation("mutation Amend", issueFields(c.api, much)), d.variables, &data)
	if err := refusedWrite("edit", data.Edit == nil, got, err); err != nil {
		return claim.Comment{}, err
	}

	var node *queryComment
	var of struct{ Issue json.RawMessage }
	if data.Edit != nil {
		_ = json.Unmarshal(data.Edit.IssueComment, &of) // null leaves it empty
		_ = json.Unmarshal(data.Edit.IssueComment, &node)
	}

	edited, err := ownComment(node)
	if err == nil {
		c.takeAfter(one, got, of.Issue, writes)
	}

	return edited, err
}

// refusedWrite is the error of a mutation of one field, by its alias; none says that its payload is
// null. What was certainly refused is errors.ErrUnsupported.
func refusedWrite(alias string, none bool, got partial, err error) error {
	switch {
	case is[*NoGraphQLError](err), hidden(err):
		return errors.ErrUnsupported
	case err != nil:
		return err
	case !none || len(got.errors) == 0:
		return nil
	}

	e := got.errors[0]
	// of the field itself, not of a part of its payload
	refusals := []string{"NOT_FOUND", "FORBIDDEN", "INSUFFICIENT_SCOPES", "UNPROCESSABLE"}
	if len(e.Path) == 1 && e.part(0) == alias && slices.Contains(refusals, e.Type) {
		return errors.ErrUnsupported
	}

	return &QueryError{Type: oneLine(e.Type), Message: oneLine(e.Message)} // it may be there
}

// ownComment is a comment that we have just written.
func ownComment(node *queryComment) (claim.Comment, error) {
	switch {
	case node == nil:
		return claim.Comment{}, &AnswerError{Status: http.StatusOK, Reason: "the comment is not in it"}
	case node.ID == 0 || node.CreatedAt.IsZero() || node.Author == nil || node.Author.Login == "":
		return claim.Comment{}, &AnswerError{Status: http.StatusOK, Reason: "it is not a comment"}
	}

	written := node.comment().Comment
	written.Trusted = true
	return written, nil
}

// Relabel implements ledger.Relabeler: the fields of a mutation run one after the other, and the
// payload of the last one shows the issue as it is then. It takes the global ids that an earlier
// snapshot has shown, so a label that does not exist is never created here. What GitHub refuses is
// errors.ErrUnsupported: one request a label finds out which, and why.
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
		d.add("  add: addLabelsToLabelable(input: {labelableId: %s, labelIds: %s}) { %s }\n", sent,
			d.bind("[ID!]!", add), payload)
	}

	if len(remove) > 0 {
		d.add("  remove: removeLabelsFromLabelable(input: {labelableId: %s, labelIds: %s}) { %s }\n", sent,
			d.bind("[ID!]!", remove), seen)
	}

	var data map[string]*struct{ Labelable json.RawMessage }
	writes := c.transport.writes.Load() + 1
	got, err := c.ask(ctx, d.operation("mutation Relabel", issueFields(c.api, much)+pullRequestFields(much)),
		d.variables, &data)
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

// issueAfter is the selection by which the payload of a mutation shows an issue as it is then, for
// takeAfter.
func (c *Client) issueAfter(d *document, i claim.Issue) string {
	repository := c.repositoryAfter(d, i)
	return "{ __typename ... on Issue { ...I " + repository + " } ... on PullRequest { ...Q " + repository + " } }"
}

// repositoryAfter is the part of it about the repository.
func (c *Client) repositoryAfter(d *document, i claim.Issue) string {
	tip := document{declared: d.declared, variables: d.variables}
	names := names(c.o.Scheme, &tip)
	if c.tips.leases.Load() {
		tip.add("    id\n")
		tip.tip(0, i)
	}

	d.declared = tip.declared
	return "repository { nameWithOwner\n" + names + tip.body.String() + "  }"
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

// Minimize implements ledger.Minimizer. Comments that were not read by GraphQL are left alone,
// those that are gone, or were minimized meanwhile, are no error. A token that may not minimize is
// a *PermissionError.
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
