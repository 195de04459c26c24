package githubsim

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// A gqlRef is a git reference.
type gqlRef struct {
	c   *call
	r   *repository
	ref gitrepo.Ref
}

// ID is the global id.
func (g *gqlRef) ID() globalID { return globalID(nodeID("REF", g.r.id) + "_" + g.ref.Name) }

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

// A gqlComparison is how a branch differs from a reference.
type gqlComparison struct{ status string }

// Status is whether the branch has commits that the reference lacks, lacks some, or both.
func (g *gqlComparison) Status() string { return g.status }

// Compare compares the reference with a branch of the repository; null where that is not there.
func (g *gqlRef) Compare(ctx context.Context, args struct{ HeadRef string }) (*gqlComparison, error) {
	branch := strings.TrimPrefix(args.HeadRef, "refs/heads/")
	if ok, err := g.r.hasBranch(ctx, branch); err != nil || !ok || g.r.git == nil {
		return nil, err
	}

	tip, err := g.r.branchTip(ctx, branch)
	if err != nil {
		return nil, err
	}

	behind, err := g.r.git.IsAncestor(ctx, tip, g.ref.OID)
	ahead, other := g.r.git.IsAncestor(ctx, g.ref.OID, tip)
	status := map[[2]bool]string{
		{true, true}:   "IDENTICAL",
		{true, false}:  "BEHIND",
		{false, true}:  "AHEAD",
		{false, false}: "DIVERGED",
	}

	return &gqlComparison{status[[2]bool{behind, ahead}]}, errors.Join(err, other)
}

// Target is the object that the reference points at; null without git.
func (g *gqlRef) Target() *gqlObject {
	if g.ref.OID == "" {
		return nil
	}

	return &gqlObject{
		c:    g.c,
		r:    g.r,
		oid:  g.ref.OID,
		kind: g.ref.Type,
	}
}

// A gqlObject is a git object.
type gqlObject struct {
	c    *call
	r    *repository
	oid  string
	kind string
	data []byte // of a blob
	said string // message of a commit where there is no git
}

// ID is the global id.
func (g *gqlObject) ID() globalID { return globalID(nodeID("C", g.r.id) + g.oid) }

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

// ToBlob says whether it is the content of a file.
func (g *gqlObject) ToBlob() (*gqlBlob, bool) { return &gqlBlob{*g}, g.kind == "blob" }

// Object is what HEAD:PATH or another revision with a path names; null when there is no such file,
// and for every other expression.
func (g *gqlRepository) Object(ctx context.Context, args struct{ Expression *string }) (*gqlObject, error) {
	if err := g.readable(contentsRead); err != nil {
		return nil, err
	}
	if args.Expression == nil {
		return nil, nil
	}

	rev, path, named := strings.Cut(*args.Expression, ":")
	if !named {
		return nil, nil
	}

	if rev == "HEAD" {
		rev = "refs/heads/" + g.r.base
	}
	data, err := g.c.fileAt(ctx, g.r, rev, path)
	if planted, at := g.r.fileOfPull(rev, path); at {
		data, err = planted, nil
	}

	var absent *refusal
	switch {
	case errors.As(err, &absent):
		return nil, nil
	case err != nil:
		return nil, err
	}

	return &gqlObject{
		c:    g.c,
		r:    g.r,
		oid:  blobSHA(data),
		kind: "blob",
		data: data,
	}, nil
}

// maxBlobText is how many bytes of a file GitHub shows as text.
const maxBlobText = 512_000

// A gqlBlob is the content of a file.
type gqlBlob struct{ gqlObject }

// ByteSize is the length of the whole content.
func (g *gqlBlob) ByteSize() int32 { return int32(len(g.data)) }

// IsBinary says whether it is no text.
func (g *gqlBlob) IsBinary() *bool { return new(bytes.ContainsRune(g.data, 0)) }

// IsTruncated says whether Text is not all of it.
func (g *gqlBlob) IsTruncated() bool { return len(g.data) > maxBlobText }

// Text is the content, null of what is no text.
func (g *gqlBlob) Text() *string {
	if *g.IsBinary() {
		return nil
	}
	return new(string(g.data[:min(len(g.data), maxBlobText)]))
}

// A gqlCommit is a commit.
type gqlCommit struct{ gqlObject }

// Message is the whole commit message.
func (g *gqlCommit) Message(ctx context.Context) (string, error) {
	if g.r.git == nil {
		return g.said, nil
	}
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
	if g.r.git == nil {
		return dateTime{g.r.created}, nil
	}
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
		RepositoryID     globalID
		RefUpdates       []refUpdate
	}
},
) (*echo, error) {
	c := mutating(ctx)
	g, err := find[*gqlRepository](c, args.Input.RepositoryID)
	if err != nil {
		return nil, err
	}
	if err := c.mutates(g.r, contentsWrite); err != nil {
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

// updateRefusal says why a transaction on references was refused. Of a reference that is not where
// the request says GitHub says nothing.
func updateRefusal(err error) error {
	for _, stale := range []error{gitrepo.ErrConflict, gitrepo.ErrExists, gitrepo.ErrNotFound} {
		if errors.Is(err, stale) {
			return errQueryFault
		}
	}

	var r *refusal
	if refused := gitRefusal(err); errors.As(refused, &r) {
		return &gqlFault{"UNPROCESSABLE", fmt.Sprintf("%s: the references were not updated.", r.message)}
	}

	return err
}
