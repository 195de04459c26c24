package githubsim

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// A role is what an account may do in a repository; each includes the ones before it.
type role int

const (
	roleNone role = iota
	roleRead
	roleTriage
	roleWrite
	roleMaintain
	roleAdmin
)

// roleNames are GitHub's names of the roles, in their order.
func roleNames() []string {
	return []string{"none", "read", "triage", "write", "maintain", "admin"}
}

func (r role) String() string { return roleNames()[r] }

// A grant is the role that an account was given in a repository.
type grant struct {
	role role
	name string // of a custom role that an organization has derived from role; empty for GitHub's own
}

// String is the name that GitHub shows for the role.
func (g grant) String() string { return cmp.Or(g.name, g.role.String()) }

// parseGrant reads one of GitHub's roles, or a custom one as BASE:NAME.
func parseGrant(text string) (grant, error) {
	base, name, custom := strings.Cut(text, ":")
	for i, known := range roleNames() {
		if i > 0 && base == known && custom == (name != "") {
			return grant{role(i), name}, nil
		}
	}

	return grant{}, fmt.Errorf("permission %q: expected read, triage, write, maintain or admin, or for a custom role one of them and its name, as in triage:keeper", text)
}

// permission is the older, coarser name of a role, which REST reports beside it.
func (r role) permission() string {
	switch r {
	case roleTriage:
		return "read"
	case roleMaintain:
		return "write"
	default:
		return r.String()
	}
}

// An account is a user, a bot or an organization.
type account struct {
	id    int64
	login string
	kind  string // User, Bot or Organization
	roles map[int64]grant

	throttle *throttle
}

// plain is the login as GraphQL shows it: bots lose their suffix.
func (a *account) plain() string { return strings.TrimSuffix(a.login, botSuffix) }

const botSuffix = "[bot]"

// A token is one credential of an account.
type token struct {
	account *account
	scopes  []string // of a classic token
	classic bool
	grants  grants
	budgets map[string]*budget
}

// A repository and everything in it.
type repository struct {
	id        int64
	owner     *account
	parent    *repository // of a fork
	name      string
	private   bool
	archived  bool
	issuesOff bool
	base      string // the default branch
	created   time.Time
	files     map[string]string
	labels    []*cell[label]
	threads   map[int]*thread
	last      int // the highest number given out
	git       *gitrepo.Repo
	verdicts  map[string]*verdict // by commit id
	queue     []*queued
	merge     SeedMerge
}

func (r *repository) fullName() string { return r.owner.login + "/" + r.name }

// A label of a repository.
type label struct {
	id          int64
	name        string
	color       string
	description *string
	created     time.Time
	updated     time.Time
}

// A thread is an issue or a pull request with its comments and its events.
type thread struct {
	repo     *repository
	number   int
	state    cell[issue]
	comments []*cell[comment] // ascending id
	events   []event
	movedTo  *thread
	deleted  bool
}

// An issue is one version of an issue or of a pull request.
type issue struct {
	id        int64
	title     string
	body      string
	author    *account
	open      bool
	reason    string // completed, not_planned, reopened, duplicate or empty
	created   time.Time
	updated   time.Time
	closed    time.Time // zero while open
	closedBy  *account
	locked    bool
	labels    []int64
	assignees []*account
	blockers  []*thread
	children  []*thread
	parent    *thread
	pull      *pull // nil for an issue
}

// A pull is what a pull request has beyond an issue.
type pull struct {
	id       int64
	head     string
	headRepo *repository
	headSHA  string // when it was opened or merged; the only one where there is no git
	base     string
	baseSHA  string
	draft    bool
	merged   time.Time // zero if it was not merged
	mergedBy *account
	mergeSHA string
	closes   []reference // what its body says it closes
	commits  []string    // their messages, where there is no git
	files    map[string]string
	behind   bool
}

// A comment is one version of an issue comment.
type comment struct {
	id        int64
	thread    *thread
	body      string
	author    *account
	created   time.Time
	updated   time.Time
	edited    time.Time // zero if never
	editor    *account
	edits     []edit // oldest first; the last is edited and editor
	hidden    string // why it was minimized; empty if it is not
	spam      bool   // hidden by GitHub: counted and never listed
	reactions []reaction
}

// An edit is one line of a comment's edit history.
type edit struct {
	id     int64
	at     time.Time
	editor *account
}

type reaction struct {
	id      int64
	content string
	author  *account
	created time.Time
}

// An event is one line of a thread's timeline.
type event struct {
	id      int64
	seq     uint64
	kind    string // labeled, unlabeled, closed, reopened, renamed, merged, comment_deleted …
	actor   *account
	created time.Time
	label   label
	reason  string
	from    string // the old title of a rename
	to      string

	assignee *account
}
