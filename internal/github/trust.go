package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/label-state/label-state/internal/claim"
)

// A Role is what an account may do in a repository.
type Role string

// GitHub's roles that may label an issue, least first.
const (
	RoleTriage   Role = "triage"
	RoleWrite    Role = "write"
	RoleMaintain Role = "maintain"
	RoleAdmin    Role = "admin"
)

const (
	roleRead Role = "read"
	roleNone Role = "none"
)

// actionsBot is who a workflow's own token writes as.
const actionsBot = "github-actions[bot]"

const (
	rolesAtOnce  = 8  // requests for roles under way
	rolesInQuery = 50 // logins in one query for roles
)

// rank orders roles; one that is not known is 0.
func rank(r Role) int {
	return 1 + slices.Index([]Role{roleRead, RoleTriage, RoleWrite, RoleMaintain, RoleAdmin}, r)
}

// An account is a login in a repository, whose records are judged there.
type account struct {
	repo        claim.Repo
	login       string
	association string // to the repository, as a comment of the account says; empty when not known
}

func (a account) key() string { return key(a.repo.String(), a.login) }

func (a account) isApp() bool { return strings.HasSuffix(strings.ToLower(a.login), botSuffix) }

// roles finds out whose records count.
type roles struct {
	api          *api
	viewer       *viewer
	repositories *repositories
	trust        Trust
	view         bool // for a caller that decides nothing
	warn         func(string)

	mu        sync.Mutex
	known     map[string]Role // by owner/repo and login, lower case
	secretive map[string]bool // repositories where GitHub tells us no roles
	welcome   bool            // who does not count may claim by a comment
	guessed   string          // that a view went by a guess; empty when it did not
}

// judged knows without any request whether an account counts, or does not know.
func (rs *roles) judged(a account) (counts, known bool) {
	named := slices.ContainsFunc(rs.trust.Logins, func(one string) bool { return claim.SameLogin(one, a.login) }) ||
		slices.ContainsFunc(rs.trust.Apps, func(slug string) bool { return claim.SameLogin(slug+botSuffix, a.login) })
	switch {
	case a.login == Ghost || a.login == "":
		return false, true
	case a.association == "OWNER" || claim.SameLogin(a.repo.Owner, a.login) || named:
		return true, true
	case a.isApp(): // GitHub tells no role of an App
		return false, true
	}

	rs.mu.Lock()
	role, known := rs.known[a.key()]
	rs.mu.Unlock()
	return rank(role) >= rank(rs.trust.Minimum), known
}

// belongs reports whether GitHub's own word beside a comment says that an account is of the
// repository. It does not say with which role, and it may be missing for one that has a role, so it
// decides nothing.
func belongs(association string) bool {
	return association == "MEMBER" || association == "COLLABORATOR"
}

// A HiddenRoleError says that it could not be found out whether records of a login count, because
// GitHub tells roles only to those who may push.
type HiddenRoleError struct {
	Repo  claim.Repo
	Login string
}

func (e *HiddenRoleError) Error() string {
	return fmt.Sprintf("it is not known whether records of %s count in %s: GitHub does not tell this token its role there", oneLine(e.Login), e.Repo)
}

// Remedy says what makes the question unnecessary.
func (e *HiddenRoleError) Remedy() string {
	return fmt.Sprintf("use the token of a login that may push to %s; or add %s to trust.logins in .github/label-state.yml on the default branch if it works there, and delete its records if not",
		e.Repo, oneLine(e.Login))
}

// noteSecretive remembers that GitHub refuses to tell us roles in a repository.
func (rs *roles) noteSecretive(r claim.Repo) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.secretive[key(r.String())] = true
}

func (rs *roles) noteRole(r claim.Repo, login string, role Role) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.known[key(r.String(), login)] = role
}

// A judgement is whose records count, and of whom that could not be found out.
type judgement struct {
	roles *roles
	errs  map[string]error // by account
}

// of tells of an account. One whose role GitHub does not tell is judged by what it calls the author
// beside the comment, for a view: nothing is decided by that, and every other client leaves it
// unknown.
func (j judgement) of(a account) (bool, error) {
	rs, err := j.roles, j.errs[a.key()]
	if err == nil {
		counts, _ := rs.judged(a)
		return counts, nil
	}
	if !rs.view || !is[*HiddenRoleError](err) {
		return false, err
	}

	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.guessed == "" {
		rs.guessed = fmt.Sprintf("GitHub does not tell this token who has which role in %s; records count here if GitHub calls their author an owner, a member or a collaborator, which is a guess", a.repo)
		rs.warn(rs.guessed)
	}

	return a.association == "OWNER" || belongs(a.association), nil
}

// Guessed says in one line that a view went by a guess about whose records count; empty when it did
// not.
func (rs *roles) Guessed() string {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.guessed
}

// mayCount reports whether an account counts, or would if GitHub told the role of everybody whom it
// calls a member or a collaborator.
func (j judgement) mayCount(a account) bool {
	counts, err := j.of(a)
	return counts || is[*HiddenRoleError](err) && belongs(a.association)
}

