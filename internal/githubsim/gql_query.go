package githubsim

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// A gqlDescription is what is told of a type: enough to ask what a server knows.
type gqlDescription struct{ of *ast.Definition }

// Type resolves __type: the type of that name, or null.
func (*rootResolver) Type(ctx context.Context, args struct{ Name string }) *gqlDescription {
	found := callOf(ctx).server.graphQL.schema.Types[args.Name]
	if found == nil {
		return nil
	}
	return &gqlDescription{found}
}

// Kind resolves the field of that name, as do the others.
func (g *gqlDescription) Kind() string { return string(g.of.Kind) }

// Name resolves the field of that name.
func (g *gqlDescription) Name() string { return g.of.Name }

// A gqlNamed is a field or a value of a type.
type gqlNamed struct{ Name string }

// Fields resolves the field of that name: null unless the type is an object or an interface.
func (g *gqlDescription) Fields(struct{ IncludeDeprecated bool }) *[]gqlNamed {
	return g.members(ast.Object, ast.Interface)
}

// InputFields resolves the field of that name: null unless the type is an input.
func (g *gqlDescription) InputFields() *[]gqlNamed { return g.members(ast.InputObject) }

func (g *gqlDescription) members(kinds ...ast.DefinitionKind) *[]gqlNamed {
	if !slices.Contains(kinds, g.of.Kind) {
		return nil
	}

	names := []gqlNamed{}
	for _, field := range g.of.Fields {
		if !strings.HasPrefix(field.Name, "__") {
			names = append(names, gqlNamed{field.Name})
		}
	}

	return &names
}

// EnumValues resolves the field of that name: null unless the type is an enum.
func (g *gqlDescription) EnumValues(struct{ IncludeDeprecated bool }) *[]gqlNamed {
	if g.of.Kind != ast.Enum {
		return nil
	}

	names := []gqlNamed{}
	for _, value := range g.of.EnumValues {
		names = append(names, gqlNamed{value.Name})
	}

	return &names
}

// Viewer resolves the query of that name.
func (*rootResolver) Viewer(ctx context.Context) *gqlViewer {
	c := callOf(ctx)
	return &gqlViewer{&gqlActor{c, c.who.account}}
}

// A gqlViewer is the actor itself, always of type User: there an app's login keeps its suffix.
type gqlViewer struct{ *gqlActor }

// Login resolves the field of that name.
func (g *gqlViewer) Login() string { return g.a.login }

// Repository resolves the query of that name.
func (*rootResolver) Repository(ctx context.Context, args struct {
	Owner, Name   string
	FollowRenames bool
},
) (*gqlRepository, error) {
	c := callOf(ctx)
	r, err := c.repository(c.who, args.Owner, args.Name)
	if err != nil && (r == nil || !args.FollowRenames) {
		return nil, unresolved("a Repository with the name '%s/%s'.", args.Owner, args.Name)
	}
	return &gqlRepository{c, r}, nil
}

// A gqlRateLimit is the budget as GraphQL shows it.
type gqlRateLimit struct {
	Cost, Limit, NodeCount, Remaining, Used int32
	ResetAt                                 dateTime
}

// RateLimit resolves the query of that name.
func (*rootResolver) RateLimit(ctx context.Context, _ struct{ DryRun bool }) *gqlRateLimit {
	c := callOf(ctx)
	b := c.who.token.budget("graphql", c.server.options.RateLimit, c.moment)
	return &gqlRateLimit{
		Cost:      int32(c.cost),
		Limit:     int32(b.limit),
		Remaining: int32(b.remaining()),
		Used:      int32(b.used),
		ResetAt:   dateTime{b.reset},
	}
}

// Node resolves the query of that name.
func (*rootResolver) Node(ctx context.Context, args struct{ ID globalID }) (*gqlNode, error) {
	return callOf(ctx).node(args.ID)
}

// Nodes resolves the query of that name; what cannot be resolved is null without an error of its
// own.
func (*rootResolver) Nodes(ctx context.Context, args struct{ IDs []globalID }) []*gqlNode {
	found := make([]*gqlNode, 0, len(args.IDs))
	for _, id := range args.IDs {
		n, err := callOf(ctx).node(id)
		if err != nil {
			n = nil
		}
		found = append(found, n)
	}

	return found
}

// A gqlNode is an object found by its global id.
type gqlNode struct {
	id    globalID
	value any
}

// ID resolves the field of that name.
func (n *gqlNode) ID() globalID { return n.id }

func as[T any](n *gqlNode) (T, bool) {
	value, ok := n.value.(T)
	return value, ok
}

// ToIssue and its like say what the object is.
func (n *gqlNode) ToIssue() (*gqlIssue, bool) { return as[*gqlIssue](n) }

// ToPullRequest is like ToIssue.
func (n *gqlNode) ToPullRequest() (*gqlPull, bool) { return as[*gqlPull](n) }

// ToIssueComment is like ToIssue.
func (n *gqlNode) ToIssueComment() (*gqlComment, bool) { return as[*gqlComment](n) }

// ToLabel is like ToIssue.
func (n *gqlNode) ToLabel() (*gqlLabel, bool) { return as[*gqlLabel](n) }

// ToRepository is like ToIssue.
func (n *gqlNode) ToRepository() (*gqlRepository, bool) { return as[*gqlRepository](n) }

// ToUser is like ToIssue.
func (n *gqlNode) ToUser() (*gqlActor, bool) { return n.accountOf("User") }

// ToUserContentEdit is like ToIssue: nobody asks for an edit by its id.
func (n *gqlNode) ToUserContentEdit() (*gqlEdit, bool) { return as[*gqlEdit](n) }

// ToBot is like ToIssue.
func (n *gqlNode) ToBot() (*gqlActor, bool) { return n.accountOf("Bot") }

