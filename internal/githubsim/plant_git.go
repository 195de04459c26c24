package githubsim

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/label-state/label-state/internal/githubsim/gitrepo"
)

// treeReader lists a tree, or a tree with all below it.
type treeReader func(ctx context.Context, oid string) ([]gitrepo.TreeEntry, error)

// plantGit makes the repository's bare git repository, with the seed's files on the default branch.
func (st *store) plantGit(ctx context.Context, r *repository, dir string) error {
	git, err := gitrepo.Init(dir, r.base)
	if err != nil {
		return err
	}

	r.git = git
	if len(r.files) == 0 {
		return nil
	}

	return st.commitFiles(ctx, r, r.files, "Add files")
}

// commitFiles adds files to the default branch, or changes them, in one commit.
func (st *store) commitFiles(ctx context.Context, r *repository, files map[string]string, message string) error {
	branch := "refs/heads/" + r.base
	parent, _, err := r.git.Ref(ctx, branch)
	if err != nil {
		return err
	}

	var entries []gitrepo.TreeEntry
	for _, name := range slices.Sorted(maps.Keys(files)) {
		blob, err := r.git.WriteBlob([]byte(files[name]))
		if err != nil {
			return err
		}
		entries = append(entries, gitrepo.TreeEntry{Path: name, Mode: "100644", OID: blob})
	}

	tree, err := r.git.WriteTree(ctx, parent, entries)
	if err != nil {
		return err
	}

	oid, err := st.commit(ctx, r, tree, parent, message)
	if err != nil {
		return err
	}

	return r.git.UpdateRefs(ctx, []gitrepo.RefUpdate{{
		Name:   branch,
		Before: parent,
		After:  oid,
		Force:  true,
	}}) // it contains the parent
}

func (st *store) commit(ctx context.Context, r *repository, tree, parent, message string) (string, error) {
	by := gitrepo.Signature{Name: r.owner.login, Email: r.owner.email(), When: st.moment}
	return r.git.WriteCommit(ctx, gitrepo.Commit{
		Tree:      tree,
		Parents:   []string{parent},
		Message:   message,
		Author:    by,
		Committer: by,
	})
}

// ensureBranch makes the branch of a seeded pull request, one commit ahead of the default branch,
// if it is not there.
func (st *store) ensureBranch(ctx context.Context, r *repository, branch, message string) error {
	name := "refs/heads/" + branch
	if _, found, err := r.git.Ref(ctx, name); err != nil || found {
		return err
	}

	parent, err := r.branchTip(ctx, r.base)
	if err != nil {
		return err
	}

	below, err := r.git.ReadCommit(ctx, parent)
	if err != nil {
		return err
	}

	oid, err := st.commit(ctx, r, below.Tree, parent, message)
	if err != nil {
		return err
	}

	return r.git.CreateRef(ctx, name, oid)
}

// blobSHA is the id that git gives a file's content.
func blobSHA(data []byte) string {
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
	return hex.EncodeToString(sum[:])
}