// judge finds out whose records count. Only those are asked about that nothing else decides, each
// once in a client's life: many by one query where we may list collaborators, the others side by
// side.
func (rs *roles) judge(ctx context.Context, all []account) judgement {
	j := judgement{rs, map[string]error{}}
	if _, err := rs.viewer.self(ctx); err != nil {
		for _, a := range all {
			j.errs[a.key()] = err
		}
		return j
	}

	var ask []account
	for _, a := range all {
		_, known := rs.judged(a)
		if !known && !slices.ContainsFunc(ask, func(o account) bool { return o.key() == a.key() }) {
			ask = append(ask, a)
		}
	}

	if len(ask) > 1 {
		ask = rs.listRoles(ctx, ask)
	}
	errs := make([]error, len(ask))
	var group sync.WaitGroup
	room := make(gate, rolesAtOnce)
	for n, a := range ask {
		if errs[n] = room.enter(ctx); errs[n] != nil {
			continue
		}
		group.Go(func() {
			defer room.leave()
			errs[n] = rs.askRole(ctx, a)
		})
	}

	group.Wait()
	for n, err := range errs {
		var hidden *HiddenRoleError
		switch {
		case errors.As(err, &hidden):
			j.errs[ask[n].key()] = hidden
		case err != nil:
			j.errs[ask[n].key()] = fmt.Errorf("ask for the role of %s: %w", oneLine(ask[n].login), err)
		}
	}

	return j
}

// askRole asks GitHub for the role of one account.
func (rs *roles) askRole(ctx context.Context, a account) error {
	if _, known := rs.judged(a); known {
		return nil
	}
	hidden := &HiddenRoleError{Repo: a.repo, Login: a.login}
	viewer := rs.viewer.known()
	rs.mu.Lock()
	own, told := rs.known[key(a.repo.String(), viewer)]
	refused := rs.secretive[key(a.repo.String())] || told && viewer != "" && rank(own) < rank(RoleWrite)
	rs.mu.Unlock()
	if refused { // GitHub tells roles only to those who may push
		return hidden
	}

	to := at(a.repo.Owner, a.repo.Name, "/collaborators/%s/permission", url.PathEscape(a.login))
	got, _, err := fetch[restPermission](ctx, rs.api, to)
	switch {
	case to.err == nil && is[*NotFoundError](err):
		rs.noteRole(a.repo, a.login, roleNone)
		return nil

	case is[*PermissionError](err):
		rs.noteSecretive(a.repo)
		return hidden
	case err != nil:
		return err
	case got.Permission == "":
		return &AnswerError{Reason: "it is not a permission"}
	}

	role := got.Permission
	if _, complete := got.User.Permissions["triage"]; complete {
		role = mapped(got.User.Permissions)
	} else if rank(got.RoleName) > rank(got.Permission) {
		role = got.RoleName
	}

	rs.noteRole(a.repo, a.login, role)
	return nil
}

// restPermission is what GitHub tells of a collaborator. permission does not know triage, and
// role_name may be a name that an organization has made up; the map ranks every role, but servers
// that are older do not send it.
type restPermission struct {
	Permission Role
	RoleName   Role `json:"role_name"`
	User       struct {
		Permissions map[string]bool
	}
}

// mapped is the role that a map of permissions stands for; empty when it has none.
func mapped(permissions map[string]bool) Role {
	for _, have := range []struct {
		field string
		role  Role
	}{{"admin", RoleAdmin}, {"maintain", RoleMaintain}, {"push", RoleWrite}, {"triage", RoleTriage}, {
		"pull",
		roleRead,
	}} {
		if permissions[have.field] {
			return have.role
		}
	}

	return ""
}

// listRoles asks for the roles of many accounts at once where we may list collaborators, and
// returns those that still have to be asked about one by one. Who is not listed has no role; but of
// somebody whose comments say that they belong to the repository that is not believed.
func (rs *roles) listRoles(ctx context.Context, ask []account) (left []account) {
	by := map[claim.Repo][]account{}
	var repos []claim.Repo
	listable := rs.api.has(featureCollaborators) && rank(rs.trust.Minimum) > rank(roleRead)
	for _, a := range ask {
		if !listable || rank(rs.ownRole(a.repo)) < rank(RoleWrite) { // to list them takes the right to push
			left = append(left, a)
			continue
		}

		if by[a.repo] == nil {
			repos = append(repos, a.repo)
		}
		by[a.repo] = append(by[a.repo], a)
	}

	var group errgroup.Group
	group.SetLimit(rolesAtOnce)
	for _, r := range repos {
		left = append(left, by[r]...)
		for part := range slices.Chunk(by[r], rolesInQuery) {
			if len(part) > 1 {
				group.Go(func() error { return rs.queryRoles(ctx, r, part) })
			}
		}
	}

	_ = group.Wait() // whoever it did not tell of is left
	return slices.DeleteFunc(left, func(a account) bool { _, known := rs.judged(a); return known })
}

