package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

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

// roles are all that a collaborator can have, least first.
func roles() []Role { return []Role{roleRead, RoleTriage, RoleWrite, RoleMaintain, RoleAdmin} }

// rank orders roles; one that is not known is 0.
func rank(r Role) int { return 1 + slices.Index(roles(), r) }

// An account is a login in a repository, whose records are judged there.
type account struct {
	repo        claim.Repo
	login       string
	association string // to the repository, as a comment of the account says; empty when not known
}

func (a account) key() string { return key(a.repo.String(), a.login) }

func (a account) isApp() bool { return strings.HasSuffix(strings.ToLower(a.login), botSuffix) }

// counts knows without any request whether an account counts, or does not know.
func (c *Client) counts(a account) (counts, known bool) {
	named := slices.ContainsFunc(c.o.Trust.Logins, func(one string) bool { return claim.SameLogin(one, a.login) }) ||
		slices.ContainsFunc(c.o.Trust.Apps, func(slug string) bool { return claim.SameLogin(slug+botSuffix, a.login) })
	switch {
	case a.login == Ghost || a.login == "":
		return false, true
	case a.association == "OWNER" || claim.SameLogin(a.repo.Owner, a.login) || named:
		return true, true
	case a.isApp(): // GitHub tells no role of an App
		return false, true
	}

	role, known := c.roles.get(a.key())
	return rank(role) >= rank(c.o.Trust.Minimum), known
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

func (c *Client) noteRole(r claim.Repo, login string, role Role) {
	c.roles.note(key(r.String(), login), role)
}

// A judgement says whose records count: by the roles that the client knows, which it was made to
// learn.
type judgement struct {
	c       *Client
	unknown memo[string, error] // by account: why it is not known of this one
}

// of tells of an account. One whose role GitHub does not tell is judged by what it calls the author
// beside the comment, for a view: nothing is decided by that, and every other client leaves it
// unknown.
func (j *judgement) of(a account) (bool, error) {
	c := j.c
	err, unknown := j.unknown.get(a.key())
	if !unknown {
		counts, _ := c.counts(a)
		return counts, nil
	}
	if !c.o.View || !is[*HiddenRoleError](err) {
		return false, err
	}

	guess := fmt.Sprintf("GitHub does not tell this token who has which role in %s; records count here if GitHub calls their author an owner, a member or a collaborator, which is a guess", a.repo)
	if c.guessed.CompareAndSwap(nil, guess) {
		c.o.Warn(guess)
	}

	return a.association == "OWNER" || belongs(a.association), nil
}

// Guessed says in one line that a view went by a guess about whose records count; empty when it did
// not.
func (c *Client) Guessed() string {
	guess, _ := c.guessed.Load().(string)
	return guess
}

// mayCount reports whether an account counts, or would if GitHub told the role of everybody whom it
// calls a member or a collaborator.
func (j *judgement) mayCount(a account) bool {
	counts, err := j.of(a)
	return counts || is[*HiddenRoleError](err) && belongs(a.association)
}

// judgementOf finds out whose records count.
func (c *Client) judgementOf(ctx context.Context, all []account) *judgement {
	j := &judgement{c: c}
	j.ask(ctx, all)
	return j
}

// ask finds out about more accounts. The answers are the roles that it notes in the client; what it
// collects itself is only of whom it learned none. Only those are asked about that nothing else
// decides, each once in a client's life: many by one query where we may list collaborators, the
// others side by side.
func (j *judgement) ask(ctx context.Context, all []account) {
	c := j.c
	if _, err := c.self(ctx); err != nil {
		for _, a := range all {
			j.unknown.note(a.key(), err)
		}
		return
	}

	var ask []account
	for _, a := range all {
		_, known := c.counts(a)
		if !known && !slices.ContainsFunc(ask, func(o account) bool { return o.key() == a.key() }) {
			ask = append(ask, a)
		}
	}

	if len(ask) > 1 {
		ask = c.listRoles(ctx, ask)
	}
	var group errgroup.Group
	group.SetLimit(rolesAtOnce)
	for _, a := range ask {
		group.Go(func() error {
			err := c.askRole(ctx, a)
			if err == nil {
				return nil
			}
			if !is[*HiddenRoleError](err) {
				if errors.Is(context.Cause(ctx), errSlow) {
					err = errSlow
				}
				err = fmt.Errorf("ask for the role of %s: %w", oneLine(a.login), err)
			}

			j.unknown.note(a.key(), err)
			return nil
		})
	}

	_ = group.Wait()
}

// askRole asks GitHub for the role of one account.
func (c *Client) askRole(ctx context.Context, a account) error {
	if _, known := c.counts(a); known {
		return nil
	}
	hidden := &HiddenRoleError{Repo: a.repo, Login: a.login}
	viewer := c.known()
	own, told := c.roles.get(key(a.repo.String(), viewer))
	secretive := key(featureRoles, a.repo.String())
	// GitHub tells roles only to those who may push
	if !c.has(secretive) || told && viewer != "" && rank(own) < rank(RoleWrite) {
		return hidden
	}

	to := at(a.repo, "/collaborators/%s/permission", url.PathEscape(a.login))
	got, _, err := fetch[restPermission](ctx, c, to)
	switch {
	case to.err == nil && is[*NotFoundError](err):
		c.noteRole(a.repo, a.login, roleNone)
		return nil

	case is[*PermissionError](err):
		c.lack(secretive)
		return hidden
	case err != nil:
		return err
	case got.Permission == "":
		return unusable("it is not a permission")
	}

	role := got.Permission
	if _, complete := got.User.Permissions["triage"]; complete {
		role = mapped(got.User.Permissions)
	} else if rank(got.RoleName) > rank(got.Permission) {
		role = got.RoleName
	}

	c.noteRole(a.repo, a.login, role)
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
	for n, field := range slices.Backward([]string{"pull", "triage", "push", "maintain", "admin"}) {
		if permissions[field] {
			return roles()[n]
		}
	}

	return ""
}

// listRoles asks for the roles of many accounts at once where we may list collaborators, and
// returns those that still have to be asked about one by one. Who is not listed has no role; but of
// somebody whose comments say that they belong to the repository that is not believed.
func (c *Client) listRoles(ctx context.Context, ask []account) (left []account) {
	by := map[claim.Repo][]account{}
	var repos []claim.Repo
	listable := c.has(featureCollaborators) && rank(c.o.Trust.Minimum) > rank(roleRead)
	for _, a := range ask {
		if !listable || rank(c.ownRole(a.repo)) < rank(RoleWrite) { // to list them takes the right to push
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
				group.Go(func() error { return c.queryRoles(ctx, r, part) })
			}
		}
	}

	_ = group.Wait() // whoever it did not tell of is left
	return slices.DeleteFunc(left, func(a account) bool { _, known := c.counts(a); return known })
}

