package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/ledger"
)

// An Issue is what GitHub says about an issue to people: texts and labels, nothing that decides.
type Issue struct {
	Number           int
	PullRequest      bool
	Open             bool
	Title, Body, URL string // a body that was never written is empty
	Labels           []string
	Assignees        []string
	Milestone        string
	Author           string
	Created, Updated time.Time
}

// queuedIssue is the issue object of REST as a work list needs it.
type queuedIssue struct {
	restIssue
	User      *restUser `json:"user"`
	Milestone *struct {
		Title string `json:"title"`
	} `json:"milestone"`
}

// issue is what it says; an answer that lacks what makes it an issue is an error.
func (q queuedIssue) issue() (Issue, error) {
	if q.Number < 1 || q.State == "" || q.CreatedAt.IsZero() {
		return Issue{}, &AnswerError{Status: http.StatusOK, Reason: "it is not an issue"}
	}
	out := Issue{
		Number: q.Number, PullRequest: q.PullRequest != nil, Open: q.State == "open", Title: q.Title, Body: q.Body, URL: q.HTMLURL,
		Labels: append([]string{}, q.labels()...), Assignees: append([]string{}, q.assignees()...), Author: q.User.name(), Created: q.CreatedAt.UTC(), Updated: q.UpdatedAt.UTC(),
	}
	if q.Milestone != nil {
		out.Milestone = q.Milestone.Title
	}
	return out, nil
}

// issues reads what issues say to people, and writes their state.
type issues struct {
	api          *api
	repositories *repositories
	beginnings   *beginnings
	scheme       labels.Scheme
}

// OpenIssues lists the open issues with a label, each once, oldest first; a hundred a request. Pull
// requests are left out. The label holds no comma: to REST that is two labels.
func (is *issues) OpenIssues(ctx context.Context, r ledger.Repo, label string) ([]Issue, error) {
	if to := at(r.Owner, r.Name, ""); to.err != nil {
		return nil, fmt.Errorf("list issues of %s: %w", r, to.err)
	}
	all, err := either(is.api,
		func() ([]Issue, error) {
			begun := is.beginnings.takeBegun(func(b *beginning) bool { return b.label != "" && b.label == label && b.repo == r })
			var found []Issue
			next := ""
			if begun != nil {
				found, next = begun.open, begun.after
			}
			for more := begun == nil || next != ""; more; more = next != "" {
				page, after, err := is.queryOpenPage(ctx, r, label, next)
				switch {
				case err != nil:
					return nil, err
				case after != "" && after == next:
					return nil, &AnswerError{Status: http.StatusOK, Reason: "its pages lead back to an earlier one"}
				}
				found, next = append(found, page...), after
			}
			return found, nil
		},
		func() (out []Issue, err error) {
			to := at(r.Owner, r.Name, "/issues").where("state", "open", "labels", label, "sort", "created", "direction", "asc", "per_page", "100")
			found, _, err := list[queuedIssue](ctx, is.api, to)
			for _, q := range found {
				i, err := q.issue()
				if err != nil {
					return nil, err
				}
				out = append(out, i)
			}
			return out, err
		})
	if err != nil {
		return nil, fmt.Errorf("list issues of %s: %w", r, missing(err, Object{RepositoryObject, r.String()}))
	}
	out := []Issue{}
	for _, i := range all {
		if !i.PullRequest && !slices.ContainsFunc(out, func(o Issue) bool { return o.Number == i.Number }) {
			out = append(out, i)
		}
	}
	return out, nil
}

// openFields are what is read of an issue of a work list. GitHub allows a hundred labels.
const openFields = `__typename number title body url state createdAt updatedAt author { __typename login }
      labels(first: 100) { totalCount nodes { name } } milestone { title } `

