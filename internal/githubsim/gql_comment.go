package githubsim

import (
	"slices"
	"strings"
)

// A gqlComment is an issue comment. Each method resolves the field of its name.
type gqlComment struct {
	c *call
	m comment
}

// ID is the global id.
func (g *gqlComment) ID() globalID { return globalID(nodeID("IC", g.m.id)) }

// DatabaseID is null, because the ids do not fit any more.
func (g *gqlComment) DatabaseID() *int32 { return small(g.m.id) }

// FullDatabaseID is the id that REST uses.
func (g *gqlComment) FullDatabaseID() *bigInt {
	id := bigInt(g.m.id)
	return &id
}

// Body is the text as it was written.
func (g *gqlComment) Body() string { return g.m.body }

// URL is the comment's place on the page.
func (g *gqlComment) URL() uri { return uri(g.c.commentPage(g.m)) }

// CreatedAt is when it was posted.
func (g *gqlComment) CreatedAt() dateTime { return dateTime{g.m.created} }

// UpdatedAt is when it changed last.
func (g *gqlComment) UpdatedAt() dateTime { return dateTime{g.m.updated} }

// LastEditedAt is when it was edited last; null if never.
func (g *gqlComment) LastEditedAt() *dateTime { return moment(g.m.edited) }

// Editor is who edited it last; null if nobody.
func (g *gqlComment) Editor() *gqlActor { return g.c.actor(g.m.editor) }

// IncludesCreatedEdit reports whether it was edited.
func (g *gqlComment) IncludesCreatedEdit() bool { return !g.m.edited.IsZero() }

// Author is who posted it.
func (g *gqlComment) Author() *gqlActor { return g.c.actor(g.m.author) }

// AuthorAssociation is the author's tie to the repository.
func (g *gqlComment) AuthorAssociation() string { return g.m.author.association(g.m.thread.repo) }

// IsMinimized reports whether it was hidden.
func (g *gqlComment) IsMinimized() bool { return g.m.hidden != "" }

// MinimizedReason is why it was hidden; null if it is not.
func (g *gqlComment) MinimizedReason() *string {
	if g.m.hidden == "" {
		return nil
	}
	return &g.m.hidden
}

// ViewerCanMinimize reports whether the actor may hide it.
func (g *gqlComment) ViewerCanMinimize() bool { return g.c.mayRewrite(g.c.who, g.m) == nil }

// ToIssueComment says that it is one, where the schema says only that it can be minimized.
func (g *gqlComment) ToIssueComment() (*gqlComment, bool) { return g, true }

// Issue is what it was posted to, a pull request too.
func (g *gqlComment) Issue() *gqlIssue {
	return &gqlIssue{gqlThread{g.c, g.m.thread, g.m.thread.state.now()}}
}

// Repository is where it is.
func (g *gqlComment) Repository() *gqlRepository { return &gqlRepository{g.c, g.m.thread.repo} }

// ViewerDidAuthor reports whether the actor posted it.
func (g *gqlComment) ViewerDidAuthor() bool { return g.m.author == g.c.who.account }

// UserContentEdits is the edit history, newest first; it ends with what the author wrote. A comment
// that was never edited has none.
func (g *gqlComment) UserContentEdits(args pageArgs) (*gqlConnection[*gqlEdit], error) {
	var all []edit
	if len(g.m.edits) > 0 {
		all = append(all, edit{at: g.m.created, editor: g.m.author})
	}

	all = append(all, g.m.edits...)
	slices.Reverse(all)
	return connect(g.c, args, "userContentEdits", all, func(e edit) int64 { return e.id },
		func(e edit) *gqlEdit { return &gqlEdit{g.c, e} })
}

// A gqlEdit is one edit of a comment.
type gqlEdit struct {
	c *call
	e edit
}

// ID is the global id.
func (g *gqlEdit) ID() globalID { return globalID(nodeID("UCE", g.e.id)) }

// CreatedAt, EditedAt and UpdatedAt are when it was made.
func (g *gqlEdit) CreatedAt() dateTime { return dateTime{g.e.at} }

// EditedAt is like CreatedAt.
func (g *gqlEdit) EditedAt() dateTime { return dateTime{g.e.at} }

