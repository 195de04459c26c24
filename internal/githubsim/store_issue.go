package githubsim

import (
	"maps"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	maxTitle = 256
	maxBody  = 65536
)

func checkText(resource, title, body string) error {
	switch {
	case strings.TrimSpace(title) == "":
		return invalid(resource, "title", "missing_field")
	case utf8.RuneCountInString(title) > maxTitle:
		return invalidBecause(resource, "title", "title is too long (maximum is 256 characters)")
	case utf8.RuneCountInString(body) > maxBody:
		return invalidBecause(resource, "body", "body is too long (maximum is 65536 characters)")
	}

	return nil
}

// openThread gives the repository its next number and puts the issue or pull request there.
func (st *store) openThread(r *repository, number int, now issue) *thread {
	if number == 0 {
		number = r.last + 1
	}
	r.last = max(r.last, number)
	t := &thread{repo: r, number: number}
	now.id = st.nextID("issue")
	st.put(t, now)
	r.threads[number] = t
	st.threads[now.id] = t

	return t
}

// createIssue opens an issue. Labels need triage; from others they are dropped without a word.
func (st *store) createIssue(who actor, r *repository, title, body string, labels []string) (*thread, error) {
	if err := who.need(r, roleRead); err != nil {
		return nil, err
	}
	if r.issuesOff {
		return nil, gone("Issues has been disabled in this repository.")
	}
	if err := checkText("Issue", title, body); err != nil {
		return nil, err
	}

	t := st.openThread(r, 0, issue{
		title:   title,
		body:    body,
		author:  who.account,
		open:    true,
		created: st.moment,
		updated: st.moment,
	})
	st.emitThread(who, t, "opened", nil)
	if len(labels) == 0 || who.role(r) < roleTriage {
		return t, nil
	}

	return t, st.labelIssue(who, t, labels)
}

// mayEdit allows authors their own issues and pull requests, and triage all of them.
func (st *store) mayEdit(who actor, t *thread) error {
	if who.account != nil && who.account == t.state.now().author {
		return who.need(t.repo, roleRead)
	}
	return who.need(t.repo, roleTriage)
}

// editText changes title and body; nil leaves one as it is.
func (st *store) editText(who actor, t *thread, title, body *string) error {
	if err := st.mayEdit(who, t); err != nil {
		return err
	}
	old := t.state.now()
	now := old
	if title != nil {
		now.title = *title
	}

	if body != nil {
		now.body = *body
	}

	if now.title == old.title && now.body == old.body {
		return nil
	}
	if err := checkText("Issue", now.title, now.body); err != nil {
		return err
	}

	if now.pull != nil {
		p := *now.pull
		p.closes = closingReferences(now.body)
		now.pull = &p
	}

	st.touch(t, now)
	if now.title != old.title {
		st.record(t, event{
			kind:  "renamed",
			actor: who.account,
			from:  old.title,
			to:    now.title,
		})
	}

	changes := changedFrom("title", old.title, now.title)
	maps.Copy(changes, changedFrom("body", old.body, now.body))
	st.emitThread(who, t, "edited", func() object { return object{"changes": changes} })
	return nil
}

// setState closes or reopens. Closing needs a reason of completed, not_planned or duplicate; empty
// means completed.
func (st *store) setState(who actor, t *thread, state, reason string) error {
	if err := st.mayEdit(who, t); err != nil {
		return err
	}
	now := t.state.now()
	switch {
	case state == "closed" && now.open:
		return st.close(who, t, reason)
	case state == "open" && !now.open:
		return st.reopen(who, t)
	case state == "closed" && reason != "" && now.pull == nil && now.reason != reason:
		now.reason = reason
		st.touch(t, now)
		return nil
	case state == "open" || state == "closed":
		return nil
	default:
		return invalid("Issue", "state", "invalid")
	}
}

func (st *store) close(who actor, t *thread, reason string) error {
	now := t.state.now()
	switch {
	case now.pull != nil:
		reason = ""
	case reason == "":
		reason = "completed"
	case reason != "completed" && reason != "not_planned" && reason != "duplicate":
		return invalid("Issue", "state_reason", "invalid")
	}

	now.open, now.reason, now.closed, now.closedBy = false, reason, st.moment, who.account
	st.touch(t, now)
	st.record(t, event{kind: "closed", actor: who.account, reason: reason})
	st.emitThread(who, t, "closed", nil)

	return nil
}

func (st *store) reopen(who actor, t *thread) error {
	now := t.state.now()
	if now.pull != nil && !now.pull.merged.IsZero() {
		return invalidBecause("PullRequest", "state", "state cannot be changed. The pull request cannot be reopened.")
	}

	now.open, now.closedBy, now.closed, now.reason = true, nil, time.Time{}, ""
	if now.pull == nil {
		now.reason = "reopened"
	}

	st.touch(t, now)
	st.record(t, event{kind: "reopened", actor: who.account})
	st.emitThread(who, t, "reopened", nil)
	return nil
}