// queryOpenPage reads one page of a work list; next is empty after the last one.
func (is *issues) queryOpenPage(ctx context.Context, r ledger.Repo, label, after string) (found []Issue, next string, err error) {
	d := newDocument()
	d.open("r0", r)
	is.repositories.askAlong(d, r)
	from := ""
	if after != "" {
		from = ", after: " + d.bind("String", after)
	}
	d.add("    open: issues(labels: [%s], states: [OPEN], first: %d%s, orderBy: {field: CREATED_AT, direction: ASC}) {\n"+
		"      pageInfo { hasNextPage endCursor } nodes { %s }\n    }\n  }\n", d.bind("String!", label), perPage, from, openFields+assigneeFields(is.api))
	var data map[string]json.RawMessage
	got, err := is.api.ask(ctx, d.text(""), d.variables, &data)
	if err != nil {
		return nil, "", err
	}
	s := sheet{repo: r, alias: "r0", partial: got}
	if s.read(data); s.err != nil {
		return nil, "", s.err
	}
	is.repositories.noteAlong(s)
	var page *connection[queuedQuery]
	if err := json.Unmarshal(s.fields["open"], &page); err != nil || page == nil || s.failed("open", Object{}) != nil {
		return nil, "", &AnswerError{Status: http.StatusOK, Reason: "the list of issues is missing"}
	}
	for _, q := range page.Nodes {
		i, err := q.issue()
		if err != nil {
			return nil, "", err
		}
		found = append(found, i)
	}
	if page.PageInfo.HasNextPage {
		next = page.PageInfo.EndCursor
	}
	return found, next, nil
}

// queuedQuery is an issue of GraphQL as a work list needs it.
type queuedQuery struct {
	queryIssue
	CreatedAt time.Time
	Author    *actor
	Milestone *struct{ Title string }
}

// issue is what it says; an answer that lacks what makes it an issue is an error.
func (q *queuedQuery) issue() (Issue, error) {
	if q == nil || q.Number < 1 || q.State == "" || q.CreatedAt.IsZero() {
		return Issue{}, &AnswerError{Status: http.StatusOK, Reason: "it is not an issue"}
	}
	out := Issue{
		Number: q.Number, Open: q.State == "OPEN", Title: q.Title, Body: q.Body, URL: q.URL,
		Labels: []string{}, Assignees: []string{}, Author: q.Author.name(), Created: q.CreatedAt.UTC(), Updated: q.UpdatedAt.UTC(),
	}
	names, err := q.Labels.all("labels")
	if err != nil {
		return out, err
	}
	for _, l := range names {
		out.Labels = append(out.Labels, l.Name)
	}
	people, err := q.Assignees.all("assignees")
	if err != nil {
		return out, err
	}
	for _, a := range people {
		out.Assignees = append(out.Assignees, a.Login)
	}
	if q.Milestone != nil {
		out.Milestone = q.Milestone.Title
	}
	return out, nil
}

// Issue reads one issue, or the pull request of that number.
func (is *issues) Issue(ctx context.Context, i claim.Issue) (out Issue, err error) {
	q, _, err := fetch[queuedIssue](ctx, is.api, onIssue(i, ""))
	if err == nil {
		out, err = q.issue()
	}
	return out, failed(err, Object{IssueObject, i.String()}, "read %s", i)
}

// CloseCompleted closes an issue as completed; one that is closed already stays so.
func (is *issues) CloseCompleted(ctx context.Context, i claim.Issue) error {
	_, err := is.api.send(ctx, http.MethodPatch, onIssue(i, ""), map[string]string{"state": "closed", "state_reason": "completed"}, nil)
	return failed(err, Object{IssueObject, i.String()}, "close %s", i)
}

// Assign assigns a login to an issue. GitHub drops a login that cannot be assigned without a word, and so does this.
func (is *issues) Assign(ctx context.Context, i claim.Issue, login string) error {
	_, err := is.api.send(ctx, http.MethodPost, onIssue(i, "/assignees"), map[string][]string{"assignees": {login}}, nil)
	return failed(err, Object{IssueObject, i.String()}, "assign %s to %s", login, i)
}

// Unassign takes a login off an issue; one that is not assigned is success.
func (is *issues) Unassign(ctx context.Context, i claim.Issue, login string) error {
	_, err := is.api.send(ctx, http.MethodDelete, onIssue(i, "/assignees"), map[string][]string{"assignees": {login}}, nil)
	return failed(err, Object{IssueObject, i.String()}, "take %s off %s", login, i)
}
