package githubsim

import (
	"encoding/json"
	"slices"
	"strings"
)

func issueRoutes() map[string]endpoint {
	return map[string]endpoint{
		"GET /R/issues":                       listIssues,
		"POST /R/issues":                      postIssue,
		"GET /R/issues/{number}":              getIssue,
		"PATCH /R/issues/{number}":            patchIssue,
		"PUT /R/issues/{number}/lock":         lockIssue,
		"DELETE /R/issues/{number}/lock":      unlockIssue,
		"GET /R/issues/{number}/events":       listEvents,
		"GET /R/issues/{number}/timeline":     listTimeline,
		"POST /R/issues/{number}/assignees":   postAssignees,
		"DELETE /R/issues/{number}/assignees": deleteAssignees,
	}
}

// A seen pairs a thread with the version of it that a view has.
type seen struct {
	thread *thread
	now    issue
}

func (r *repository) seenIn(v view) []seen {
	list := make([]seen, 0, len(r.threads))
	for _, t := range r.all() {
		if now, ok := t.state.at(v); ok {
			list = append(list, seen{t, now})
		}
	}

	return list
}

// pullsIn is seenIn for pull requests alone.
func (r *repository) pullsIn(v view) []seen {
	return slices.DeleteFunc(r.seenIn(v), func(s seen) bool { return s.now.pull == nil })
}

func listIssues(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}
	if r.issuesOff {
		return answer{}, gone("Issues has been disabled in this repository.")
	}

	list := slices.DeleteFunc(r.seenIn(c.view), func(s seen) bool { return !c.wants(s) })
	c.sort(list)
	return ok(rendered(paged(c, list), func(s seen) object { return c.issueJSON(c.view, s.thread, s.now) }))
}

// wants applies the filters of a list of issues.
func (c *call) wants(s seen) bool {
	query := c.r.URL.Query()
	state := query.Get("state")
	if state == "" {
		state = "open"
	}

	if state != "all" && state != stateName(s.now) {
		return false
	}
	if s.now.updated.Before(c.since()) {
		return false
	}
	if by := query.Get("creator"); by != "" && !sameLogin(by, s.now.author.login) {
		return false
	}
	if login := query.Get("assignee"); login != "" && !assignedTo(s.now, login) {
		return false
	}

	for name := range strings.SplitSeq(query.Get("labels"), ",") {
		if name = strings.TrimSpace(name); name != "" && !hasLabel(s.thread.repo.labelsOf(c.view, s.now), name) {
			return false
		}
	}

	return true
}

// assignedTo applies the filter for assignees: a login, none, or * for anybody.
func assignedTo(now issue, login string) bool {
	switch login {
	case "none":
		return len(now.assignees) == 0
	case "*":
		return len(now.assignees) > 0
	}

	return slices.ContainsFunc(now.assignees, func(a *account) bool { return sameLogin(a.login, login) })
}

func hasLabel(labels []label, name string) bool {
	return slices.ContainsFunc(labels, func(l label) bool { return strings.EqualFold(l.name, name) })
}

// sort orders by sort and direction; newest first unless asked otherwise.
func (c *call) sort(list []seen) {
	query := c.r.URL.Query()
	slices.SortStableFunc(list, func(a, b seen) int {
		order := 0
		switch query.Get("sort") {
		case "updated":
			order = a.now.updated.Compare(b.now.updated)
		case "comments":
			order = len(a.thread.everyComment(c.view)) - len(b.thread.everyComment(c.view))
		default:
			order = a.now.created.Compare(b.now.created)
		}

		if order == 0 {
			order = a.thread.number - b.thread.number
		}

		if query.Get("direction") == "asc" {
			return order
		}

		return -order
	})
}

func getIssue(c *call) (answer, error) {
	t, now, err := c.target()
	if err != nil {
		return answer{}, err
	}
	return ok(c.issueJSON(c.view, t, now))
}

