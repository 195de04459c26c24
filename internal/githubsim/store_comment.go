package githubsim

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

func checkBody(body string) error {
	switch {
	case strings.TrimSpace(body) == "":
		return invalidBecause("IssueComment", "body", "body can't be blank")
	case utf8.RuneCountInString(body) > maxBody:
		return &refusal{status: 422, message: "Validation Failed", errors: []any{object{
			"resource": "IssueComment", "field": "data", "code": "unprocessable",
			"message": "Body is too long (maximum is 65536 characters)",
		}}}
	}

	return nil
}

// addComment posts a comment. Whoever may read may comment, unless the issue is locked.
func (st *store) addComment(who actor, t *thread, body string) (comment, error) {
	if err := who.need(t.repo, roleRead); err != nil {
		return comment{}, err
	}
	now := t.state.now()
	if now.locked && who.role(t.repo) < roleWrite {
		return comment{}, forbidden("Unable to create comment because issue is locked.")
	}
	if err := checkBody(body); err != nil {
		return comment{}, err
	}

	c := st.plantComment(t, comment{
		body:    body,
		author:  who.account,
		created: st.moment,
		updated: st.moment,
	})
	st.touch(t, now)
	st.emitComment(who, t, "created", c, nil)

	return c, nil
}

// plantComment gives the comment its id and stores it.
func (st *store) plantComment(t *thread, c comment) comment {
	c.id, c.thread = st.nextID("comment"), t
	kept := &cell[comment]{}
	kept.put(st.change(), c)
	t.comments = append(t.comments, kept)
	st.comments[c.id] = kept
	return c
}

// comment finds a comment of the repository by its id.
func (st *store) comment(v view, r *repository, id int64) (comment, error) {
	kept := st.comments[id]
	if kept == nil || v.gap[id] {
		return comment{}, notFound()
	}

	c, ok := kept.at(v)
	if !ok || c.spam || c.thread.repo != r || c.thread.movedTo != nil || c.thread.deleted {
		return comment{}, notFound()
	}

	return c, nil
}

// mayRewrite allows authors their own comments, and write all of them.
func (st *store) mayRewrite(who actor, c comment) error {
	if who.account != nil && who.account == c.author {
		return who.need(c.thread.repo, roleRead)
	}
	return who.need(c.thread.repo, roleWrite)
}

// editComment replaces the body of a comment.
func (st *store) editComment(who actor, c comment, body string) (comment, error) {
	if err := st.mayRewrite(who, c); err != nil {
		return comment{}, err
	}
	if err := checkBody(body); err != nil {
		return comment{}, err
	}

	old := c.body
	if old == body {
		return c, nil
	}

	c.body, c.updated = body, st.moment
	c = st.edited(c, st.moment, who.account)
	st.comments[c.id].put(st.change(), c)
	st.touch(c.thread, c.thread.state.now())
	st.emitComment(who, c.thread, "edited", c, changedFrom("body", old, body))

	return c, nil
}

// edited adds an edit to a comment's history. Without an editor it is one by an account that is
// gone.
func (st *store) edited(c comment, at time.Time, by *account) comment {
	c.edited, c.editor = at, by
	c.edits = append(slices.Clip(c.edits), edit{id: st.nextID("edit"), at: at, editor: by})
	return c
}

// deleteComment takes a comment away for good.
func (st *store) deleteComment(who actor, c comment) error {
	if err := st.mayRewrite(who, c); err != nil {
		return err
	}
	st.comments[c.id].remove(st.change())
	st.touch(c.thread, c.thread.state.now())
	st.record(c.thread, event{kind: "comment_deleted", actor: who.account})
	st.emitComment(who, c.thread, "deleted", c, nil)

	return nil
}

// minimize hides a comment for a reason, or shows it again for none. It moves the comment's
// updatedAt and is not an edit.
func (st *store) minimize(who actor, c comment, reason string) (comment, error) {
	if err := st.mayRewrite(who, c); err != nil {
		return comment{}, err
	}
	if c.hidden != reason {
		c.hidden, c.updated = reason, st.moment
		st.comments[c.id].put(st.change(), c)
	}

	return c, nil
}

// reactionNames are the contents that GitHub accepts.
func reactionNames() []string {
	return []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
}

// react adds a reaction; made is false if the same one of the same account was there.
func (st *store) react(who actor, c comment, content string) (r reaction, made bool, err error) {
	if err := who.need(c.thread.repo, roleRead); err != nil {
		return reaction{}, false, err
	}
	if !slices.Contains(reactionNames(), content) {
		return reaction{}, false, invalid("Reaction", "content", "invalid")
	}

	for _, r := range c.reactions {
		if r.author == who.account && r.content == content {
			return r, false, nil
		}
	}

	r = reaction{
		id:      st.nextID("reaction"),
		content: content,
		author:  who.account,
		created: st.moment,
	}
	c.reactions = append(slices.Clip(c.reactions), r)
	st.comments[c.id].put(st.change(), c)

	return r, true, nil
}
