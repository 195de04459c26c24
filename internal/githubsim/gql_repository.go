package githubsim

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// A gqlRepository is a repository as GraphQL shows it. Each method resolves the field of its name.
type gqlRepository struct {
	c *call
	r *repository
}

// ID is the global id.
func (g *gqlRepository) ID() globalID { return globalID(nodeID("R", g.r.id)) }

// DatabaseID is the id that REST uses.
func (g *gqlRepository) DatabaseID() *int32 { return small(g.r.id) }

// Name is the name without the owner.
func (g *gqlRepository) Name() string { return g.r.name }

// Owner is the account that the repository belongs to.
func (g *gqlRepository) Owner() *gqlActor { return g.c.actor(g.r.owner) }

// NameWithOwner is owner/repo.
func (g *gqlRepository) NameWithOwner() string { return g.r.fullName() }

// URL is the repository's page.
func (g *gqlRepository) URL() uri { return uri(g.c.repoPage(g.r)) }

// IsArchived reports whether nothing can be written any more.
func (g *gqlRepository) IsArchived() bool { return g.r.archived }

// IsFork reports whether there is a parent.
func (g *gqlRepository) IsFork() bool { return g.r.parent != nil }

// IsPrivate reports whether only those with a role see it.
func (g *gqlRepository) IsPrivate() bool { return g.r.private }

// HasIssuesEnabled reports whether issues can be opened.
func (g *gqlRepository) HasIssuesEnabled() bool { return !g.r.issuesOff }

// Parent is what a fork was made of.
func (g *gqlRepository) Parent() *gqlRepository {
	if g.r.parent == nil || g.c.who.role(g.r.parent) < roleRead {
		return nil
	}
	return &gqlRepository{g.c, g.r.parent}
}

// ViewerPermission is the actor's role; null for apps.
func (g *gqlRepository) ViewerPermission() *string {
	if g.c.who.account.kind == "Bot" {
		return nil
	}
	name := strings.ToUpper(g.c.who.role(g.r).String())
	return &name
}

// A gqlCollaborator is somebody with a role in the repository.
type gqlCollaborator struct {
	Cursor string
	Node   *gqlActor
	have   grant
}

// Permission is the role; of a custom role the one that it was derived from.
func (g *gqlCollaborator) Permission() string { return strings.ToUpper(g.have.role.String()) }

// A gqlCollaborators is a page of them.
type gqlCollaborators struct {
	gqlConnection[*gqlCollaborator]
}

// Nodes are the accounts alone.
func (g *gqlCollaborators) Nodes() *[]*gqlActor {
	nodes := []*gqlActor{}
	for _, one := range g.nodes {
		nodes = append(nodes, one.Node)
	}
	return &nodes
}

// Edges are the accounts with what they may do.
func (g *gqlCollaborators) Edges() *[]*gqlCollaborator {
	for n, one := range g.nodes {
		one.Cursor = g.cursors[n]
	}
	return &g.nodes
}

// Collaborators lists who was given a role, for those who may push. Apps are not collaborators.
func (g *gqlRepository) Collaborators(args struct {
	pageArgs
	Login, Query *string
},
) (*gqlCollaborators, error) {
	switch {
	case g.c.who.account.kind == "Bot":
		return nil, forbidden("Resource not accessible by integration")
	case g.c.who.role(g.r) < roleWrite:
		return nil, forbidden("You do not have permission to view repository collaborators.")
	}

	var all []*account
	for _, a := range g.c.accounts {
		wanted := args.Login == nil || sameLogin(*args.Login, a.login)
		if args.Query != nil {
			wanted = wanted && strings.Contains(strings.ToLower(a.login), strings.ToLower(*args.Query))
		}

		if wanted && a.kind == "User" && a.collaborates(g.r) {
			all = append(all, a)
		}
	}

	slices.SortFunc(all, func(a, b *account) int { return int(a.id - b.id) })
	page, err := connect(g.c, args.pageArgs, "collaborators", all, func(a *account) int64 { return a.id },
		func(a *account) *gqlCollaborator {
			return &gqlCollaborator{Node: g.c.actor(a), have: a.grant(g.r)}
		})
	if err != nil {
		return nil, err
	}

	return &gqlCollaborators{*page}, nil
}

