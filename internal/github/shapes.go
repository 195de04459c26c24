package github

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

const botSuffix = "[bot]"

// Ghost is the login that GitHub shows for accounts that are gone.
const Ghost = "ghost"

// A portion is how long the lists of one issue may be that a query asks for.
type portion struct{ labels, comments, closing, blockers int }

// ofOne is asked of one issue: as much as GitHub gives.
func ofOne() portion {
	return portion{
		labels:   100,
		comments: 100,
		closing:  100,
		blockers: 100,
	}
}

// ofMany is asked of each of many issues at once: what issues really have, so that a page of a
// hundred stays far from GitHub's limits. An issue that has more is asked for by itself.
func ofMany() portion {
	return portion{
		labels:   30,
		comments: 50,
		closing:  10,
		blockers: 20,
	}
}

// fragments are what is read of things wherever a query names them, so much of an issue. One that
// names another stands before it. Q is what is read of a number that turns out to be a pull
// request: what a hold of it hangs on. Servers refuse other arguments than an issue's for a field
// of the same name.
func (c *Client) fragments(much portion) []string {
	assignees := "assignees(first: 10) { totalCount nodes { login } }" // people alone, where bots cannot be assigned
	if c.has(featureActors) {
		assignees = "assignees: assignedActors(first: 10) { totalCount nodes { __typename ... on User { login } ... on Bot { login } } }"
	}

	blockers, duplicates := "", ""
	if c.has(featureBlockers) {
		blockers = fmt.Sprintf("\n  blockedBy(first: %d) { totalCount nodes { number state url repository { nameWithOwner } } }", much.blockers)
	}

	if c.has(featureDuplicates) {
		duplicates = "(enableDuplicate: true)"
	}

	return []string{
		fmt.Sprintf(`I on Issue { id number title url body state stateReason%s createdAt updatedAt
  labels(first: %d) { totalCount nodes { id name } }
  ...A comments(last: %d) { ...Page }
  %s
  %s
  reopened: timelineItems(last: 1, itemTypes: [REOPENED_EVENT]) { nodes { ... on ReopenedEvent { createdAt } } }%s }`,
			duplicates, much.labels, much.comments, closingFields(fmt.Sprint("first: ", much.closing)), labeledFields, blockers),
		fmt.Sprintf(`Q on PullRequest { id number title url pullState: state createdAt
  labels(first: %d) { totalCount nodes { id name } }
  people: assignees(first: 10) { totalCount nodes { login } }
  comments(last: %d) { ...Page }
  %s }`, much.labels, much.comments, labeledFields),
		"A on Issue { " + assignees + " }", // GitHub allows ten
		"Page on IssueCommentConnection { totalCount pageInfo { hasPreviousPage startCursor } nodes { ...C } }",
		commentFields,
		`P on PullRequest { number title url body state isDraft mergedAt closedAt headRefName headRepository { nameWithOwner }
  baseRefName repository { nameWithOwner defaultBranchRef { name } } author { __typename login } authorAssociation }`,
	}
}

// commentFields are what is read of a comment.
const commentFields = `C on IssueComment { id fullDatabaseId createdAt lastEditedAt url body authorAssociation isMinimized
  author { __typename login } editor { __typename login } }`

// closingFields are the pull requests that close an issue, a page of them.
func closingFields(page string) string {
	return "closing: closedByPullRequestsReferences(" + page +
		", includeClosedPrs: true) { totalCount pageInfo { hasNextPage endCursor } nodes { ...P } }"
}

// labeledFields are when labels were put on, and who was assigned when.
const labeledFields = "labeled: timelineItems(last: 50, itemTypes: [LABELED_EVENT, ASSIGNED_EVENT]) { nodes {" +
	" ... on LabeledEvent { createdAt label { name } actor { __typename login } }" +
	" ... on AssignedEvent { createdAt assignee { __typename ... on User { login } ... on Bot { login } } } } }"

// An actor is a user, a bot or an organization.
type actor struct {
	Typename string `json:"__typename"`
	Login    string
}

// name is the login as REST spells it: bots carry their suffix, and who is gone is ghost.
func (a *actor) name() string {
	switch {
	case a == nil || a.Login == "":
		return Ghost
	case a.Typename == "Bot" && !strings.HasSuffix(a.Login, botSuffix):
		return a.Login + botSuffix
	}

	return a.Login
}

type named struct{ Name string }

type queryLabel struct{ ID, Name string }

type slugged struct{ NameWithOwner string }

type queryComment struct {
	Node           string `json:"id"`
	ID             bigInt `json:"fullDatabaseId"`
	CreatedAt      time.Time
	LastEditedAt   *time.Time
	URL            string
	Body           recordText
	Association    string `json:"authorAssociation"`
	IsMinimized    bool
	Author, Editor *actor
}

// comment is a claim.Comment with what trust is decided by.
type comment struct {
	claim.Comment
	association string
	edited      time.Time // for the last time; zero when never
	record      bool      // it is a record or a notice, rather than what only begins like one
}

func (q *queryComment) comment() comment {
	out := comment{association: q.Association, Comment: claim.Comment{
		ID:        int64(q.ID),
		Created:   q.CreatedAt.UTC(),
		Updated:   q.CreatedAt.UTC(),
		Author:    q.Author.name(),
		URL:       q.URL,
		Body:      string(q.Body),
		Node:      q.Node,
		Minimized: q.IsMinimized,
	}}

	if q.LastEditedAt != nil { // GitHub's updatedAt is not a heartbeat: it also moves when somebody hides the comment
		out.edited = q.LastEditedAt.UTC()
		out.Updated = out.edited
	}

	// An edit without an editor is one that GitHub does not tell us about: it is the author's.
	if q.Editor != nil && q.Editor.name() != out.Author {
		out.Editor = q.Editor.name()
	}

	return out
}

