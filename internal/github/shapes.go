package github

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/labels"
	"github.com/label-state/label-state/internal/lifecycle"
)

const (
	botSuffix = "[bot]"
	ghost     = "ghost" // the login GitHub shows for accounts that are gone
)

// commentFields and pullFields are what is read of a comment and of a pull request.
const (
	commentFields = `fragment C on IssueComment { fullDatabaseId createdAt updatedAt lastEditedAt url body authorAssociation
  author { __typename login } editor { __typename login } }
`
	pullFields = `fragment P on PullRequest { number title url body state isDraft mergedAt headRefName headRepository { nameWithOwner }
  baseRefName repository { nameWithOwner defaultBranchRef { name } } author { __typename login } }
`
)

// issueFields are what is read of an issue with its last so many comments.
func (c *Client) issueFields(comments int) string {
	blockers, duplicates := "", ""
	if c.has(featureBlockers) {
		blockers = "\n  blockedBy(first: 100) { totalCount nodes { number state url repository { nameWithOwner } } }"
	}
	if c.has(featureDuplicates) {
		duplicates = "(enableDuplicate: true)"
	}
	return fmt.Sprintf(`fragment I on Issue { number title url body state stateReason%s updatedAt
  labels(first: 100) { totalCount nodes { name } }
  comments(last: %d) { ...Page }
  closing: closedByPullRequestsReferences(first: 100, includeClosedPrs: true) { totalCount nodes { ...P } }
  labeled: timelineItems(last: 50, itemTypes: [LABELED_EVENT]) { nodes { ... on LabeledEvent { createdAt label { name } } } }
  reopened: timelineItems(last: 1, itemTypes: [REOPENED_EVENT]) { nodes { ... on ReopenedEvent { createdAt } } }%s }
%s%s%s`, duplicates, comments, blockers, pageFields, commentFields, pullFields)
}

const pageFields = `fragment Page on IssueCommentConnection { totalCount pageInfo { hasPreviousPage startCursor } nodes { ...C } }
`

// An actor is a user, a bot or an organization.
type actor struct {
	Typename string `json:"__typename"`
	Login    string
}

// name is the login as REST spells it: bots carry their suffix, and who is gone is ghost.
func (a *actor) name() string {
	switch {
	case a == nil || a.Login == "":
		return ghost
	case a.Typename == "Bot" && !strings.HasSuffix(a.Login, botSuffix):
		return a.Login + botSuffix
	}
	return a.Login
}

type named struct{ Name string }

type slugged struct{ NameWithOwner string }

type queryComment struct {
	ID                   bigInt `json:"fullDatabaseId"`
	CreatedAt, UpdatedAt time.Time
	LastEditedAt         *time.Time
	URL, Body            string
	Association          string `json:"authorAssociation"`
	Author, Editor       *actor
}

// comment is a claim.Comment with what trust is decided by.
type comment struct {
	claim.Comment
	association string
}

func (q *queryComment) comment() comment {
	out := comment{association: q.Association, Comment: claim.Comment{
		ID: int64(q.ID), Created: q.CreatedAt.UTC(), Updated: q.UpdatedAt.UTC(), Author: q.Author.name(), URL: q.URL, Body: q.Body,
	}}
	edited := q.LastEditedAt != nil || q.Editor != nil
	if by := q.Editor.name(); edited && by != out.Author { // REST does not show an author's own edits either
		out.Editor = by
	}
	return out
}

type queryPull struct {
	Number                   int
	Title, URL, Body, State  string
	IsDraft                  bool
	MergedAt                 time.Time
	HeadRefName, BaseRefName string
	HeadRepository           *slugged
	Repository               struct {
		slugged
		DefaultBranchRef *named
	}
	Author *actor
}

func (q *queryPull) pr() lifecycle.PR {
	p := lifecycle.PR{
		Repo: q.Repository.NameWithOwner, Number: q.Number, Title: q.Title, URL: q.URL, State: lifecycle.PRState(strings.ToLower(q.State)),
		Draft: q.IsDraft, MergedAt: q.MergedAt.UTC(), Head: q.HeadRefName, Base: q.BaseRefName, Author: q.Author.name(),
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
	Number            int
	Title, URL, State string
	Body              string
	PullState         string // the state of a pull request is of another type
	StateReason       string
	UpdatedAt         time.Time
	Labels            *connection[named]
	Comments          *connection[queryComment]
	Closing           *connection[queryPull]
	Labeled, Reopened *connection[struct {
		CreatedAt time.Time
		Label     named
	}]
	BlockedBy *connection[queryBlocker]
}

// facts are what the issue says of itself; comments come after.
func (q *queryIssue) facts(i claim.Issue, scheme labels.Scheme) (lifecycle.Facts, error) {
	f := lifecycle.Facts{
		Issue: i, Title: q.Title, URL: q.URL, Open: q.State == "OPEN" || q.PullState == "OPEN", StateReason: strings.ToLower(q.StateReason),
		PullRequest: q.Typename == "PullRequest",
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
	if f.PullRequest {
		return f, nil
	}
	q.times(&f, scheme)
	if err := q.pulls(&f); err != nil {
		return f, err
	}
	return f, q.blockers(&f)
}

// times are when labels that tell something by their age were put on, and when it was last reopened.
func (q *queryIssue) times(f *lifecycle.Facts, scheme labels.Scheme) {
	if q.Labeled != nil {
		for _, e := range q.Labeled.Nodes {
			if e == nil {
				continue
			}
			f.Labelled(scheme, e.Label.Name, e.CreatedAt)
		}
	}
	if q.Reopened != nil {
		for _, e := range q.Reopened.Nodes {
			if e != nil {
				f.ReopenedAt = e.CreatedAt.UTC()
			}
		}
	}
}

// pulls takes the closing pull requests. Those in repositories that the token may not see come as
// null without an error, and cannot be told apart from absent ones.
func (q *queryIssue) pulls(f *lifecycle.Facts) error {
	if q.Closing == nil {
		return &AnswerError{Status: http.StatusOK, Reason: "closing pull requests are missing"}
	}
	if q.Closing.TotalCount > len(q.Closing.Nodes) {
		return &AnswerError{Status: http.StatusOK, Reason: fmt.Sprintf("%d pull requests close it, too many to read", q.Closing.TotalCount)}
	}
	for _, p := range q.Closing.Nodes {
		if p != nil {
			f.PRs = append(f.PRs, p.pr())
		}
	}
	return nil
}

func (q *queryIssue) blockers(f *lifecycle.Facts) error {
	if q.BlockedBy == nil {
		return nil
	}
	all, err := q.BlockedBy.all("blockers")
	if err != nil {
		return err
	}
	f.BlockersRead = true
	for _, b := range all {
		owner, name, _ := strings.Cut(b.Repository.NameWithOwner, "/")
		f.Blockers = append(f.Blockers, lifecycle.Blocker{
			Issue: claim.Issue{Owner: owner, Repo: name, Number: b.Number}, Open: b.State == "OPEN", URL: b.URL,
		})
	}
	return nil
}
