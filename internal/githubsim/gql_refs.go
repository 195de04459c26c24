package githubsim

import (
	"context"
	"errors"
	"fmt"
	"strings"

	graphql "github.com/graph-gophers/graphql-go"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// A gqlRef is a git reference.
type gqlRef struct {
	c   *call
	r   *repository
	ref gitrepo.Ref
}

// ID is the global id.
func (g *gqlRef) ID() graphql.ID { return graphql.ID(nodeID("REF", g.r.id) + "_" + g.ref.Name) }

func (g *gqlRef) split() (prefix, name string) {
	for _, known := range []string{"refs/heads/", "refs/tags/"} {
		if rest, ok := strings.CutPrefix(g.ref.Name, known); ok {
			return known, rest
		}
	}
	i := strings.LastIndex(g.ref.Name, "/") + 1
	return g.ref.Name[:i], g.ref.Name[i:]
}

// Name is the name below the prefix.
func (g *gqlRef) Name() string {
	_, name := g.split()
	return name
}

// Prefix is what stands before the name, as refs/heads/.
func (g *gqlRef) Prefix() string {
	prefix, _ := g.split()
	return prefix
}

// Target is the object that the reference points at; null without git.
func (g *gqlRef) Target() *gqlObject {
	if g.ref.OID == "" {
		return nil
	}
	return &gqlObject{g.c, g.r, g.ref.OID, g.ref.Type}
}

// A gqlObject is a git object.
type gqlObject struct {
	c    *call
	r    *repository
	oid  string
	kind string
}

// ID is the global id.
func (g *gqlObject) ID() graphql.ID { return graphql.ID(nodeID("C", g.r.id) + g.oid) }

// OID is git's id.
func (g *gqlObject) OID() gitObjectID { return gitObjectID(g.oid) }

// AbbreviatedOID is the start of git's id.
func (g *gqlObject) AbbreviatedOID() string { return g.oid[:7] }

// Repository is where the object is.
func (g *gqlObject) Repository() *gqlRepository { return &gqlRepository{g.c, g.r} }

// ToCommit says whether it is a commit.
func (g *gqlObject) ToCommit() (*gqlCommit, bool) { return &gqlCommit{*g}, g.kind == "commit" }

// ToTag says whether it is an annotated tag.
func (g *gqlObject) ToTag() (*gqlTag, bool) { return &gqlTag{*g}, g.kind == "tag" }

// A gqlCommit is a commit.
type gqlCommit struct{ gqlObject }

// Message is the whole commit message.
func (g *gqlCommit) Message(ctx context.Context) (string, error) {
	commit, err := g.r.git.ReadCommit(ctx, g.oid)
	return commit.Message, err
}

// A gqlTag is an annotated tag.
type gqlTag struct{ gqlObject }

// Message is the tag's message.
func (g *gqlTag) Message(ctx context.Context) (*string, error) {
	tag, err := g.r.git.ReadTag(ctx, g.oid)
	return &tag.Message, err
}

// Name is the tag's name.
func (g *gqlTag) Name(ctx context.Context) (string, error) {
	tag, err := g.r.git.ReadTag(ctx, g.oid)
	return tag.Name, err
}

// CommittedDate resolves the field of that name: when the commit was made.
func (g *gqlCommit) CommittedDate(ctx context.Context) (dateTime, error) {
	commit, err := g.r.git.ReadCommit(ctx, g.oid)
	return dateTime{commit.Committer.When}, err
}

type refUpdate struct {
	AfterOID  gitObjectID
	BeforeOID *gitObjectID
	Force     bool
	Name      gitRefname
}

// UpdateRefs creates, moves and deletes references, all or none.
func (*rootResolver) UpdateRefs(ctx context.Context, args struct {
	Input struct {
		ClientMutationID *string
		RepositoryID     graphql.ID
		RefUpdates       []refUpdate
	}
},
) (*echo, error) {
	c := mutating(ctx)
	g, err := find[*gqlRepository](c, args.Input.RepositoryID)
	if err != nil {
		return nil, err
	}
	if err := c.who.need(g.r, roleWrite); err != nil {
		return nil, err
	}
	if g.r.git == nil {
		return nil, conflict("Git Repository is empty.")
	}
	var updates []gitrepo.RefUpdate
	for _, u := range args.Input.RefUpdates {
		wanted := gitrepo.RefUpdate{Name: string(u.Name), After: string(u.AfterOID), Force: u.Force}
		if u.BeforeOID != nil {
			wanted.Before = string(*u.BeforeOID)
		}
		updates = append(updates, wanted)
	}
	if err := g.r.git.UpdateRefs(ctx, updates); err != nil {
		return nil, updateRefusal(err)
	}
	if err := c.synchronize(ctx, c.who, g.r); err != nil {
		return nil, err
	}
	return &echo{args.Input.ClientMutationID}, nil
}

// updateRefusal says why a transaction on references was refused.
func updateRefusal(err error) error {
	var r *refusal
	if refused := gitRefusal(err); errors.As(refused, &r) {
		return &gqlFault{"UNPROCESSABLE", fmt.Sprintf("%s: the references were not updated.", r.message)}
	}
	return err
}