// A recordText is the text of a comment if it can be a record or begin like one, else empty:
// whoever writes long comments would have them all in our memory.
type recordText string

// UnmarshalJSON implements json.Unmarshaler.
func (t *recordText) UnmarshalJSON(raw []byte) error {
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fmt.Errorf("read text: %w", err)
	}

	if strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\n\v\f\r"), "<!--") {
		*t = recordText(text)
	}

	return nil
}

type queryPull struct {
	Number                   int
	Title, URL, Body, State  string
	IsDraft                  bool
	MergedAt, ClosedAt       time.Time
	HeadRefName, BaseRefName string
	HeadRepository           *slugged
	Repository               struct {
		slugged
		DefaultBranchRef *named
	}
	Author      *actor
	Association string `json:"authorAssociation"`
}

func (q *queryPull) pr() lifecycle.PR {
	p := lifecycle.PR{
		Repo:     q.Repository.NameWithOwner,
		Number:   q.Number,
		Title:    q.Title,
		URL:      q.URL,
		State:    lifecycle.PRState(strings.ToLower(q.State)),
		Draft:    q.IsDraft,
		MergedAt: q.MergedAt.UTC(),
		ClosedAt: q.ClosedAt.UTC(),
		Head:     q.HeadRefName,
		Base:     q.BaseRefName,
		Author:   q.Author.name(),
	}

	if q.HeadRepository != nil {
		p.HeadRepo = q.HeadRepository.NameWithOwner
	}
	p.DefaultBase = q.Repository.DefaultBranchRef != nil && q.Repository.DefaultBranchRef.Name == q.BaseRefName

	return p
}

type queryBlocker struct {
	Number     int
	State, URL string
	Repository slugged
}

// queryIssue is an issue, or of a pull request what the two have in common.
type queryIssue struct {
	Typename          string `json:"__typename"`
	ID                string
	Number            int
	Title, URL, State string
	Body              string
	PullState         string // the state of a pull request is of another type
	StateReason       string
	CreatedAt         time.Time
	UpdatedAt         time.Time
	Labels            *connection[queryLabel]
	Assignees         *connection[actor]
	// who is assigned to a pull request; bots are shown for issues only
	People            *connection[actor]
	Comments          *connection[queryComment]
	Closing           *connection[queryPull]
	Labeled, Reopened *connection[struct {
		CreatedAt time.Time
		Label     named
		Actor     *actor
		Assignee  *actor
	}]
	BlockedBy *connection[queryBlocker]
}

// spelled is the issue with the names of its owner and its repository as GitHub spells them.
func (q *queryIssue) spelled(i claim.Issue) claim.Issue {
	if names := strings.Split(q.URL, "/"); len(names) > 4 {
		names = names[len(names)-4:]
		if own := (claim.Issue{Owner: names[0], Repo: names[1], Number: i.Number}); own.Same(i) {
			return own
		}
	}
	return i
}

// facts are what the issue says of itself; comments come after.
func (q *queryIssue) facts(i claim.Issue, scheme labels.Scheme) (lifecycle.Facts, error) {
	f := lifecycle.Facts{
		Issue:       q.spelled(i),
		Title:       q.Title,
		URL:         q.URL,
		Open:        q.State == "OPEN" || q.PullState == "OPEN",
		StateReason: strings.ToLower(q.StateReason),
		PullRequest: q.Typename == "PullRequest",
		Created:     q.CreatedAt.UTC(),
	}

	if q.Number != i.Number {
		return f, &MovedError{To: oneLine(q.URL)}
	}
	names, err := q.Labels.all("labels")
	if err != nil {
		return f, err
	}

	for _, n := range names {
		f.Labels = append(f.Labels, n.Name)
	}
	assignees, err := cmp.Or(q.Assignees, q.People).all("assignees")
	if err != nil {
		return f, err
	}

	for _, a := range assignees {
		f.Assignees = append(f.Assignees, a.name())
	}

	for e := range q.Labeled.shown() {
		if e.Assignee != nil {
			f.Assigned(e.Assignee.name(), e.CreatedAt)
			continue
		}

		by := "" // the login of a person or an app
		if e.Actor != nil && (e.Actor.Typename == "User" || e.Actor.Typename == "Bot") {
			by = e.Actor.name()
		}
		f.Labelled(scheme, e.Label.Name, e.CreatedAt, by)
	}

	for e := range q.Reopened.shown() {
		f.ReopenedAt = e.CreatedAt.UTC()
	}

	if f.PullRequest {
		f.StateReason = ""
		if q.PullState == "MERGED" {
			f.StateReason = "merged"
		}
		return f, nil
	}

	switch {
	case q.Closing == nil:
		return f, unusable("closing pull requests are missing")
	case q.Closing.TotalCount > len(q.Closing.Nodes) && !q.Closing.PageInfo.HasNextPage:
		reason := fmt.Sprintf("%d pull requests close it, and %d can be read", q.Closing.TotalCount,
			len(q.Closing.Nodes))
		return f, unusable(reason)
	}

	if q.BlockedBy == nil {
		return f, nil
	}
	blockers, err := q.BlockedBy.all("blockers")
	if err != nil {
		return f, err
	}

	f.BlockersRead = true
	for _, b := range blockers {
		in := place(b.Repository.NameWithOwner)
		f.Blockers = append(f.Blockers, lifecycle.Blocker{
			Issue: in.Issue(b.Number), Open: b.State == "OPEN", URL: b.URL,
		})
	}

	return f, nil
}