// UpdatedAt is like CreatedAt.
func (g *gqlEdit) UpdatedAt() dateTime { return dateTime{g.e.at} }

// DeletedAt is null: nobody takes anything out of a history.
func (g *gqlEdit) DeletedAt() *dateTime { return nil }

// Editor is who made it; null for an account that is gone.
func (g *gqlEdit) Editor() *gqlActor { return g.c.actor(g.e.editor) }

// A gqlReaction is a reaction to a comment.
type gqlReaction struct {
	c *call
	r reaction
}

// ID is the global id.
func (g *gqlReaction) ID() globalID { return globalID(nodeID("REA", g.r.id)) }

// DatabaseID is the id that REST uses.
func (g *gqlReaction) DatabaseID() *int32 { return small(g.r.id) }

// CreatedAt is when it was given.
func (g *gqlReaction) CreatedAt() dateTime { return dateTime{g.r.created} }

// User is who gave it.
func (g *gqlReaction) User() *gqlActor { return g.c.actor(g.r.author) }

// Content is the kind of reaction.
func (g *gqlReaction) Content() string {
	switch g.r.content {
	case "+1":
		return "THUMBS_UP"
	case "-1":
		return "THUMBS_DOWN"
	}

	return strings.ToUpper(g.r.content)
}

// A gqlItem is one line of a timeline: an event or a comment.
type gqlItem struct {
	c *call
	t *thread
	e event
	m *comment
}

// timelineArgs are the arguments of timelineItems.
type timelineArgs struct {
	pageArgs
	ItemTypes *[]string
	Since     *dateTime
	Skip      *int32
}

// A gqlTimeline is one page of a timeline.
type gqlTimeline struct {
	gqlConnection[*gqlItem]
	FilteredCount, PageCount int32
	UpdatedAt                dateTime
}

// itemKinds are the kinds of events and GraphQL's names of them.
func itemKinds() map[string]string {
	return map[string]string{
		"assigned": "ASSIGNED_EVENT", "unassigned": "UNASSIGNED_EVENT",
		"labeled": "LABELED_EVENT", "unlabeled": "UNLABELED_EVENT", "closed": "CLOSED_EVENT",
		"reopened": "REOPENED_EVENT",
		"renamed":  "RENAMED_TITLE_EVENT", "comment_deleted": "COMMENT_DELETED_EVENT", "merged": "MERGED_EVENT",
		"convert_to_draft": "CONVERT_TO_DRAFT_EVENT", "ready_for_review": "READY_FOR_REVIEW_EVENT",
		"commented": "ISSUE_COMMENT",
	}
}

// TimelineItems lists events and comments by time.
func (g *gqlThread) TimelineItems(args timelineArgs) (*gqlTimeline, error) {
	all := g.timeline()
	kinds := itemKinds()
	wanted := slices.DeleteFunc(slices.Clone(all), func(i *gqlItem) bool {
		if args.ItemTypes != nil && !slices.Contains(*args.ItemTypes, kinds[i.e.kind]) {
			return true
		}
		return args.Since != nil && i.e.created.Before(args.Since.Time)
	})

	if args.Skip != nil {
		wanted = wanted[min(len(wanted), max(0, int(*args.Skip))):]
	}
	page, err := connect(g.c, args.pageArgs, "timelineItems", wanted, func(i *gqlItem) int64 { return i.e.id },
		func(i *gqlItem) *gqlItem { return i })
	if err != nil {
		return nil, err
	}

	page.TotalCount = int32(len(all))
	return &gqlTimeline{*page, int32(len(wanted)), int32(len(page.nodes)), dateTime{g.now.updated}}, nil
}

func (g *gqlThread) timeline() []*gqlItem {
	var all []*gqlItem
	kinds := itemKinds()
	for _, e := range g.t.eventsIn(g.c.view) {
		if kinds[e.kind] != "" {
			all = append(all, &gqlItem{c: g.c, t: g.t, e: e})
		}
	}

	for _, m := range g.t.commentsIn(g.c.view) {
		all = append(all, &gqlItem{
			c: g.c,
			t: g.t,
			m: &m,
			e: event{id: m.id, kind: "commented", created: m.created},
		})
	}

	slices.SortStableFunc(all, func(a, b *gqlItem) int { return a.e.created.Compare(b.e.created) })
	return all
}

