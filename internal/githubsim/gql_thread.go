package githubsim

import (
	"context"
	"slices"
	"strings"
)

// A gqlThread is what issues and pull requests have in common. Each method resolves the field of
// its name.
type gqlThread struct {
	c   *call
	t   *thread
	now issue
}

// ID is the global id.
func (g *gqlThread) ID() globalID {
	_, kind := issueKind(g.now)
	return globalID(nodeID(kind, g.now.id))
}

// DatabaseID is null, because the ids do not fit any more.
func (g *gqlThread) DatabaseID() *int32 { return small(g.restID()) }

// FullDatabaseID is the id that REST uses.
func (g *gqlThread) FullDatabaseID() *bigInt {
	id := bigInt(g.restID())
	return &id
}

func (g *gqlThread) restID() int64 {
	if g.now.pull != nil {
		return g.now.pull.id
	}
	return g.now.id
}

// Number is the number in the repository.
func (g *gqlThread) Number() int32 { return int32(g.t.number) }

// Title is the title.
func (g *gqlThread) Title() string { return g.now.title }

// Body is the description as it was written.
func (g *gqlThread) Body() string { return g.now.body }

// URL is the page.
func (g *gqlThread) URL() uri { return uri(g.c.threadPage(g.t, g.now)) }

// CreatedAt is when it was opened.
func (g *gqlThread) CreatedAt() dateTime { return dateTime{g.now.created} }

// UpdatedAt is when it changed last.
func (g *gqlThread) UpdatedAt() dateTime { return dateTime{g.now.updated} }

// Closed reports whether it is closed or merged.
func (g *gqlThread) Closed() bool { return !g.now.open }

// ClosedAt is when it was closed; null while it is open.
func (g *gqlThread) ClosedAt() *dateTime { return moment(g.now.closed) }

// LastEditedAt is null: edits of descriptions are not kept.
func (g *gqlThread) LastEditedAt() *dateTime { return nil }

// Editor is null: edits of descriptions are not kept.
func (g *gqlThread) Editor() *gqlActor { return nil }

// Locked reports whether only those with write may comment.
func (g *gqlThread) Locked() bool { return g.now.locked }

// Author is who opened it.
func (g *gqlThread) Author() *gqlActor { return g.c.actor(g.now.author) }

// AuthorAssociation is the author's tie to the repository.
func (g *gqlThread) AuthorAssociation() string { return g.now.author.association(g.t.repo) }

// Repository is where it is.
func (g *gqlThread) Repository() *gqlRepository { return &gqlRepository{g.c, g.t.repo} }

// ViewerCanUpdate reports whether the actor may edit it.
func (g *gqlThread) ViewerCanUpdate() bool { return g.c.mayEdit(g.c.who, g.t) == nil }

// ViewerCanLabel reports whether the actor may label it.
func (g *gqlThread) ViewerCanLabel() bool { return g.c.who.need(g.t.repo, roleTriage) == nil }

// Labels are its labels.
func (g *gqlThread) Labels(args struct {
	pageArgs
	OrderBy labelOrder
},
) (*gqlConnection[*gqlLabel], error) {
	return g.c.labelsPage(g.t.repo, g.t.repo.labelsOf(g.c.view, g.now), args.pageArgs, args.OrderBy)
}

// Assignees are the people who are assigned.
func (g *gqlThread) Assignees(page pageArgs) (*gqlConnection[*gqlActor], error) {
	return g.assigned(page, "assignees", func(a *account) bool { return a.kind == "User" })
}

// AssignedActors are all who are assigned, bots too.
func (g *gqlThread) AssignedActors(page pageArgs) (*gqlConnection[*gqlActor], error) {
	return g.assigned(page, "assignedActors", func(*account) bool { return true })
}

func (g *gqlThread) assigned(page pageArgs, name string, shown func(*account) bool) (*gqlConnection[*gqlActor], error) {
	list := slices.DeleteFunc(slices.Clone(g.now.assignees), func(a *account) bool { return !shown(a) })
	return connect(g.c, page, name, list, func(a *account) int64 { return a.id }, g.c.actor)
}

