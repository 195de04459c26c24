package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
)

// labelCommand puts a label on an issue; what says so before it.
func labelCommand(what, number, repo, label string) string {
	return fmt.Sprintf("%s: gh issue edit %s --repo %s --add-label %s", what, number, repo, ShellWord(label))
}

// FirstCommand is the line for who has no ready issue yet.
func (c *Call) FirstCommand() string {
	return labelCommand("label an issue", "NUMBER", c.Session.Repo.String(), c.queue())
}

// LabelsFirst is the line for a repository that lacks the label of the queue: no issue can be given it. Empty where it is there.
func (c *Call) LabelsFirst(ctx context.Context) (string, error) {
	have, err := c.Session.Client.Labels(ctx, c.Session.Repo)
	if err != nil {
		return "", err
	}
	queue := c.queue()
	if slices.ContainsFunc(have, func(l labels.Definition) bool { return labels.Same(l.Name, queue) }) {
		return "", nil
	}
	return fmt.Sprintf(makeLabels, c.Session.Repo) + c.FirstCommand(), nil
}

// ReadyFirst is the line for an issue in a repository that lacks the label of the queue, as far as what was read tells. Empty where it is
// there, and of what cannot be in the queue.
func (c *Call) ReadyFirst(f lifecycle.Facts, v lifecycle.Verdict) string {
	r := ledger.Repo{Owner: f.Issue.Owner, Name: f.Issue.Repo}
	if v.Answer != lifecycle.Free || f.PullRequest || !c.Session.Client.Lacks(r, c.queue()) {
		return ""
	}
	return fmt.Sprintf(makeLabels, r) + labelCommand("label it", strconv.Itoa(f.Issue.Number), r.String(), c.queue())
}

func (c *Call) queue() string { return c.Session.Ledger.Rules().Scheme.Queues()[0] }

// makeLabels is what comes first in a repository that lacks them.
const makeLabels = "make the labels: label-state labels sync %s; then "