// ViewerCanAdminister reports whether the actor is an admin.
func (g *gqlRepository) ViewerCanAdminister() bool { return g.c.who.role(g.r) >= roleAdmin }

// DefaultBranchRef is the default branch. Without git it has a name and points at nothing.
func (g *gqlRepository) DefaultBranchRef(ctx context.Context) (*gqlRef, error) {
	if g.r.git == nil {
		return &gqlRef{g.c, g.r, gitrepo.Ref{Name: "refs/heads/" + g.r.base}}, nil
	}
	return g.Ref(ctx, struct{ QualifiedName string }{"refs/heads/" + g.r.base})
}

// Ref is the reference of that full name.
func (g *gqlRepository) Ref(ctx context.Context, args struct{ QualifiedName string }) (*gqlRef, error) {
	if err := g.readable(contentsRead); err != nil {
		return nil, err
	}
	if g.r.git == nil {
		return nil, nil
	}

	name := args.QualifiedName
	if !strings.HasPrefix(name, "refs/") {
		name = "refs/heads/" + name
	}

	refs, err := g.r.git.Refs(ctx, name)
	if err != nil && !errors.Is(err, gitrepo.ErrInvalid) {
		return nil, err
	}

	for _, ref := range refs {
		if ref.Name == name {
			return &gqlRef{g.c, g.r, ref}, nil
		}
	}

	return nil, nil
}

// readable refuses a token that lacks what the REST endpoint of the same content accepts.
func (g *gqlRepository) readable(accepted string) error { return g.c.who.granted(g.r, accepted, true) }

// Label is the label of that name; null if there is none.
func (g *gqlRepository) Label(args struct{ Name string }) (*gqlLabel, error) {
	if err := g.readable(eitherRead); err != nil {
		return nil, err
	}
	l, found := g.r.label(g.c.view, args.Name)
	if !found {
		return nil, nil
	}

	return &gqlLabel{g.c, g.r, l}, nil
}

// Labels are the repository's labels.
func (g *gqlRepository) Labels(args struct {
	pageArgs
	Query   *string
	OrderBy labelOrder
},
) (*gqlConnection[*gqlLabel], error) {
	if err := g.readable(eitherRead); err != nil {
		return nil, err
	}
	list := slices.DeleteFunc(g.r.labelsIn(g.c.view), func(l label) bool {
		return args.Query != nil && !strings.Contains(strings.ToLower(l.name), strings.ToLower(*args.Query))
	})

	return g.c.labelsPage(g.r, list, args.pageArgs, args.OrderBy)
}

type numberArgs struct{ Number int32 }

// Issue is the issue of that number; a pull request is not one.
func (g *gqlRepository) Issue(args numberArgs) (*gqlIssue, error) {
	if err := g.readable(issuesRead); err != nil {
		return nil, err
	}
	t, now, err := g.c.thread(g.c.view, g.r, int(args.Number), "an Issue")
	if err == nil && now.pull != nil {
		err = unresolved("an Issue with the number of %d.", args.Number)
	}

	if err != nil {
		return nil, err
	}

	return &gqlIssue{gqlThread{g.c, t, now}}, nil
}

// PullRequest is the pull request of that number.
func (g *gqlRepository) PullRequest(args numberArgs) (*gqlPull, error) {
	if err := g.readable(pullsRead); err != nil {
		return nil, err
	}
	t, now, err := g.c.thread(g.c.view, g.r, int(args.Number), "a PullRequest")
	if err == nil && now.pull == nil {
		err = unresolved("a PullRequest with the number of %d.", args.Number)
	}

	if err != nil {
		return nil, err
	}

	return &gqlPull{gqlThread{g.c, t, now}}, nil
}