// Comments are its comments, ascending id unless ordered by their last change.
func (g *gqlThread) Comments(args struct {
	pageArgs
	OrderBy *struct{ Field, Direction string }
},
) (*gqlConnection[*gqlComment], error) {
	list := g.t.commentsIn(g.c.view)
	if args.OrderBy != nil {
		slices.SortStableFunc(list, func(a, b comment) int {
			if args.OrderBy.Direction == "DESC" {
				a, b = b, a
			}
			return a.updated.Compare(b.updated)
		})
	}

	page, err := connect(g.c, args.pageArgs, "comments", list, func(m comment) int64 { return m.id },
		func(m comment) *gqlComment { return &gqlComment{g.c, m} })
	if page != nil {
		page.TotalCount = int32(len(g.t.everyComment(g.c.view)))
	}

	return page, err
}

// A gqlSubject is a thread where the schema says no more than that.
type gqlSubject struct{ gqlThread }

// ToIssue says whether it is an issue.
func (g *gqlSubject) ToIssue() (*gqlIssue, bool) { return &gqlIssue{g.gqlThread}, g.now.pull == nil }

// ToPullRequest says whether it is a pull request.
func (g *gqlSubject) ToPullRequest() (*gqlPull, bool) {
	return &gqlPull{g.gqlThread}, g.now.pull != nil
}

// A gqlIssue is an issue.
type gqlIssue struct{ gqlThread }

// State is OPEN or CLOSED.
func (g *gqlIssue) State() string { return strings.ToUpper(stateName(g.now)) }

// StateReason is null for an issue that was never closed. Duplicates show only to those who ask for
// them.
func (g *gqlIssue) StateReason(args struct{ EnableDuplicate bool }) *string {
	reason := g.now.reason
	if reason == "duplicate" && !args.EnableDuplicate {
		reason = "not_planned"
	}
	return constant(reason)
}

// constant is a word of REST as an enum value of GraphQL; null for the empty one.
func constant(word string) *string {
	if word == "" {
		return nil
	}
	word = strings.ToUpper(word)
	return &word
}

// ClosedByPullRequestsReferences lists the pull requests, of any repository that the actor sees,
// whose descriptions close the issue.
func (g *gqlIssue) ClosedByPullRequestsReferences(args struct {
	pageArgs
	IncludeClosedPrs, OrderByState, UserLinkedOnly bool
},
) (*gqlConnection[*gqlPull], error) {
	var list []seen
	for _, r := range g.c.distinct() {
		if args.UserLinkedOnly || g.c.who.role(r) < roleRead {
			continue
		}

		for _, s := range r.pullsIn(g.c.view) {
			shown := s.now.open || args.IncludeClosedPrs || !s.now.pull.merged.IsZero()
			if shown && slices.Contains(g.c.closes(s.thread, s.now), g.t) {
				list = append(list, s)
			}
		}
	}

	if args.OrderByState {
		slices.SortStableFunc(list, func(a, b seen) int { return strings.Compare(pullState(b.now), pullState(a.now)) })
	}

	return connect(g.c, args.pageArgs, "closedByPullRequestsReferences", list, seenID, g.c.pullNode)
}

func (g *gqlIssue) related(page pageArgs, name string, threads []*thread) (*gqlConnection[*gqlIssue], error) {
	var list []seen
	for _, t := range threads {
		if now, ok := t.state.at(g.c.view); ok && now.pull == nil && g.c.who.role(t.repo) >= roleRead {
			list = append(list, seen{t, now})
		}
	}

	return connect(g.c, page, name, list, seenID, g.c.issueNode)
}

// A gqlMilestone is a milestone.
type gqlMilestone struct{}

// Title is its name.
func (*gqlMilestone) Title() string { return "" }

// Milestone is null: issues here have none.
func (*gqlIssue) Milestone() *gqlMilestone { return nil }

