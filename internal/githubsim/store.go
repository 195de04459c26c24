package githubsim

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A store is all that the server knows. Its methods need the server's lock.
type store struct {
	moment   time.Time // of the transaction under way, at GitHub's resolution of one second
	journal  journal
	lastIDs  map[string]int64
	accounts map[string]*account
	tokens   map[string]*token
	repos    map[string]*repository // by lower-case full name, old names included
	threads  map[int64]*thread      // by issue id
	comments map[int64]*cell[comment]
	hooks    []delivery
	web      string // base of the pages that people read
	api      string // base of the REST API
}

func newStore(at time.Time) *store {
	return &store{
		moment: clock(at),
		lastIDs: map[string]int64{
			"comment": 2_200_000_000, "issue": 2_400_000_000, "pull": 1_900_000_000, "label": 5_100_000_000,
			"event": 13_000_000_000, "reaction": 210_000_000, "repository": 700_000_000, "account": 1000,
		},
		accounts: map[string]*account{},
		tokens:   map[string]*token{},
		repos:    map[string]*repository{},
		threads:  map[int64]*thread{},
		comments: map[int64]*cell[comment]{},
	}
}

// clock cuts a moment to what GitHub stores.
func clock(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// nextID counts up within one kind of object, across all repositories.
func (st *store) nextID(kind string) int64 {
	st.lastIDs[kind]++
	return st.lastIDs[kind]
}

// change is the number of the transaction under way.
func (st *store) change() uint64 { return st.journal.change() }

// account returns the account of that login, which is made if nobody has it yet.
func (st *store) account(login string) *account {
	key := strings.ToLower(login)
	if a := st.accounts[key]; a != nil {
		return a
	}

	a := &account{
		id:       st.nextID("account"),
		login:    login,
		kind:     "User",
		roles:    map[int64]grant{},
		throttle: newThrottle(),
	}

	if strings.HasSuffix(key, botSuffix) {
		a.kind = "Bot"
	}
	st.accounts[key] = a

	return a
}

// An actor is who makes a request; without an account it is anonymous.
type actor struct {
	account *account
	token   *token
}

// as is the actor that test helpers use: an account without the limits of a token.
func (st *store) as(login string) actor { return actor{account: st.account(login)} }

// role is what the actor may do in the repository.
func (who actor) role(r *repository) role {
	if who.account == nil {
		if r.private {
			return roleNone
		}
		return roleRead
	}

	return who.account.role(r)
}

func (a *account) role(r *repository) role { return a.grant(r).role }

// grant is the role that the account has in the repository, by whichever way.
func (a *account) grant(r *repository) grant {
	if a == r.owner {
		return grant{role: roleAdmin}
	}
	if have, listed := a.roles[r.id]; listed {
		return have
	}
	if r.private {
		return grant{role: roleNone}
	}

	return grant{role: roleRead}
}

// association is how GitHub describes the author's tie to the repository.
func (a *account) association(r *repository) string {
	_, listed := a.roles[r.id]
	switch {
	case a == r.owner:
		return "OWNER"
	case a.kind == "Bot":
		return "NONE"
	case listed && r.owner.kind == "Organization":
		return "MEMBER"
	case listed:
		return "COLLABORATOR"
	case a.hasMerged(r):
		return "CONTRIBUTOR"
	default:
		return "NONE"
	}
}

func (a *account) hasMerged(r *repository) bool {
	for _, t := range r.threads {
		if now := t.state.now(); now.pull != nil && now.author == a && !now.pull.merged.IsZero() {
			return true
		}
	}
	return false
}

// need refuses a write by somebody whose role is too small, and any write to an archive.
func (who actor) need(r *repository, want role) error {
	switch {
	case who.account == nil:
		return &refusal{status: 401, message: "Requires authentication"}
	case r.archived:
		return archived()
	case who.role(r) >= want:
		return nil
	case who.account.kind == "Bot":
		return forbidden("Resource not accessible by integration")
	case want >= roleWrite:
		return forbidden("Must have push access to repository")
	default:
		return forbidden("Must have admin rights to Repository.")
	}
}

// repository returns the repository that the actor sees under this name. A moved one is returned
// with a refusal that says where it is now.
func (st *store) repository(who actor, owner, name string) (*repository, error) {
	full := owner + "/" + name
	r := st.repos[strings.ToLower(full)]
	if r == nil || who.role(r) < roleRead {
		return nil, unresolved("a Repository with the name '%s'.", full)
	}
	if !strings.EqualFold(r.fullName(), full) {
		return r, &refusal{
			status:  301,
			message: "Moved Permanently",
			moved:   fmt.Sprintf("/repositories/%d", r.id),
			renamed: true,
		}
	}

	return r, nil
}

// repositoryByID serves the addresses that redirects point at.
func (st *store) repositoryByID(id int64) *repository {
	for _, r := range st.repos {
		if r.id == id {
			return r
		}
	}
	return nil
}

// distinct lists every repository once, by id.
func (st *store) distinct() []*repository {
	var list []*repository
	for key, r := range st.repos {
		if key == strings.ToLower(r.fullName()) {
			list = append(list, r)
		}
	}

	slices.SortFunc(list, func(a, b *repository) int { return int(a.id - b.id) })
	return list
}

// thread returns the issue or pull request of that number as the view has it.
func (st *store) thread(v view, r *repository, number int, what string) (*thread, issue, error) {
	missing := unresolved("%s with the number of %d.", what, number)
	t := r.threads[number]
	if t == nil {
		return nil, issue{}, missing
	}
	if t.deleted {
		return nil, issue{}, gone("This issue was deleted")
	}
	if t.movedTo != nil {
		to := t.movedTo
		return nil, issue{}, &refusal{
			status:  301,
			message: "Moved Permanently",
			absent:  missing.absent,
			moved:   fmt.Sprintf("/repositories/%d/issues/%d", to.repo.id, to.number),
		}
	}

	now, ok := t.state.at(v)
	if !ok {
		return nil, issue{}, missing
	}

	return t, now, nil
}

// numbers lists the numbers of the repository's threads, ascending.
func (r *repository) numbers() []int {
	numbers := make([]int, 0, len(r.threads))
	for n, t := range r.threads {
		if !t.deleted && t.movedTo == nil {
			numbers = append(numbers, n)
		}
	}

	slices.Sort(numbers)
	return numbers
}

// commentsIn lists the thread's comments that the view has, ascending id. Spam is not among them.
func (t *thread) commentsIn(v view) []comment {
	return slices.DeleteFunc(t.everyComment(v), func(c comment) bool { return c.spam })
}

// everyComment is commentsIn with the spam, which GitHub counts.
func (t *thread) everyComment(v view) []comment {
	var seen []comment
	for _, c := range t.comments {
		if now, ok := c.at(v); ok && !v.gap[now.id] {
			seen = append(seen, now)
		}
	}

	return seen
}

// eventsIn lists the thread's timeline that the view has, oldest first.
func (t *thread) eventsIn(v view) []event {
	var seen []event
	for _, e := range t.events {
		if e.seq <= v.upTo {
			seen = append(seen, e)
		}
	}

	return seen
}

// record adds a line to the thread's timeline.
func (st *store) record(t *thread, e event) {
	e.id, e.seq = st.nextID("event"), st.change()
	if e.created.IsZero() {
		e.created = st.moment
	}
	t.events = append(t.events, e)
}

// put stores a new version of the issue.
func (st *store) put(t *thread, now issue) {
	t.state.put(st.change(), now)
}

// touch stores a new version of the issue that was updated now.
func (st *store) touch(t *thread, now issue) {
	now.updated = st.moment
	st.put(t, now)
}