// ID is the global id.
func (i *gqlItem) ID() globalID { return globalID(nodeID("EV", i.e.id)) }

// Actor is who did it.
func (i *gqlItem) Actor() *gqlActor { return i.c.actor(i.e.actor) }

// CreatedAt is when it happened.
func (i *gqlItem) CreatedAt() dateTime { return dateTime{i.e.created} }

// Label is the label that came or went, under the name that it had.
func (i *gqlItem) Label() *gqlLabel { return &gqlLabel{i.c, i.t.repo, i.e.label} }

// Assignee is the account that was assigned or taken off.
func (i *gqlItem) Assignee() *gqlActor { return i.c.actor(i.e.assignee) }

// Assignable is the thread.
func (i *gqlItem) Assignable() *gqlSubject { return i.subject() }

// Labelable is the thread.
func (i *gqlItem) Labelable() *gqlSubject { return i.subject() }

// Closable is the thread.
func (i *gqlItem) Closable() *gqlSubject { return i.subject() }

func (i *gqlItem) subject() *gqlSubject { return &gqlSubject{gqlThread{i.c, i.t, i.t.state.now()}} }

// StateReason is why an issue was closed, or that it was reopened.
func (i *gqlItem) StateReason() *string {
	if i.e.kind == "reopened" {
		return constant("reopened")
	}
	return constant(i.e.reason)
}

// CurrentTitle is the title after a rename.
func (i *gqlItem) CurrentTitle() string { return i.e.to }

// PreviousTitle is the title before a rename.
func (i *gqlItem) PreviousTitle() string { return i.e.from }

// MergeRefName is the branch that a pull request was merged into.
func (i *gqlItem) MergeRefName() string { return i.t.state.now().pull.base }

func (i *gqlItem) is(kind string) (*gqlItem, bool) { return i, i.e.kind == kind }

// ToIssueComment and its like say what kind of line it is.
func (i *gqlItem) ToIssueComment() (*gqlComment, bool) {
	if i.m == nil {
		return nil, false
	}
	return &gqlComment{i.c, *i.m}, true
}

// ToLabeledEvent is like ToIssueComment.
func (i *gqlItem) ToLabeledEvent() (*gqlItem, bool) { return i.is("labeled") }

// ToUnlabeledEvent is like ToIssueComment.
func (i *gqlItem) ToUnlabeledEvent() (*gqlItem, bool) { return i.is("unlabeled") }

// ToAssignedEvent is like ToIssueComment.
func (i *gqlItem) ToAssignedEvent() (*gqlItem, bool) { return i.is("assigned") }

// ToUnassignedEvent is like ToIssueComment.
func (i *gqlItem) ToUnassignedEvent() (*gqlItem, bool) { return i.is("unassigned") }

// ToClosedEvent is like ToIssueComment.
func (i *gqlItem) ToClosedEvent() (*gqlItem, bool) { return i.is("closed") }

// ToReopenedEvent is like ToIssueComment.
func (i *gqlItem) ToReopenedEvent() (*gqlItem, bool) { return i.is("reopened") }

// ToRenamedTitleEvent is like ToIssueComment.
func (i *gqlItem) ToRenamedTitleEvent() (*gqlItem, bool) { return i.is("renamed") }

// ToCommentDeletedEvent is like ToIssueComment.
func (i *gqlItem) ToCommentDeletedEvent() (*gqlItem, bool) { return i.is("comment_deleted") }

// ToMergedEvent is like ToIssueComment.
func (i *gqlItem) ToMergedEvent() (*gqlItem, bool) { return i.is("merged") }

// ToConvertToDraftEvent is like ToIssueComment.
func (i *gqlItem) ToConvertToDraftEvent() (*gqlItem, bool) { return i.is("convert_to_draft") }

// ToReadyForReviewEvent is like ToIssueComment.
func (i *gqlItem) ToReadyForReviewEvent() (*gqlItem, bool) { return i.is("ready_for_review") }