func postIssue(c *call) (answer, error) {
	r, err := c.repo()
	if err != nil {
		return answer{}, err
	}

	var sent struct {
		Title     text
		Body      string
		Labels    []labelName
		Assignees []string
	}

	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	t, err := c.createIssue(c.who, r, string(sent.Title), sent.Body, names(sent.Labels))
	if err == nil && c.who.role(r) >= roleTriage { // from others they are dropped, as labels are
		err = c.assign(c.who, t, sent.Assignees)
	}
	if err != nil {
		return answer{}, err
	}

	return created(c.issueJSON(present(), t, t.state.now()))
}

// A text is a string that may also be sent as a number.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = text(s)
		return nil
	}

	var n json.Number
	if err := json.Unmarshal(raw, &n); err != nil {
		return err
	}

	*t = text(n)
	return nil
}

// An issueEdit is what PATCH may send; nil is what it left out.
type issueEdit struct {
	Title       *string
	Body        *string
	State       *string
	StateReason *string `json:"state_reason"`
	Labels      *[]labelName
}

func patchIssue(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}

	var sent issueEdit
	if err := c.decode(&sent); err != nil {
		return answer{}, err
	}
	if err := c.mayEdit(c.who, t); err != nil {
		return answer{}, err
	}
	if err := c.editIssue(t, sent); err != nil {
		return answer{}, err
	}

	return ok(c.issueJSON(present(), t, t.state.now()))
}

// editIssue applies an edit. Labels from somebody below triage are dropped without a word, as
// GitHub does.
func (c *call) editIssue(t *thread, sent issueEdit) error {
	if sent.Labels != nil && c.who.role(t.repo) >= roleTriage {
		if err := c.relabelIssue(c.who, t, names(*sent.Labels)); err != nil {
			return err
		}
	}

	if err := c.editText(c.who, t, sent.Title, sent.Body); err != nil {
		return err
	}
	if sent.State == nil {
		return nil
	}

	reason := ""
	if sent.StateReason != nil {
		reason = *sent.StateReason
	}

	return c.setState(c.who, t, *sent.State, reason)
}

func postAssignees(c *call) (answer, error) {
	t, err := c.changeAssignees(c.assign)
	if err != nil {
		return answer{}, err
	}
	return created(c.issueJSON(present(), t, t.state.now()))
}

func deleteAssignees(c *call) (answer, error) {
	t, err := c.changeAssignees(c.unassign)
	if err != nil {
		return answer{}, err
	}
	return ok(c.issueJSON(present(), t, t.state.now()))
}

func (c *call) changeAssignees(change func(actor, *thread, []string) error) (*thread, error) {
	t, _, err := c.target()
	if err != nil {
		return nil, err
	}

	var sent struct{ Assignees []string }
	if err := c.decode(&sent); err != nil {
		return nil, err
	}

	return t, change(c.who, t, sent.Assignees)
}

func lockIssue(c *call) (answer, error) { return c.changeLock(true) }

func unlockIssue(c *call) (answer, error) { return c.changeLock(false) }

func (c *call) changeLock(locked bool) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}
	if err := c.setLocked(c.who, t, locked); err != nil {
		return answer{}, err
	}

	return nothing()
}

func listEvents(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}
	events := paged(c, t.eventsIn(c.view))
	return ok(rendered(events, func(e event) object { return c.eventJSON(t, e) }))
}

// listTimeline is the events with the comments and the mentions elsewhere among them, by time.
func listTimeline(c *call) (answer, error) {
	t, _, err := c.target()
	if err != nil {
		return answer{}, err
	}

	all := c.crossReferences(t)
	for _, e := range t.eventsIn(c.view) {
		text := c.eventJSON(t, e)
		delete(text, "assigner") // the description has it in the list of events only
		all = append(all, line{e.created, text})
	}

	for _, m := range t.commentsIn(c.view) {
		text := c.commentJSON(m)
		text["event"], text["actor"] = "commented", c.accountJSON(m.author)
		all = append(all, line{m.created, text})
	}

	slices.SortStableFunc(all, func(a, b line) int { return a.at.Compare(b.at) })
	return ok(rendered(paged(c, all), func(l line) object { return l.text }))
}