// BlockedBy lists the issues that this one waits for.
func (g *gqlIssue) BlockedBy(args pageArgs) (*gqlConnection[*gqlIssue], error) {
	return g.related(args, "blockedBy", g.now.blockers)
}

// SubIssues lists the issues below this one.
func (g *gqlIssue) SubIssues(args pageArgs) (*gqlConnection[*gqlIssue], error) {
	return g.related(args, "subIssues", g.now.children)
}

// Parent is the issue above this one.
func (g *gqlIssue) Parent() *gqlIssue {
	if g.now.parent == nil {
		return nil
	}
	now, ok := g.now.parent.state.at(g.c.view)
	if !ok {
		return nil
	}

	return &gqlIssue{gqlThread{g.c, g.now.parent, now}}
}

// A gqlSummary counts sub-issues.
type gqlSummary struct{ Completed, PercentCompleted, Total int32 }

// SubIssuesSummary counts the issues below this one.
func (g *gqlIssue) SubIssuesSummary() *gqlSummary {
	total := len(g.now.children)
	done := total - openOf(g.c.view, g.now.children)
	return &gqlSummary{int32(done), int32(100 * done / max(1, total)), int32(total)}
}

// A gqlPull is a pull request.
type gqlPull struct{ gqlThread }

func pullState(now issue) string {
	if !now.pull.merged.IsZero() {
		return "MERGED"
	}
	return strings.ToUpper(stateName(now))
}

// State is OPEN, CLOSED or MERGED.
func (g *gqlPull) State() string { return pullState(g.now) }

// BaseRefName is the branch that it goes to.
func (g *gqlPull) BaseRefName() string { return g.now.pull.base }

// BaseRefOID is the commit of the base when it was opened.
func (g *gqlPull) BaseRefOID() gitObjectID { return gitObjectID(g.now.pull.baseSHA) }

// HeadRefName is the branch that it comes from.
func (g *gqlPull) HeadRefName() string { return g.now.pull.head }

// HeadRefOID is the newest commit of the head.
func (g *gqlPull) HeadRefOID(ctx context.Context) (gitObjectID, error) {
	oid, err := g.now.pull.headCommit(ctx)
	return gitObjectID(oid), err
}

// HeadRepository is where the head is.
func (g *gqlPull) HeadRepository() *gqlRepository {
	if g.c.who.role(g.now.pull.headRepo) < roleRead {
		return nil
	}
	return &gqlRepository{g.c, g.now.pull.headRepo}
}

// HeadRepositoryOwner is who owns the head's repository.
func (g *gqlPull) HeadRepositoryOwner() *gqlActor { return g.c.actor(g.now.pull.headRepo.owner) }

// IsCrossRepository reports whether it comes from a fork.
func (g *gqlPull) IsCrossRepository() bool { return g.now.pull.headRepo != g.t.repo }

// IsDraft reports whether it is not ready for review.
func (g *gqlPull) IsDraft() bool { return g.now.pull.draft }

// Merged reports whether it was merged.
func (g *gqlPull) Merged() bool { return !g.now.pull.merged.IsZero() }

// MergedAt is when it was merged.
func (g *gqlPull) MergedAt() *dateTime { return moment(g.now.pull.merged) }

// MergedBy is who merged it.
func (g *gqlPull) MergedBy() *gqlActor { return g.c.actor(g.now.pull.mergedBy) }

// ClosingIssuesReferences lists the issues that the description closes; none unless it targets the
// default branch.
func (g *gqlPull) ClosingIssuesReferences(args struct {
	pageArgs
	OrderBy        *issueOrder
	UserLinkedOnly bool
},
) (*gqlConnection[*gqlIssue], error) {
	var list []seen
	for _, t := range g.c.closes(g.t, g.now) {
		now, ok := t.state.at(g.c.view)
		if ok && !args.UserLinkedOnly && g.c.who.role(t.repo) >= roleRead {
			list = append(list, seen{t, now})
		}
	}

	order(list, args.OrderBy)
	return connect(g.c, args.pageArgs, "closingIssuesReferences", list, seenID, g.c.issueNode)
}
