package githubsim

import (
	"context"
	"strings"
)

// echo is what every payload has: the client's own id of the mutation.
type echo struct{ ClientMutationID *string }

// mutating starts a transaction of its own for one field of a mutation.
func mutating(ctx context.Context) *call {
	c := callOf(ctx)
	c.journal.begin(c.journal.at)
	return c
}

// object returns the object of that global id, if it is of the wanted kind.
func find[T any](c *call, id globalID) (T, error) {
	var zero T
	n, err := c.node(id)
	if err != nil {
		return zero, err
	}

	value, ok := n.value.(T)
	if !ok {
		return zero, unresolved("a node with the global id of '%s'.", id)
	}

	return value, nil
}

// subject is the issue or pull request of that global id.
func (c *call) subject(id globalID) (*thread, error) {
	n, err := c.node(id)
	if err != nil {
		return nil, err
	}

	switch g := n.value.(type) {
	case *gqlIssue:
		return g.t, nil
	case *gqlPull:
		return g.t, nil
	}

	return nil, unresolved("a node with the global id of '%s'.", id)
}

type addCommentPayload struct {
	echo
	CommentEdge *gqlEdge[*gqlComment]
	Subject     *gqlNode
}

// AddComment posts a comment.
func (*rootResolver) AddComment(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		SubjectID        globalID
		Body             string
	}
},
) (*addCommentPayload, error) {
	c := mutating(ctx)
	t, err := c.subject(args.Input.SubjectID)
	if err != nil {
		return nil, err
	}
	if err := c.mutates(t.repo, eitherWrite); err != nil {
		return nil, err
	}

	m, err := c.addComment(c.who, t, args.Input.Body)
	if err != nil {
		return nil, err
	}

	node, err := c.node(args.Input.SubjectID)
	if err != nil {
		return nil, err
	}

	return &addCommentPayload{
		echo{args.Input.ClientMutationID},
		&gqlEdge[*gqlComment]{cursorOf(m.id), &gqlComment{c, m}}, node,
	}, nil
}

type updateCommentPayload struct {
	echo
	IssueComment *gqlComment
}

// UpdateIssueComment edits a comment.
func (*rootResolver) UpdateIssueComment(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		ID               globalID
		Body             string
	}
},
) (*updateCommentPayload, error) {
	c := mutating(ctx)
	g, err := find[*gqlComment](c, args.Input.ID)
	if err != nil {
		return nil, err
	}
	if err := c.mutates(g.m.thread.repo, eitherWrite); err != nil {
		return nil, err
	}

	m, err := c.editComment(c.who, g.m, args.Input.Body)
	if err != nil {
		return nil, err
	}

	return &updateCommentPayload{echo{args.Input.ClientMutationID}, &gqlComment{c, m}}, nil
}

// DeleteIssueComment deletes a comment.
func (*rootResolver) DeleteIssueComment(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		ID               globalID
	}
},
) (*echo, error) {
	c := mutating(ctx)
	g, err := find[*gqlComment](c, args.Input.ID)
	if err != nil {
		return nil, err
	}
	if err := c.mutates(g.m.thread.repo, eitherWrite); err != nil {
		return nil, err
	}
	if err := c.store.deleteComment(c.who, g.m); err != nil {
		return nil, err
	}

	return &echo{args.Input.ClientMutationID}, nil
}

type minimizePayload struct {
	echo
	MinimizedComment *gqlComment
}

// MinimizeComment hides a comment.
func (*rootResolver) MinimizeComment(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		SubjectID        globalID
		Classifier       string
	}
},
) (*minimizePayload, error) {
	reason := strings.ReplaceAll(strings.ToLower(args.Input.Classifier), "_", "-")
	g, err := minimize(ctx, args.Input.SubjectID, reason)
	return &minimizePayload{echo{args.Input.ClientMutationID}, g}, err
}

type unminimizePayload struct {
	echo
	UnminimizedComment *gqlComment
}

// UnminimizeComment shows a hidden comment again.
func (*rootResolver) UnminimizeComment(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		SubjectID        globalID
	}
},
) (*unminimizePayload, error) {
	g, err := minimize(ctx, args.Input.SubjectID, "")
	return &unminimizePayload{echo{args.Input.ClientMutationID}, g}, err
}

func minimize(ctx context.Context, id globalID, reason string) (*gqlComment, error) {
	c := mutating(ctx)
	g, err := find[*gqlComment](c, id)
	if err != nil {
		return nil, err
	}

	needed := "issues=write"
	if g.m.thread.state.now().pull != nil {
		needed = eitherWrite
	}

	if err := c.mutates(g.m.thread.repo, needed); err != nil {
		return nil, err
	}
	m, err := c.store.minimize(c.who, g.m, reason)
	if err != nil {
		return nil, err
	}

	return &gqlComment{c, m}, nil
}

type labelablePayload struct {
	echo
	Labelable *gqlSubject
}

type labelableArgs struct {
	Input struct {
		ClientMutationID *string
		LabelableID      globalID
		LabelIDs         []globalID
	}
}

