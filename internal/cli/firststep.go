package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/trouble"
)

// FirstCommand is the line for somebody who has no ready issue yet.
func (c *Call) FirstCommand() answer.Command {
	return trouble.LabelIssue("label an issue", "NUMBER", c.Session.Repo.String(), c.queue())
}

// LabelsFirst is the line for a repository that lacks the label of the queue: no issue can be given
// it. In a fork, the issues are likelier its parent's. Empty where the label is there.
func (c *Call) LabelsFirst(ctx context.Context) ([]answer.Command, error) {
	have, err := c.Session.Client.Labels(ctx, c.Session.Repo)
	if err != nil {
		return nil, err
	}

	queue := c.queue()
	if slices.ContainsFunc(have, func(l labels.Definition) bool { return labels.Same(l.Name, queue) }) {
		return nil, nil
	}

	if parents := c.ParentFirst(ctx); parents != nil {
		return parents, nil
	}

	first := c.FirstCommand()
	first.When = "then " + first.When
	return trouble.Then(c.makeLabels(c.Session.Repo), first), nil
}

// ReadyFirst is the line for an issue in a repository that lacks the label of the queue, as far as
// what was read tells. Empty where it is there, and of what cannot be in the queue.
func (c *Call) ReadyFirst(f lifecycle.Facts, v lifecycle.Verdict) string {
	r := f.Issue.In()
	if v.Answer != lifecycle.Free || f.PullRequest || !c.Session.Client.Lacks(r, c.queue()) {
		return ""
	}
	label := trouble.LabelIssue("then label it", strconv.Itoa(f.Issue.Number), r.String(), c.queue())
	return Words(trouble.Then(c.makeLabels(r), label))
}

func (c *Call) queue() string { return c.Rules().Scheme.Queues()[0] }

// ParentFirst is the line for the clone of a fork, whose issues are likelier its parent's. Empty
// for another repository, and where it is not known.
func (c *Call) ParentFirst(ctx context.Context) []answer.Command {
	if c.Session.Tree == "" {
		return nil
	}

	r, err := c.Session.Client.Repository(ctx, c.Session.Repo)
	if err != nil || r.Parent == (claim.Repo{}) {
		return nil
	}
	return trouble.Then(MeansParent(r.Parent))
}

// orParent adds to the error of an issue that was not found, and not named in full, that the clone
// is a fork's.
func (c *Call) orParent(ctx context.Context, err error) error {
	none, is := errors.AsType[*github.NotFoundError](err)
	if !is || none.What.Kind != github.IssueObject || none.Write || strings.Contains(c.Issue, "/") {
		return err
	}

	first := c.ParentFirst(ctx)
	if first == nil {
		return err
	}

	check := answer.Call("else check the name and the number", "doctor", c.Session.Repo.String())
	return Advise(err, append(first, check)...)
}

// MeansParent has a fork's clone be about the issues of its parent.
func MeansParent(parent claim.Repo) answer.Command {
	return answer.Shell("this is a fork; if the issues are its parent's", "git", "config", "label-state.repo",
		parent.String())
}

// makeLabels is what comes first in a repository that lacks them. The name that only an agent's
// entry gives its queue is none of those that labels sync knows.
func (c *Call) makeLabels(r claim.Repo) answer.Command {
	if own := c.Source.Ready; own != "" && own == c.queue() {
		return answer.Shell("create this agent's queue label", "gh", "label", "create", own, "--repo", r.String())
	}
	return answer.Call("make the labels", "labels sync", r.String())
}
