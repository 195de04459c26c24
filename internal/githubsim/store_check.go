package githubsim

import (
	"slices"
	"time"
)

// A checkRun is one run of a check on a commit, as an app reports it.
type checkRun struct {
	id         int64
	name       string
	status     string // queued, in_progress, completed, waiting, requested or pending
	conclusion string // empty until it is completed
	started    time.Time
	completed  time.Time
	app        *account
}

// A commitStatus is a status of the older kind, set by anybody who may push.
type commitStatus struct {
	id          int64
	state       string // error, failure, pending or success
	context     string
	description string
	target      string
	creator     *account
	created     time.Time
}

// A verdict is what is known of one commit, in the order in which it came.
type verdict struct {
	runs     []checkRun
	statuses []commitStatus
}

// verdictOn is what is known of a commit; there is always a place for more.
func (r *repository) verdictOn(sha string) *verdict {
	if r.verdicts == nil {
		r.verdicts = map[string]*verdict{}
	}
	if r.verdicts[sha] == nil {
		r.verdicts[sha] = &verdict{}
	}

	return r.verdicts[sha]
}

// latest are the newest run of each name, newest first, as GitHub filters them by default.
func (v *verdict) latest() []checkRun {
	var out []checkRun
	for _, run := range slices.Backward(v.runs) {
		if !slices.ContainsFunc(out, func(o checkRun) bool { return o.name == run.name && o.app == run.app }) {
			out = append(out, run)
		}
	}

	return out
}

// current are the newest status of each context, newest first.
func (v *verdict) current() []commitStatus {
	var out []commitStatus
	for _, s := range slices.Backward(v.statuses) {
		if !slices.ContainsFunc(out, func(o commitStatus) bool { return o.context == s.context }) {
			out = append(out, s)
		}
	}

	return out
}

// combined is the one state of all statuses; pending when there are none.
func combined(all []commitStatus) string {
	is := func(states ...string) func(commitStatus) bool {
		return func(s commitStatus) bool { return slices.Contains(states, s.state) }
	}

	switch {
	case slices.ContainsFunc(all, is("error", "failure")):
		return "failure"
	case len(all) == 0 || slices.ContainsFunc(all, is("pending")):
		return "pending"
	}

	return "success"
}

// setCheck reports a run of a check; one that is completed ends now.
func (st *store) setCheck(r *repository, sha string, run checkRun) {
	run.id, run.started = st.nextID("checkrun"), st.moment
	if run.status == "completed" {
		run.completed = st.moment
	}
	v := r.verdictOn(sha)
	v.runs = append(v.runs, run)
}

// setStatus adds a status of the older kind.
func (st *store) setStatus(who actor, r *repository, sha string, s commitStatus) (commitStatus, error) {
	if err := who.need(r, roleWrite); err != nil {
		return s, err
	}
	if !slices.Contains([]string{"error", "failure", "pending", "success"}, s.state) {
		return s, invalid("Status", "state", "invalid")
	}

	if s.context == "" {
		s.context = "default"
	}
	s.id, s.creator, s.created = st.nextID("status"), who.account, st.moment
	v := r.verdictOn(sha)
	v.statuses = append(v.statuses, s)

	return s, nil
}

// SetCheck reports a run of a check on the newest commit of a pull request, as an app would. The
// conclusion is empty unless the status is completed.
func (s *Server) SetCheck(repo string, number int, login, name, status, conclusion string) error {
	return s.onHead(repo, number, login, func(st *store, who actor, r *repository, sha string) error {
		st.setCheck(r, sha, checkRun{
			name:       name,
			status:     status,
			conclusion: conclusion,
			app:        who.account,
		})

		return nil
	})
}

// SetStatus sets a status of the older kind on the newest commit of a pull request.
func (s *Server) SetStatus(repo string, number int, login, context, state string) error {
	return s.onHead(repo, number, login, func(st *store, who actor, r *repository, sha string) error {
		_, err := st.setStatus(who, r, sha, commitStatus{context: context, state: state})
		return err
	})
}
