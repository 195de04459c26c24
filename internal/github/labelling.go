package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/protocol"
)

// AddLabel puts a label on an issue. GitHub would create a name it does not know, in grey; so a
// label of the scheme that is missing is created properly first, and any other is refused.
func (c *Client) AddLabel(ctx context.Context, i claim.Issue, name string) error {
	to := onIssue(i, "/labels")
	if to.err == nil {
		to.err = c.ensureLabel(ctx, i.In(), name)
	}

	var got []named
	_, err := c.send(hinted(ctx, repeatable), http.MethodPost, to, map[string][]string{"labels": {name}}, &got)
	if err == nil && !slices.ContainsFunc(got, func(l named) bool { return labels.Same(l.Name, name) }) {
		err = unusable("the label is missing")
	}

	return failed(err, "add label %q to %s", name, i)
}

// RemoveLabel takes a label off an issue; one that is not there is success.
func (c *Client) RemoveLabel(ctx context.Context, i claim.Issue, name string) error {
	_, err := c.send(ctx, http.MethodDelete, onIssue(i, "").label(name), nil, nil)
	if gone, is := errors.AsType[*NotFoundError](err); is && gone.Message == "Label does not exist" {
		return nil
	}

	return failed(err, "remove label %q from %s", name, i)
}

// LastMove returns when a label was last put on an issue, or taken off, and by whom; zero when that
// was not among the last hundred such moves of labels.
func (c *Client) LastMove(ctx context.Context, i claim.Issue, m protocol.LabelMoved) (last ledger.Removal, err error) {
	if err := nameable(i); err != nil {
		return last, failed(err, "read label events of %s", i)
	}

	item, kind := "UNLABELED_EVENT", "UnlabeledEvent" // GitHub's words for the move and its type
	if m.On {
		item, kind = "LABELED_EVENT", "LabeledEvent"
	}

	d := newDocument()
	moves := fmt.Sprintf("moves: timelineItems(last: 100, itemTypes: [%s]) { nodes { ... on %s { createdAt label { name } actor { __typename login } } } }", item, kind)
	d.add("    subject: issueOrPullRequest(number: %d) { ... on Issue { %s } ... on PullRequest { %s } }\n",
		i.Number, moves, moves)
	var found connection[struct {
		CreatedAt time.Time
		Label     named
		Actor     *actor
	}]
	if _, err := c.askIn(ctx, i.In(), d, &found, "subject", "moves"); err != nil {
		return last, failed(missing(err, issueObject(i)), "read label events of %s", i)
	}

	for e := range found.shown() {
		if labels.Same(e.Label.Name, m.Label) {
			last = ledger.Removal{
				By: e.Actor.name(), Person: e.Actor != nil && e.Actor.Typename == "User",
				At: e.CreatedAt.UTC(),
			}
		}
	}

	return last, nil
}