// IssueOrPullRequest is whichever has that number.
func (g *gqlRepository) IssueOrPullRequest(args numberArgs) (*gqlSubject, error) {
	if err := g.readable(eitherRead); err != nil {
		return nil, err
	}
	t, now, err := g.c.thread(g.c.view, g.r, int(args.Number), "an issue or pull request")
	if err != nil {
		return nil, err
	}

	return &gqlSubject{gqlThread{g.c, t, now}}, nil
}

type issueOrder struct{ Field, Direction string }

type issueFilters struct {
	CreatedBy *string
	Labels    *[]string
	Since     *dateTime
	States    *[]string
}

// Issues lists the repository's issues without its pull requests.
func (g *gqlRepository) Issues(args struct {
	pageArgs
	Labels   *[]string
	States   *[]string
	OrderBy  *issueOrder
	FilterBy *issueFilters
},
) (*gqlConnection[*gqlIssue], error) {
	if err := g.readable(issuesRead); err != nil {
		return nil, err
	}
	filters := []issueFilters{{Labels: args.Labels, States: args.States}}
	if args.FilterBy != nil {
		filters = append(filters, *args.FilterBy)
	}

	list := slices.DeleteFunc(g.r.seenIn(g.c.view), func(s seen) bool {
		return s.now.pull != nil || !g.passes(s, filters)
	})
	order(list, args.OrderBy)

	return connect(g.c, args.pageArgs, "issues", list, seenID, g.c.issueNode)
}

func (g *gqlRepository) passes(s seen, filters []issueFilters) bool {
	for _, f := range filters {
		if f.States != nil && !slices.Contains(*f.States, strings.ToUpper(stateName(s.now))) {
			return false
		}
		if f.Since != nil && s.now.updated.Before(f.Since.Time) {
			return false
		}
		if f.CreatedBy != nil && !sameLogin(*f.CreatedBy, s.now.author.login) {
			return false
		}
		if f.Labels != nil && !anyLabel(g.r.labelsOf(g.c.view, s.now), *f.Labels) {
			return false
		}
	}

	return true
}

// anyLabel reports whether one of the names is there; GraphQL joins them with or.
func anyLabel(have []label, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return hasLabel(have, name) })
}

// PullRequests lists the repository's pull requests.
func (g *gqlRepository) PullRequests(args struct {
	pageArgs
	Labels      *[]string
	States      *[]string
	OrderBy     *issueOrder
	BaseRefName *string
	HeadRefName *string
},
) (*gqlConnection[*gqlPull], error) {
	if err := g.readable(pullsRead); err != nil {
		return nil, err
	}

	list := slices.DeleteFunc(g.r.seenIn(g.c.view), func(s seen) bool {
		p := s.now.pull
		switch {
		case p == nil, args.BaseRefName != nil && *args.BaseRefName != p.base, args.HeadRefName != nil &&
			*args.HeadRefName != p.head:
			return true
		case args.Labels != nil && !anyLabel(g.r.labelsOf(g.c.view, s.now), *args.Labels):
			return true
		}

		return args.States != nil && !slices.Contains(*args.States, pullState(s.now))
	})
	order(list, args.OrderBy)

	return connect(g.c, args.pageArgs, "pullRequests", list, seenID, g.c.pullNode)
}

func seenID(s seen) int64 { return s.now.id }

func (c *call) issueNode(s seen) *gqlIssue { return &gqlIssue{gqlThread{c, s.thread, s.now}} }

func (c *call) pullNode(s seen) *gqlPull { return &gqlPull{gqlThread{c, s.thread, s.now}} }

// order sorts oldest first unless asked otherwise.
func order(list []seen, by *issueOrder) {
	if by == nil {
		return
	}

	slices.SortStableFunc(list, func(a, b seen) int {
		o := a.now.created.Compare(b.now.created)
		switch by.Field {
		case "UPDATED_AT":
			o = a.now.updated.Compare(b.now.updated)
		case "COMMENTS":
			o = len(a.thread.everyComment(present())) - len(b.thread.everyComment(present()))
		}

		if o == 0 {
			o = a.thread.number - b.thread.number
		}

		if by.Direction == "DESC" {
			return -o
		}

		return o
	})
}