// AddLabelsToLabelable puts labels on an issue.
func (*rootResolver) AddLabelsToLabelable(ctx context.Context, args labelableArgs) (*labelablePayload, error) {
	return relabel(ctx, args, union)
}

// RemoveLabelsFromLabelable takes labels off an issue; those that it does not have are not an
// error.
func (*rootResolver) RemoveLabelsFromLabelable(ctx context.Context, args labelableArgs) (*labelablePayload, error) {
	return relabel(ctx, args, without)
}

// relabel changes an issue's labels by what combine makes of those that it has and those that were
// sent.
func relabel(ctx context.Context, args labelableArgs,
	combine func(have, sent []int64) []int64,
) (*labelablePayload, error) {
	c := mutating(ctx)
	t, err := c.subject(args.Input.LabelableID)
	if err != nil {
		return nil, err
	}
	if err := c.mutates(t.repo, eitherWrite); err != nil {
		return nil, err
	}
	if err := c.who.need(t.repo, roleTriage); err != nil {
		return nil, err
	}

	var sent []int64
	for _, id := range args.Input.LabelIDs {
		g, err := find[*gqlLabel](c, id)
		if err != nil {
			return nil, err
		}
		if g.r != t.repo {
			return nil, unresolved("a node with the global id of '%s'.", id)
		}

		sent = append(sent, g.l.id)
	}

	if err := c.setLabels(c.who, t, combine(t.state.now().labels, sent)); err != nil {
		return nil, err
	}

	return &labelablePayload{echo{args.Input.ClientMutationID}, &gqlSubject{gqlThread{c, t, t.state.now()}}}, nil
}

type reactionPayload struct {
	echo
	Reaction *gqlReaction
}

// AddReaction reacts to a comment.
func (*rootResolver) AddReaction(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		SubjectID        globalID
		Content          string
	}
},
) (*reactionPayload, error) {
	c := mutating(ctx)
	g, err := find[*gqlComment](c, args.Input.SubjectID)
	if err != nil {
		return nil, err
	}

	content := strings.ToLower(args.Input.Content)
	switch content {
	case "thumbs_up":
		content = "+1"
	case "thumbs_down":
		content = "-1"
	}

	if err := c.mutates(g.m.thread.repo, "issues=write"); err != nil {
		return nil, err
	}
	r, _, err := c.react(c.who, g.m, content)
	if err != nil {
		return nil, err
	}

	return &reactionPayload{echo{args.Input.ClientMutationID}, &gqlReaction{c, r}}, nil
}

type pullPayload struct {
	echo
	PullRequest *gqlPull
}

type pullArgs struct {
	Input struct {
		ClientMutationID *string
		PullRequestID    globalID
	}
}

// ConvertPullRequestToDraft makes a pull request a draft.
func (*rootResolver) ConvertPullRequestToDraft(ctx context.Context, args pullArgs) (*pullPayload, error) {
	return changePull(ctx, args, (*store).convertToDraft)
}

// MarkPullRequestReadyForReview makes a draft an ordinary pull request.
func (*rootResolver) MarkPullRequestReadyForReview(ctx context.Context, args pullArgs) (*pullPayload, error) {
	return changePull(ctx, args, (*store).markReady)
}

func changePull(ctx context.Context, args pullArgs, change func(*store, actor, *thread) error) (*pullPayload, error) {
	c := mutating(ctx)
	g, err := find[*gqlPull](c, args.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	if err := c.mutates(g.t.repo, "pull_requests=write"); err != nil {
		return nil, err
	}
	if err := change(c.store, c.who, g.t); err != nil {
		return nil, err
	}

	return &pullPayload{echo{args.Input.ClientMutationID}, &gqlPull{gqlThread{c, g.t, g.t.state.now()}}}, nil
}

type issuePayload struct {
	echo
	Issue *gqlIssue
}

// CloseIssue closes an issue.
func (*rootResolver) CloseIssue(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		IssueID          globalID
		StateReason      *string
	}
},
) (*issuePayload, error) {
	reason := ""
	if args.Input.StateReason != nil {
		reason = strings.ToLower(*args.Input.StateReason)
	}
	return changeState(ctx, args.Input.ClientMutationID, args.Input.IssueID, "closed", reason)
}

// ReopenIssue opens a closed issue again.
func (*rootResolver) ReopenIssue(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		IssueID          globalID
	}
},
) (*issuePayload, error) {
	return changeState(ctx, args.Input.ClientMutationID, args.Input.IssueID, "open", "")
}

func changeState(ctx context.Context, client *string, id globalID, state, reason string) (*issuePayload, error) {
	c := mutating(ctx)
	g, err := find[*gqlIssue](c, id)
	if err != nil {
		return nil, err
	}
	if err := c.mutates(g.t.repo, eitherWrite); err != nil {
		return nil, err
	}
	if err := c.setState(c.who, g.t, state, reason); err != nil {
		return nil, err
	}

	return &issuePayload{echo{client}, &gqlIssue{gqlThread{c, g.t, g.t.state.now()}}}, nil
}
