package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	gogithub "github.com/google/go-github/v62/github"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

// labelling puts labels on issues and takes them off.
type labelling struct {
	api         *api
	definitions *definitions
}

// AddLabel puts a label on an issue. GitHub would create a name it does not know, in grey; so a
// label of the scheme that is missing is created properly first, and any other is refused.
func (lb *labelling) AddLabel(ctx context.Context, i claim.Issue, name string) error {
	path, err := onIssue(i, "/labels")
	if err == nil {
		err = lb.definitions.ensureLabel(ctx, ledger.Repo{Owner: i.Owner, Name: i.Repo}, name)
	}
	var got []*gogithub.Label
	if err == nil {
		body := map[string][]string{"labels": {name}} // go-github sends the bare list, which GitHub no longer describes
		_, err = lb.api.Do(hinted(ctx, repeatable), http.MethodPost, path, body, &got)
		err = missing(Cause(err), "issue "+i.String())
	}
	if err == nil && !slices.ContainsFunc(got, func(l *gogithub.Label) bool { return labels.Same(l.GetName(), name) }) {
		err = &AnswerError{Status: http.StatusOK, Reason: "the label is not in it"}
	}
	if err != nil {
		return fmt.Errorf("add label %q to %s: %w", name, i, err)
	}
	return nil
}

// RemoveLabel takes a label off an issue; one that is not there is success.
func (lb *labelling) RemoveLabel(ctx context.Context, i claim.Issue, name string) error {
	escaped, err := labelName(name)
	if err == nil {
		_, err = onIssue(i, "")
	}
	if err == nil {
		_, err = lb.api.rest.Issues.RemoveLabelForIssue(ctx, i.Owner, i.Repo, i.Number, escaped)
		err = missing(Cause(err), "issue "+i.String())
	}
	var gone *NotFoundError
	if errors.As(err, &gone) && gone.Message == "Label does not exist" {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove label %q from %s: %w", name, i, err)
	}
	return nil
}

// LastRemoval returns the latest removal of a label from an issue, zero when there was none
// among the last hundred removals of labels.
func (lb *labelling) LastRemoval(ctx context.Context, i claim.Issue, label string) (ledger.Removal, error) {
	return lb.lastMove(ctx, i, label, moves{"UNLABELED_EVENT", "UnlabeledEvent", "unlabeled"})
}

// LastAddition returns when a label was last put on an issue, zero when it was not among the last hundred
// labels that were.
func (lb *labelling) LastAddition(ctx context.Context, i claim.Issue, label string) (ledger.Removal, error) {
	return lb.lastMove(ctx, i, label, moves{"LABELED_EVENT", "LabeledEvent", "labeled"})
}

// moves are GitHub's words for one kind of change of a label: of a timeline's item and its type, and of an event.
type moves struct{ item, kind, event string }

func (lb *labelling) lastMove(ctx context.Context, i claim.Issue, label string, of moves) (ledger.Removal, error) {
	var out ledger.Removal
	err := nameable(i)
	if err == nil {
		err = lb.api.eitherWay(
			func() (err error) { out, err = lb.queryMove(ctx, i, label, of); return err },
			func() (err error) { out, err = lb.restMove(ctx, i, label, of); return err })
	}
	if err != nil {
		return ledger.Removal{}, fmt.Errorf("read label events of %s: %w", i, missing(err, "issue "+i.String()))
	}
	return out, nil
}

func (lb *labelling) queryMove(ctx context.Context, i claim.Issue, label string, of moves) (ledger.Removal, error) {
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
	got, err := lb.api.ask(ctx, d.text(""), d.variables, &data)
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

func (lb *labelling) restMove(ctx context.Context, i claim.Issue, label string, of moves) (ledger.Removal, error) {
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
	events, _, err := list[event](ctx, lb.api, path)
	var last ledger.Removal
	for _, e := range events {
		if e.Event == of.event && labels.Same(e.Label.Name, label) && e.Actor != nil {
			last = ledger.Removal{By: e.Actor.Login, Person: e.Actor.Type == "User", At: e.CreatedAt.UTC()}
		}
	}
	return last, err
}