// ToOrganization is like ToIssue.
func (n *gqlNode) ToOrganization() (*gqlActor, bool) { return n.accountOf("Organization") }

func (n *gqlNode) accountOf(kind string) (*gqlActor, bool) {
	g, ok := as[*gqlActor](n)
	return g, ok && g.a.kind == kind
}

// node finds an object that the actor may read.
func (c *call) node(id globalID) (*gqlNode, error) {
	kind, number, _ := parseNodeID(string(id))
	var value any
	switch kind {
	case "I", "PR":
		value = c.threadNode(number)
	case "IC":
		value = c.commentNode(number)
	case "LA":
		value = c.labelNode(number)
	case "R":
		if r := c.repositoryByID(number); r != nil && c.who.role(r) >= roleRead {
			value = &gqlRepository{c, r}
		}
	case "U", "BOT", "O":
		value = c.accountNode(number)
	}

	if value == nil {
		return nil, unresolved("a node with the global id of '%s'.", id)
	}

	return &gqlNode{id, value}, nil
}

func (c *call) threadNode(id int64) any {
	t, err := c.byID(id)
	if err != nil {
		return nil
	}

	if t.movedTo != nil {
		t = t.movedTo
	}
	now, ok := t.state.at(c.view)
	switch {
	case !ok, c.who.granted(t.repo, eitherRead, true) != nil:
		return nil
	case now.pull != nil:
		return &gqlPull{gqlThread{c, t, now}}
	}

	return &gqlIssue{gqlThread{c, t, now}}
}

func (c *call) commentNode(id int64) any {
	kept := c.comments[id]
	if kept == nil {
		return nil
	}

	now, ok := kept.at(c.view)
	if !ok || now.spam || c.view.gap[id] || c.who.role(now.thread.repo) < roleRead ||
		c.who.granted(now.thread.repo, eitherRead, true) != nil {
		return nil
	}

	return &gqlComment{c, now}
}

func (c *call) labelNode(id int64) any {
	for _, r := range c.repos {
		if kept := r.labelCell(id); kept != nil && c.who.role(r) >= roleRead {
			return &gqlLabel{c, r, kept.now()}
		}
	}
	return nil
}

func (c *call) accountNode(id int64) any {
	for _, a := range c.accounts {
		if a.id == id {
			return &gqlActor{c, a}
		}
	}
	return nil
}

// A gqlActor is an account as GraphQL shows it: a bot's login has no suffix.
type gqlActor struct {
	c *call
	a *account
}

func (c *call) actor(a *account) *gqlActor {
	if a == nil {
		return nil
	}
	return &gqlActor{c, a}
}

// ID resolves the field of that name, as do the others.
func (g *gqlActor) ID() globalID { return globalID(nodeID(g.a.nodeKind(), g.a.id)) }

// DatabaseID resolves the field of that name.
func (g *gqlActor) DatabaseID() *int32 { return small(g.a.id) }

// Login resolves the field of that name.
func (g *gqlActor) Login() string { return g.a.plain() }

// ResourcePath resolves the field of that name.
func (g *gqlActor) ResourcePath() uri {
	if g.a.kind == "Bot" {
		return uri("/apps/" + g.a.plain())
	}
	return uri("/" + g.a.login)
}

// URL resolves the field of that name.
func (g *gqlActor) URL() uri { return uri(g.c.web) + g.ResourcePath() }

// AvatarURL resolves the field of that name.
func (g *gqlActor) AvatarURL(struct{ Size *int32 }) uri {
	return uri(fmt.Sprintf("%s/avatars/u/%d", g.c.web, g.a.id))
}

// ToUser says whether the account is a person's.
func (g *gqlActor) ToUser() (*gqlActor, bool) { return g, g.a.kind == "User" }

// ToBot says whether the account is an app's.
func (g *gqlActor) ToBot() (*gqlActor, bool) { return g, g.a.kind == "Bot" }

// ToOrganization says whether the account is an organization.
func (g *gqlActor) ToOrganization() (*gqlActor, bool) { return g, g.a.kind == "Organization" }

// A gqlLabel is a label as GraphQL shows it.
type gqlLabel struct {
	c *call
	r *repository
	l label
}

// ID resolves the field of that name, as do the others.
func (g *gqlLabel) ID() globalID { return globalID(nodeID("LA", g.l.id)) }

// Name resolves the field of that name.
func (g *gqlLabel) Name() string { return g.l.name }

// Color resolves the field of that name.
func (g *gqlLabel) Color() string { return g.l.color }

// Description resolves the field of that name.
func (g *gqlLabel) Description() *string { return g.l.description }

// CreatedAt resolves the field of that name.
func (g *gqlLabel) CreatedAt() *dateTime { return moment(g.l.created) }

// UpdatedAt resolves the field of that name.
func (g *gqlLabel) UpdatedAt() *dateTime { return moment(g.l.updated) }

// URL resolves the field of that name.
func (g *gqlLabel) URL() uri { return uri(g.c.repoPage(g.r) + "/labels/" + g.l.name) }

type labelOrder struct{ Field, Direction string }

// labelsPage is the connection of an issue's or a repository's labels.
func (c *call) labelsPage(r *repository, list []label, page pageArgs,
	order labelOrder,
) (*gqlConnection[*gqlLabel], error) {
	slices.SortStableFunc(list, func(a, b label) int {
		by := int(a.id - b.id)
		if order.Field == "NAME" {
			by = strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
		}

		if order.Direction == "DESC" {
			return -by
		}

		return by
	})

	return connect(c, page, "labels", list, func(l label) int64 { return l.id },
		func(l label) *gqlLabel { return &gqlLabel{c, r, l} })
}
