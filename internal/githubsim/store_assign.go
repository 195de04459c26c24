package githubsim

import "slices"

// maxAssignees is how many accounts can be assigned to one issue.
const maxAssignees = 10

// cloudAgent is the App that GitHub lets people assign.
const cloudAgent = "copilot-swe-agent[bot]"

// assignable reports whether GitHub lets somebody be assigned to the thread by its API: a person
// with a role in the repository, the author, who has commented, or its own agent. Everybody else is
// dropped without a word.
func (t *thread) assignable(a *account) bool {
	if a != nil && a.login == cloudAgent {
		return true
	}
	if a == nil || a.kind != "User" {
		return false
	}
	commented := slices.ContainsFunc(t.commentsIn(present()), func(c comment) bool { return c.author == a })
	return a.collaborates(t.repo) || t.state.now().author == a || commented
}

// assign puts logins on a thread, as far as they are assignable and there is room for them.
func (st *store) assign(who actor, t *thread, logins []string) error {
	if err := who.need(t.repo, roleTriage); err != nil {
		return err
	}

	for _, login := range logins {
		a, _ := st.known(login)
		now := t.state.now()
		if !t.assignable(a) || slices.Contains(now.assignees, a) || len(now.assignees) >= maxAssignees {
			continue
		}

		now.assignees = append(slices.Clone(now.assignees), a)
		st.setAssignees(who, t, now, "assigned", a)
	}

	return nil
}

// unassign takes logins off a thread; those that are not on it change nothing.
func (st *store) unassign(who actor, t *thread, logins []string) error {
	if err := who.need(t.repo, roleTriage); err != nil {
		return err
	}

	for _, login := range logins {
		a, _ := st.known(login)
		now := t.state.now()
		at := slices.Index(now.assignees, a)
		if a == nil || at < 0 {
			continue
		}

		now.assignees = slices.Delete(slices.Clone(now.assignees), at, at+1)
		st.setAssignees(who, t, now, "unassigned", a)
	}

	return nil
}

func (st *store) setAssignees(who actor, t *thread, now issue, kind string, a *account) {
	st.touch(t, now)
	st.record(t, event{kind: kind, actor: who.account, assignee: a})
	st.emitThread(who, t, kind, func() object { return object{"assignee": st.accountJSON(a)} })
}
