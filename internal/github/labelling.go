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
)

// labelling puts labels on issues and takes them off.
type labelling struct {
	api         *api
	definitions *definitions
}

// AddLabel puts a label on an issue. GitHub would create a name it does not know, in grey; so a
// label of the scheme that is missing is created properly first, and any other is refused.
func (lb *labelling) AddLabel(ctx context.Context, i claim.Issue, name string) error {
	to := onIssue(i, "/labels")
	if to.err == nil {
		to.err = lb.definitions.ensureLabel(ctx, ledger.Repo{Owner: i.Owner, Name: i.Repo}, name)
	}
	var got []named
	_, err := lb.api.send(hinted(ctx, repeatable), http.MethodPost, to, map[string][]string{"labels": {name}}, &got)
	if err == nil && !slices.ContainsFunc(got, func(l named) bool { return labels.Same(l.Name, name) }) {
		err = &AnswerError{Status: http.StatusOK, Reason: "the label is not in it"}
	}
	return failed(err, Object{IssueObject, i.String()}, "add label %q to %s", name, i)
}

// RemoveLabel takes a label off an issue; one that is not there is success.
func (lb *labelling) RemoveLabel(ctx context.Context, i claim.Issue, name string) error {
	escaped, err := labelName(name)
	if err == nil {
		_, err = lb.api.send(ctx, http.MethodDelete, onIssue(i, "/labels/%s", escaped), nil, nil)
	}
	if gone, is := errors.AsType[*NotFoundError](err); is && gone.Message == "Label does not exist" {
		return nil
	}
	return failed(err, Object{IssueObject, i.String()}, "remove label %q from %s", name, i)
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

func (lb *labelling) lastMove(ctx context.Context, i claim.Issue, label string, of moves) (out ledger.Removal, err error) {
	if err = nameable(i); err == nil {
		out, err = either(lb.api,
			func() (last ledger.Removal, err error) {
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
					return last, err
				}
				if data["r"] == nil || data["r"].Subject == nil {
					return last, got.absence("r")
				}
				for e := range data["r"].Subject.Gone.shown() {
					if labels.Same(e.Label.Name, label) {
						last = ledger.Removal{By: e.Actor.name(), Person: e.Actor != nil && e.Actor.Typename == "User", At: e.CreatedAt.UTC()}
					}
				}
				return last, nil
			},
			func() (last ledger.Removal, err error) {
				events, _, err := list[restEvent](ctx, lb.api, onIssue(i, "/events?per_page=100"))
				for _, e := range events {
					if e.Event == of.event && labels.Same(e.Label.Name, label) && e.Actor != nil {
						last = ledger.Removal{By: e.Actor.Login, Person: e.Actor.Type == "User", At: e.CreatedAt.UTC()}
					}
				}
				return last, err
			})
	}
	return out, failed(err, Object{IssueObject, i.String()}, "read label events of %s", i)
}