// featureCollaborators is GraphQL's list of permissions.
const featureCollaborators = "collaborators"

// queryRoles notes the roles of up to fifty accounts of a repository.
func (rs *roles) queryRoles(ctx context.Context, r claim.Repo, all []account) error {
	d := newDocument()
	d.open("r", r)
	for n, a := range all {
		d.add("    a%d: collaborators(login: %s, first: 1) { edges { permission node { login } } }\n", n,
			d.bind("String", a.login))
	}

	d.add("  }\n")
	type list struct {
		Edges []*struct {
			Permission string
			Node       struct{ Login string }
		}
	}
	var data map[string]map[string]json.RawMessage
	got, err := rs.api.ask(ctx, d.text(""), d.variables, &data)
	if err == nil && len(got.errors) > 0 {
		err = got.errors[0].typed(Object{CollaboratorsObject, "of " + r.String()})
	}

	if err != nil {
		if !wholeRequest(err) && !tooMuch(err) {
			rs.api.lack(featureCollaborators)
		}
		return err
	}

	for n, a := range all {
		var found *list
		if err := json.Unmarshal(data["r"][fmt.Sprintf("a%d", n)], &found); err != nil || found == nil {
			continue
		}

		role := roleNone
		for _, e := range found.Edges {
			if e != nil && claim.SameLogin(e.Node.Login, a.login) {
				role = Role(strings.ToLower(e.Permission))
			}
		}

		if role != roleNone || !belongs(a.association) {
			rs.noteRole(r, a.login, role)
		}
	}

	return nil
}

// An OutsiderError says that nobody counts the records of our own login in a repository.
type OutsiderError struct {
	Repo    claim.Repo
	Login   string
	Role    Role // empty for an App
	Minimum Role // that records count from
	Welcome bool // it may claim all the same, by a comment that the Action carries out
	refused
}

func (e *OutsiderError) Error() string {
	if e.Role == "" {
		return fmt.Sprintf("records of %s do not count in %s: it is an App that trust.apps does not list",
			e.Login, e.Repo)
	}
	return fmt.Sprintf("records of %s do not count in %s: its role there is %s, and trust.permission is %s", e.Login,
		e.Repo, e.Role, e.Minimum)
}

// Remedy says what makes the records count.
func (e *OutsiderError) Remedy() string {
	if slug := e.App(); slug != "" {
		return fmt.Sprintf("add %s to trust.apps in .github/label-state.yml on the default branch of %s", slug, e.Repo)
	}
	out := fmt.Sprintf("give %s the role %s in %s, or add it to trust.logins in .github/label-state.yml on the default branch", e.Login, e.Minimum, e.Repo)
	if rank(e.Role) >= rank(RoleTriage) {
		out += fmt.Sprintf(", or set trust.permission to %s there", e.Role)
	}

	return out
}

// App is the slug that trust.apps lacks; empty when the login is no App's.
func (e *OutsiderError) App() string {
	slug, isApp := strings.CutSuffix(e.Login, botSuffix)
	if !isApp {
		return ""
	}
	return slug
}

// WelcomeContributors has Heard say that a login which does not count may claim by a comment.
func (rs *roles) WelcomeContributors() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.welcome = true
}

// Heard asks about our own login what every other reader will ask: whether its records count in a
// repository. nil means that they do, an *OutsiderError that they do not (ledger.Forge).
func (rs *roles) Heard(ctx context.Context, r claim.Repo) error {
	login, err := rs.viewer.self(ctx)
	if err != nil || login == "" {
		return err
	}

	a := account{repo: r, login: login}
	counts, known := rs.judged(a)
	if !known || !counts && !a.isApp() && rs.ownRole(r) == "" {
		got, err := rs.repositories.Repository(ctx, r) // shows our own role to everybody who has one
		switch {
		case err == nil && got.Role == "":
			err = rs.askRole(ctx, a)
		case err == nil:
			rs.noteRole(r, login, got.Role)
		}

		if err != nil {
			return fmt.Errorf("find out whether records of %s count in %s: %w", login, r, err)
		}
		counts, _ = rs.judged(a)
	}

	if counts {
		return nil
	}

	role := rs.ownRole(r)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return &OutsiderError{
		Repo:    r,
		Login:   login,
		Role:    role,
		Minimum: rs.trust.Minimum,
		Welcome: rs.welcome && !a.isApp(),
	}
}

func (rs *roles) ownRole(r claim.Repo) Role {
	viewer := rs.viewer.known()
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.known[key(r.String(), viewer)]
}

// MayLabel reports whether a login may steer a repository: its records count there
// (spec.md#which-records-count). It is the one judgement for everybody, our own login included: the
// configuration's logins and Apps, the owner, and collaborators with the role that the
// configuration asks for. A question that could not be answered is an error, never a no. What
// GitHub says of the author's association is never asked.
func (rs *roles) MayLabel(ctx context.Context, r claim.Repo, login string) (bool, error) {
	a := account{repo: r, login: login}
	return rs.judge(ctx, []account{a}).of(a)
}
