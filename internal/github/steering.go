package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

// MayLabel reports whether a login may steer a repository: its records count there (spec.md#which-records-count). What GitHub says
// of the author's association is never asked.
func (c *Client) MayLabel(ctx context.Context, r ledger.Repo, login string) (bool, error) {
	return c.counts(ctx, account{repo: r, login: login})
}

// LastRemoval returns the latest removal of a label from an issue, zero when there was none
// among the last hundred removals of labels.
func (c *Client) LastRemoval(ctx context.Context, i claim.Issue, label string) (ledger.Removal, error) {
	return c.lastMove(ctx, i, label, moves{"UNLABELED_EVENT", "UnlabeledEvent", "unlabeled"})
}

// LastAddition returns when a label was last put on an issue, zero when it was not among the last hundred
// labels that were.
func (c *Client) LastAddition(ctx context.Context, i claim.Issue, label string) (ledger.Removal, error) {
	return c.lastMove(ctx, i, label, moves{"LABELED_EVENT", "LabeledEvent", "labeled"})
}

// moves are GitHub's words for one kind of change of a label: of a timeline's item and its type, and of an event.
type moves struct{ item, kind, event string }

func (c *Client) lastMove(ctx context.Context, i claim.Issue, label string, of moves) (ledger.Removal, error) {
	var out ledger.Removal
	err := nameable(i)
	if err == nil {
		err = c.eitherWay(
			func() (err error) { out, err = c.queryMove(ctx, i, label, of); return err },
			func() (err error) { out, err = c.restMove(ctx, i, label, of); return err })
	}
	if err != nil {
		return ledger.Removal{}, fmt.Errorf("read label events of %s: %w", i, missing(err, "issue "+i.String()))
	}
	return out, nil
}

func (c *Client) queryMove(ctx context.Context, i claim.Issue, label string, of moves) (ledger.Removal, error) {
	d := newDocument()
	d.open("r", ledger.Repo{Owner: i.Owner, Name: i.Repo})
	gone := fmt.Sprintf("gone: timelineItems(last: 100, itemTypes: [%s]) { nodes { ... on %s { createdAt label { name } actor { __typename login } } } }", of.item, of.kind)
	d.add("    subject: issueOrPullRequest(number: %d) { ... on Issue { %s } ... on PullRequest { %s } }\n  }\n", i.Number, gone, gone)
	var data map[string]*struct {
		Subject *struct {
			Gone connection[struct {
				CreatedAt time.Time
				Label     named
				Actor     *actor
			}]
		}
	}
	got, err := c.ask(ctx, d.text(""), d.variables, &data)
	if err != nil {
		return ledger.Removal{}, err
	}
	if data["r"] == nil || data["r"].Subject == nil {
		return ledger.Removal{}, got.absence("r")
	}
	var last ledger.Removal
	for _, e := range data["r"].Subject.Gone.Nodes {
		if e != nil && labels.Same(e.Label.Name, label) {
			last = ledger.Removal{By: e.Actor.name(), Person: e.Actor != nil && e.Actor.Typename == "User", At: e.CreatedAt.UTC()}
		}
	}
	return last, nil
}

func (c *Client) restMove(ctx context.Context, i claim.Issue, label string, of moves) (ledger.Removal, error) {
	path, err := onIssue(i, "/events?per_page=100")
	if err != nil {
		return ledger.Removal{}, err
	}
	type event struct {
		Event     string
		CreatedAt time.Time `json:"created_at"`
		Label     named
		Actor     *struct{ Login, Type string }
	}
	events, _, err := list[event](ctx, c, path)
	var last ledger.Removal
	for _, e := range events {
		if e.Event == of.event && labels.Same(e.Label.Name, label) && e.Actor != nil {
			last = ledger.Removal{By: e.Actor.Login, Person: e.Actor.Type == "User", At: e.CreatedAt.UTC()}
		}
	}
	return last, err
}

// Blocking lists the issues that wait for this one (spec.md#further-labels): by GitHub's own dependencies,
// and by their text those of the same repository that have the blocked label. What Blockers leaves
// unread, or the server does not know, is nothing.
func (c *Client) Blocking(ctx context.Context, i claim.Issue) ([]claim.Issue, error) {
	native, err := c.nativeBlocking(ctx, i)
	if err != nil || c.o.Blockers.TextOff {
		return native, err
	}
	asleep, err := c.OpenIssues(ctx, ledger.Repo{Owner: i.Owner, Name: i.Repo}, c.scheme.Blocked)
	if err != nil {
		return native, fmt.Errorf("list what waits for %s: %w", i, err)
	}
	for _, one := range asleep {
		w := claim.Issue{Owner: i.Owner, Repo: i.Repo, Number: one.Number}
		if slices.ContainsFunc(namedBlockers(one.Body, w, c.o.Web), i.Same) && !slices.ContainsFunc(native, w.Same) {
			native = append(native, w)
		}
	}
	return native, nil
}

func (c *Client) nativeBlocking(ctx context.Context, i claim.Issue) ([]claim.Issue, error) {
	if !c.has(featureDependencies) {
		return nil, nil
	}
	path, err := onIssue(i, "/dependencies/blocking?per_page=100")
	var found []restIssue
	if err == nil {
		found, _, err = list[restIssue](ctx, c, path)
	}
	var gone *NotFoundError
	switch {
	case errors.As(err, &gone):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list what waits for %s: %w", i, err)
	}
	out := make([]claim.Issue, 0, len(found))
	for _, one := range found {
		from := one.repo()
		out = append(out, claim.Issue{Owner: from.Owner, Repo: from.Name, Number: one.Number})
	}
	return out, nil
}

// Denied reports whether the token was made without the right to do this, so that the same kind
// of write fails everywhere: a workflow's or an app's token without a permission.
func (e *PermissionError) Denied() bool {
	return e.Write && e.ofToken()
}

// ofToken reports whether the token lacks a permission, rather than its login a role.
func (e *PermissionError) ofToken() bool {
	return strings.HasPrefix(e.Message, "Resource not accessible by")
}
