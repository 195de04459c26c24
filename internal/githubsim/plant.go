package githubsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	loginPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*(\[bot\])?$`)
	namePattern  = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// plant puts a seed into an empty store. What it makes was always there: no read is too old to see
// it.
func (st *store) plant(ctx context.Context, seed Seed, dir string) error {
	st.tokens[""] = &token{budgets: map[string]*budget{}}
	st.account("github").kind = "Organization" // it owns the apps
	for _, u := range seed.Users {
		if err := st.plantUser(u); err != nil {
			return err
		}
	}

	for _, r := range seed.Repos {
		if err := st.plantRepo(r); err != nil {
			return fmt.Errorf("repository %q: %w", r.Name, err)
		}
	}

	if err := st.plantRoles(seed.Users); err != nil {
		return err
	}

	for _, r := range seed.Repos {
		if err := st.plantContent(ctx, r, dir); err != nil {
			return fmt.Errorf("repository %q: %w", r.Name, err)
		}
	}

	st.hooks = nil
	st.journal.start()
	return nil
}

func (st *store) plantUser(u SeedUser) error {
	if !loginPattern.MatchString(u.Login) {
		return fmt.Errorf("user %q: not a login", u.Login)
	}
	a := st.account(u.Login)
	if u.Token == "" {
		return nil
	}
	if st.tokens[u.Token] != nil {
		return fmt.Errorf("user %q: somebody else has that token", u.Login)
	}

	may, err := parseGrants(u.TokenPermissions)
	switch {
	case err != nil:
		return fmt.Errorf("user %q: %w", u.Login, err)
	case may != nil && (u.Scopes != nil || u.ReadOnly):
		return fmt.Errorf("user %q: a token has token_permissions, scopes or read_only, one of them", u.Login)
	case u.ReadOnly:
		may = readOnlyGrants()
	}

	st.tokens[u.Token] = &token{
		account: a,
		scopes:  u.Scopes,
		classic: u.Scopes != nil,
		grants:  may,
		budgets: map[string]*budget{},
	}

	return nil
}

func (st *store) plantRoles(users []SeedUser) error {
	for _, u := range users {
		for full, name := range u.Permissions {
			r := st.repos[strings.ToLower(full)]
			if r == nil {
				return fmt.Errorf("user %q: no repository %q", u.Login, full)
			}

			have, err := parseGrant(name)
			if err != nil {
				return fmt.Errorf("user %q: %w", u.Login, err)
			}

			st.account(u.Login).roles[r.id] = have
		}
	}

	return nil
}

func (st *store) plantRepo(s SeedRepo) error {
	owner, name, _ := strings.Cut(s.Name, "/")
	if !loginPattern.MatchString(owner) || !namePattern.MatchString(name) || name == "." || name == ".." {
		return errors.New("not owner/repo")
	}
	if st.repos[strings.ToLower(s.Name)] != nil {
		return errors.New("there twice")
	}

	_, known := st.known(owner)
	account := st.account(owner)
	if !known {
		account.kind = "Organization"
	}

	st.repos[strings.ToLower(s.Name)] = &repository{
		id:        st.nextID("repository"),
		owner:     account,
		name:      name,
		private:   s.Private,
		archived:  s.Archived,
		issuesOff: s.HasIssues != nil && !*s.HasIssues,
		base:      cmp.Or(s.DefaultBranch, "main"),
		created:   st.moment,
		files:     s.Files,
		threads:   map[int]*thread{},
		merge:     SeedMerge{Commit: true},
	}

	if s.Merge != nil {
		st.repos[strings.ToLower(s.Name)].merge = *s.Merge
	}

	return nil
}

// known finds an account without making one.
func (st *store) known(login string) (*account, bool) {
	a := st.accounts[strings.ToLower(login)]
	return a, a != nil
}

func sameLogin(a, b string) bool { return strings.EqualFold(a, b) }

// collaborates reports whether the account was given a role in the repository.
func (a *account) collaborates(r *repository) bool {
	_, listed := a.roles[r.id]
	return listed || a == r.owner
}

func (st *store) plantContent(ctx context.Context, s SeedRepo, dir string) error {
	r := st.repos[strings.ToLower(s.Name)]
	if s.ForkOf != "" {
		if r.parent = st.repos[strings.ToLower(s.ForkOf)]; r.parent == nil {
			return fmt.Errorf("fork of %q: no such repository", s.ForkOf)
		}
	}

	if dir != "" {
		if err := st.plantGit(ctx, r, filepath.Join(dir, r.owner.login, r.name+".git")); err != nil {
			return err
		}
	}

	owner := actor{account: r.owner}
	for _, l := range s.Labels {
		if err := st.plantLabel(owner, r, l); err != nil {
			return err
		}
	}

	return st.plantThreads(ctx, r, s)
}

func (st *store) plantLabel(who actor, r *repository, s SeedLabel) error {
	l, err := st.addLabel(who, r, label{
		name: s.Name, color: cmp.Or(s.Color, defaultLabelColor),
		description: s.Description,
	})
	if err != nil {
		return fmt.Errorf("label %q: %w", s.Name, err)
	}

	if s.CreatedAt != nil {
		l.created, l.updated = clock(*s.CreatedAt), clock(*s.CreatedAt)
		r.labelCell(l.id).put(0, l)
	}

	return nil
}

// plantThreads makes issues and pull requests in the order of their numbers; those without one come
// last.
func (st *store) plantThreads(ctx context.Context, r *repository, s SeedRepo) error {
	all := slices.Clone(s.Pulls)
	for _, p := range all {
		if p.Head == "" {
			return fmt.Errorf("pull request %q: no head", p.Title)
		}
	}

	for _, i := range s.Issues {
		all = append(all, SeedPull{SeedIssue: i})
	}

	slices.SortStableFunc(all, func(a, b SeedPull) int {
		return cmp.Compare(uint(a.Number)-1, uint(b.Number)-1) // 0 wraps round to the end
	})

	for _, p := range all {
		if err := st.plantThread(ctx, r, p); err != nil {
			return fmt.Errorf("#%d %q: %w", p.Number, p.Title, err)
		}
	}

	return nil
}

func (st *store) plantThread(ctx context.Context, r *repository, s SeedPull) error {
	if s.Number < 0 || r.threads[s.Number] != nil {
		return errors.New("that number is taken or negative")
	}
	if err := checkText("Issue", s.Title, s.Body); err != nil {
		return err
	}

	now := st.seededIssue(r, s.SeedIssue)
	if s.Head != "" {
		if err := st.seededPull(ctx, r, s, &now); err != nil {
			return err
		}
	}

	switch {
	case s.State != "" && s.State != "open" && s.State != "closed":
		return fmt.Errorf("state %q: expected open or closed", s.State)
	case s.State == "closed" || s.Merged:
		seededClose(&now, s)
	}

	return st.plantOn(st.openThread(r, s.Number, now), s.SeedIssue)
}

// seededIssue is the issue as it was opened. It is no younger than its oldest comment.
func (st *store) seededIssue(r *repository, s SeedIssue) issue {
	opened := st.moment
	for _, c := range s.Comments {
		if c.CreatedAt != nil && c.CreatedAt.Before(opened) {
			opened = clock(*c.CreatedAt)
		}
	}

	opened = given(s.CreatedAt, opened)
	return issue{
		title:   s.Title,
		body:    s.Body,
		author:  st.account(cmp.Or(s.Author, r.owner.login)),
		open:    true,
		created: opened,
		updated: given(s.UpdatedAt, opened),
		locked:  s.Locked,
	}
}

func given(t *time.Time, otherwise time.Time) time.Time {
	if t == nil {
		return otherwise
	}
	return clock(*t)
}

func (st *store) seededPull(ctx context.Context, r *repository, s SeedPull, now *issue) error {
	from, branch, err := st.headOf(r, s.Head)
	if err != nil {
		return err
	}

	if from.git != nil {
		if err := st.ensureBranch(ctx, from, branch, s.Title); err != nil {
			return err
		}
	}

	now.pull, err = st.newPull(ctx, r, from, branch,
		proposal{body: s.Body, base: cmp.Or(s.Base, r.base), draft: s.Draft})
	return err
}

func seededClose(now *issue, s SeedPull) {
	now.open, now.closedBy = false, now.author
	now.closed = given(s.ClosedAt, given(s.MergedAt, now.updated))
	if now.pull == nil {
		now.reason = cmp.Or(s.StateReason, "completed")
		return
	}

	if s.Merged {
		now.pull.merged, now.pull.mergedBy = given(s.MergedAt, now.closed), now.author
		now.pull.mergeSHA = fakeSHA("merge", now.pull.head, now.pull.base)
	}
}

// plantOn gives a thread its labels and its comments.
func (st *store) plantOn(t *thread, s SeedIssue) error {
	now := t.state.now()
	by := actor{account: now.author}
	ids, err := st.labelsNamed(by, t.repo, s.Labels)
	if err != nil {
		return err
	}

	now.labels = union(nil, ids)
	for _, id := range now.labels {
		st.record(t, event{
			kind:    "labeled",
			actor:   now.author,
			label:   t.repo.labelCell(id).now(),
			created: now.created,
		})
	}

	for _, login := range s.Assignees {
		a := st.account(login)
		now.assignees = append(now.assignees, a)
		st.record(t, event{
			kind:     "assigned",
			actor:    now.author,
			assignee: a,
			created:  now.created,
		})
	}

	if !now.open {
		st.record(t, event{
			kind:    "closed",
			actor:   now.author,
			reason:  now.reason,
			created: now.closed,
		})
	}

	for _, c := range s.Comments {
		last, err := st.plantSeedComment(t, c)
		if err != nil {
			return err
		}

		if s.UpdatedAt == nil && last.After(now.updated) {
			now.updated = last
		}
	}

	st.put(t, now)
	return nil
}

// ghostLogin stands in a seed for an account that is gone.
const ghostLogin = "ghost"

func (st *store) plantSeedComment(t *thread, s SeedComment) (time.Time, error) {
	if err := checkBody(s.Body); err != nil {
		return time.Time{}, fmt.Errorf("comment: %w", err)
	}
	made := given(s.CreatedAt, st.moment)
	c := comment{
		spam: s.Spam, hidden: s.Minimized, body: s.Body,
		author: st.account(cmp.Or(s.Author, t.repo.owner.login)), created: made, updated: given(s.UpdatedAt, made),
	}
	if s.Editor != "" || c.updated.After(c.created) {
		by := st.account(cmp.Or(s.Editor, c.author.login))
		if s.Editor == ghostLogin {
			by = nil
		}
		c = st.edited(c, c.updated, by)
	}

	return st.plantComment(t, c).updated, nil
}
