package githubsim

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
)

// An Event is one webhook delivery, in GitHub's shape: what a workflow run finds in its event file.
type Event struct {
	Name    string // issues, pull_request, issue_comment or label
	Action  string // opened, closed, labeled …
	Repo    string // owner/repo
	Number  int    // of the issue or pull request; 0 for label events
	Time    time.Time
	Payload json.RawMessage
}

// A delivery is an event before anybody asked for it: its payload is rendered from the past, which
// the store keeps.
type delivery struct {
	event  Event
	repo   *repository
	sender *account
	body   func() object
}

// Events returns every webhook delivery so far, oldest first.
func (s *Server) Events() ([]Event, error) { return s.EventsSince(0) }

// EventsSince returns the deliveries after the first n; n is how many the caller has seen already.
func (s *Server) EventsSince(n int) ([]Event, error) {
	defer s.lock()()
	var events []Event
	for _, d := range s.st.hooks[min(max(n, 0), len(s.st.hooks)):] {
		e, err := s.st.deliver(d)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}

	return events, nil
}

// Newest yields every webhook delivery so far, the newest first. Each is rendered when it is asked
// for.
func (s *Server) Newest() iter.Seq2[Event, error] {
	unlock := s.lock()
	hooks := s.st.hooks
	unlock()

	return func(yield func(Event, error) bool) {
		for _, d := range slices.Backward(hooks) {
			unlock := s.lock()
			e, err := s.st.deliver(d)
			unlock()
			if !yield(e, err) {
				return
			}
		}
	}
}

func (st *store) deliver(d delivery) (Event, error) {
	payload := d.body()
	payload["action"] = d.event.Action
	payload["repository"] = st.repoJSON(d.repo)
	payload["sender"] = st.accountJSON(d.sender)
	if d.repo.owner.kind == "Organization" {
		payload["organization"] = st.organizationJSON(d.repo.owner)
	}

	text, err := json.Marshal(payload)
	if err != nil {
		return Event{}, fmt.Errorf("render event %s: %w", d.event.Name, err)
	}

	d.event.Payload = text
	return d.event, nil
}

func (st *store) organizationJSON(a *account) object {
	api := st.api + "/orgs/" + a.login
	return object{
		"login": a.login, "id": a.id, "node_id": nodeID("O", a.id), "url": api, "repos_url": api + "/repos",
		"events_url": api + "/events", "hooks_url": api + "/hooks", "issues_url": api + "/issues",
		"members_url": api + "/members{/member}", "public_members_url": api + "/public_members{/member}",
		"avatar_url": st.web + "/avatars/" + a.login, "description": "",
	}
}

// changedFrom is the changes object of an edited event: the old value where it differs.
func changedFrom(field, old, now string) object {
	if old == now {
		return object{}
	}
	return object{field: object{"from": old}}
}

func (st *store) emit(who actor, r *repository, e Event, body func() object) {
	e.Repo, e.Time = r.fullName(), st.moment
	st.hooks = append(st.hooks, delivery{
		event:  e,
		repo:   r,
		sender: who.account,
		body:   body,
	})
}

// emitThread delivers an event of an issue or a pull request; more, if given, renders what the
// action adds to the payload.
func (st *store) emitThread(who actor, t *thread, action string, more func() object) {
	now, then := t.state.now(), st.then()
	if more == nil {
		more = func() object { return nil }
	}

	if now.pull == nil {
		st.emit(who, t.repo, Event{Name: "issues", Action: action, Number: t.number}, func() object {
			payload := object{"issue": st.issueEvent(then, t, now)}
			maps.Copy(payload, more())
			return payload
		})
		return
	}

	st.emit(who, t.repo, Event{Name: "pull_request", Action: action, Number: t.number}, func() object {
		pull := st.pullDetails(then, t, now, st.pullAt(then, t, now, now.pull.headSHA))
		payload := object{"number": t.number, "pull_request": pull}
		maps.Copy(payload, more())
		return payload
	})
}

// issueEvent is an issue in a webhook, which does not say who closed it.
func (st *store) issueEvent(v view, t *thread, now issue) object {
	o := st.issueJSON(v, t, now)
	delete(o, "closed_by")
	return o
}

// then is the view of the transaction under way, for whoever looks back later.
func (st *store) then() view { return view{upTo: st.change()} }

func (st *store) emitComment(who actor, t *thread, action string, c comment, changes object) {
	now, then := t.state.now(), st.then()
	st.emit(who, t.repo, Event{Name: "issue_comment", Action: action, Number: t.number}, func() object {
		return withChanges(action, changes, object{"issue": st.issueEvent(then, t, now), "comment": st.commentEvent(c)})
	})
}

// commentEvent is a comment in a webhook, which does not say whether it is minimized.
func (st *store) commentEvent(c comment) object {
	o := st.commentJSON(c)
	delete(o, "minimized")
	return o
}

func (st *store) emitLabel(who actor, r *repository, action string, l label, changes object) {
	st.emit(who, r, Event{Name: "label", Action: action}, func() object {
		return withChanges(action, changes, object{"label": st.labelJSON(r, l)})
	})
}

func withChanges(action string, changes, payload object) object {
	if action == "edited" {
		payload["changes"] = changes
	}
	return payload
}