const (
	featureCollaborators = "collaborators" // GraphQL's list of permissions
	featureRoles         = "roles"         // of a repository, which GitHub tells to those who may push
)

// queryRoles notes the roles of up to fifty accounts of a repository.
func (c *Client) queryRoles(ctx context.Context, r claim.Repo, all []account) error {
	d := newDocument()
	for n, a := range all {
		d.add("    %s: collaborators(login: %s, first: 1) { edges { permission node { login } } }\n", alias("a", n),
			d.bind("String", a.login))
	}

	var data map[string]*struct {
		Edges []*struct {
			Permission string
			Node       struct{ Login string }
		}
	}
	if err := c.askWhole(ctx, r, d, &data); err != nil {
		if !wholeRequest(err) && !tooMuch(err) {
			c.lack(featureCollaborators)
		}
		return err
	}

	for n, a := range all {
		found := data[alias("a", n)]
		if found == nil {
			continue
		}

		role := roleNone
		for _, e := range found.Edges {
			if e != nil && claim.SameLogin(e.Node.Login, a.login) {
				role = Role(strings.ToLower(e.Permission))
			}
		}

		if role != roleNone || !belongs(a.association) {
			c.noteRole(r, a.login, role)
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
	out := fmt.Sprintf("ask an admin of %[3]s to give %[1]s the role %[2]s, or to add it to trust.logins in .github/label-state.yml on the default branch", e.Login, e.Minimum, e.Repo)
	if rank(e.Role) >= rank(RoleTriage) {
		out += fmt.Sprintf(", or to set trust.permission to %s there", e.Role)
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
func (c *Client) WelcomeContributors() { c.welcome.Store(true) }

// Heard asks about our own login what every other reader will ask: whether its records count in a
// repository. nil means that they do, an *OutsiderError that they do not (ledger.Forge).
func (c *Client) Heard(ctx context.Context, r claim.Repo) error {
	login, err := c.self(ctx)
	if err != nil || login == "" {
		return err
	}

	a := account{repo: r, login: login}
	counts, known := c.counts(a)
	if !known || !counts && !a.isApp() && c.ownRole(r) == "" {
		got, err := c.Repository(ctx, r) // shows our own role to everybody who has one
		switch {
		case err == nil && got.Role == "":
			err = c.askRole(ctx, a)
		case err == nil:
			c.noteRole(r, login, got.Role)
		}

		if err != nil {
			return fmt.Errorf("find out whether records of %s count in %s: %w", login, r, err)
		}
		counts, _ = c.counts(a)
	}

	if counts {
		return nil
	}

	return &OutsiderError{
		Repo:    r,
		Login:   login,
		Role:    c.ownRole(r),
		Minimum: c.o.Trust.Minimum,
		Welcome: c.welcome.Load() && !a.isApp(),
	}
}

func (c *Client) ownRole(r claim.Repo) Role {
	role, _ := c.roles.get(key(r.String(), c.known()))
	return role
}

// MayLabel reports whether a login may steer a repository: its records count there
// (spec.md#which-records-count). It is the one judgement for everybody, our own login included: the
// configuration's logins and Apps, the owner, and collaborators with the role that the
// configuration asks for. A question that could not be answered is an error, never a no. What
// GitHub says of the author's association is never asked.
func (c *Client) MayLabel(ctx context.Context, r claim.Repo, login string) (bool, error) {
	a := account{repo: r, login: login}
	return c.judgementOf(ctx, []account{a}).of(a)
}
