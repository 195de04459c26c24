package githubsim

import "slices"

// block records that one issue waits for another.
func (st *store) block(who actor, t, blocker *thread) error {
	if err := who.need(t.repo, roleTriage); err != nil {
		return err
	}
	now := t.state.now()
	if blocker == t || slices.Contains(now.blockers, blocker) {
		return unprocessable("An error occurred while adding the dependency to the issue.")
	}

	now.blockers = append(slices.Clip(now.blockers), blocker)
	st.touch(t, now)
	st.record(t, event{kind: "blocked_by_added", actor: who.account})
	return nil
}

// unblock takes that dependency away.
func (st *store) unblock(who actor, t, blocker *thread) error {
	if err := who.need(t.repo, roleTriage); err != nil {
		return err
	}
	now := t.state.now()
	i := slices.Index(now.blockers, blocker)
	if i < 0 {
		return notFound()
	}

	now.blockers = slices.Delete(slices.Clone(now.blockers), i, i+1)
	st.touch(t, now)
	st.record(t, event{kind: "blocked_by_removed", actor: who.account})
	return nil
}

// adopt makes child a sub-issue of t.
func (st *store) adopt(who actor, t, child *thread) error {
	if err := who.need(t.repo, roleTriage); err != nil {
		return err
	}
	now, below := t.state.now(), child.state.now()
	if child == t || below.parent != nil {
		return unprocessable("An error occurred while adding the sub-issue to the parent issue. Sub issue may only have one parent")
	}

	now.children = append(slices.Clip(now.children), child)
	st.touch(t, now)
	below.parent = t
	st.touch(child, below)
	st.record(t, event{kind: "sub_issue_added", actor: who.account})
	st.record(child, event{kind: "parent_issue_added", actor: who.account})

	return nil
}

// blocking lists the issues that wait for t.
func (st *store) blocking(v view, t *thread) []*thread {
	var found []*thread
	for _, other := range t.repo.threads {
		if now, ok := other.state.at(v); ok && slices.Contains(now.blockers, t) {
			found = append(found, other)
		}
	}

	slices.SortFunc(found, func(a, b *thread) int { return a.number - b.number })
	return found
}

// openOf counts the threads that are open in the view.
func openOf(v view, threads []*thread) int {
	open := 0
	for _, t := range threads {
		if now, ok := t.state.at(v); ok && now.open {
			open++
		}
	}

	return open
}

// setLocked locks or unlocks the conversation.
func (st *store) setLocked(who actor, t *thread, locked bool) error {
	if err := who.need(t.repo, roleTriage); err != nil {
		return err
	}
	now := t.state.now()
	if now.locked == locked {
		return nil
	}

	now.locked = locked
	st.touch(t, now)
	action := "unlocked"
	if locked {
		action = "locked"
	}

	st.record(t, event{kind: action, actor: who.account})
	st.emitThread(who, t, action, nil)
	return nil
}

// removeThread deletes an issue; asking for it answers 410 from then on.
func (st *store) removeThread(who actor, t *thread) error {
	if err := who.need(t.repo, roleAdmin); err != nil {
		return err
	}
	st.emitThread(who, t, "deleted", nil)
	t.deleted = true
	return nil
}

// transfer moves an issue to another repository under a new number, with its comments and the
// labels that exist there.
func (st *store) transfer(who actor, t *thread, to *repository) (*thread, error) {
	if err := who.need(t.repo, roleWrite); err != nil {
		return nil, err
	}
	now := t.state.now()
	var labels []int64
	for _, l := range t.repo.labelsOf(present(), now) {
		if same, ok := to.label(present(), l.name); ok {
			labels = append(labels, same.id)
		}
	}

	now.labels, now.updated = labels, st.moment
	moved := st.openThread(to, 0, now)
	for _, c := range t.everyComment(present()) {
		c.thread = moved
		kept := st.comments[c.id]
		kept.put(st.change(), c)
		moved.comments = append(moved.comments, kept)
	}

	t.movedTo = moved
	then := st.then()
	st.emitThread(who, t, "transferred", func() object {
		return object{"changes": object{
			"new_issue":      st.issueEvent(then, moved, now),
			"new_repository": st.repoJSON(to),
		}}
	})

	return moved, nil
}
