package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// MergeTree returns the tree that results when head is merged into base, two commits by id, and
// writes no commit. Sides that git cannot bring together are ErrMergeConflict.
func (r *Repo) MergeTree(ctx context.Context, base, head string) (string, error) {
	for _, oid := range []string{base, head} {
		if err := r.mustObject(ctx, oid); err != nil {
			return "", fmt.Errorf("merge: %w", err)
		}
	}

	out, err := r.git(ctx, call{args: []string{"merge-tree", "--write-tree", "--no-messages", base, head}})
	var failed *gitError
	unrelated := errors.As(err, &failed) && strings.Contains(failed.stderr, "unrelated histories")
	if unrelated || (failed != nil && failed.status == 1) {
		return "", fmt.Errorf("merge %s into %s: %w", head, base, ErrMergeConflict)
	}

	return line(out), wrap("merge", err)
}

// Merge writes a merge commit of head into the branch base, both by branch name, and moves the
// branch to it. It makes a commit of its own even where the branch could just move forward, as the
// merge button does. If the branch moves meanwhile the answer is ErrConflict, and nothing has
// changed.
func (r *Repo) Merge(ctx context.Context, base, head, message string, by Signature) (string, error) {
	into := "refs/heads/" + base
	old, err := r.mustRef(ctx, into)
	if err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}

	other, err := r.mustRef(ctx, "refs/heads/"+head)
	if err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}

	tree, err := r.MergeTree(ctx, old, other)
	if err != nil {
		return "", err
	}

	oid, err := r.WriteCommit(ctx, Commit{
		Tree:      tree,
		Parents:   []string{old, other},
		Message:   message,
		Author:    by,
		Committer: by,
	})
	if err != nil {
		return "", fmt.Errorf("merge: %w", err)
	}

	return oid, wrap("merge", r.transact(ctx, []RefUpdate{{Name: into, Before: old, After: oid}}))
}
