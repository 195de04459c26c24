package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/label-state/label-state/internal/git"
)

// drop removes a tree and its branch, unless that would lose work: then it says why they stay. What
// is gone already is a success. Of an unfinished tree that git has never filled, nothing is kept;
// what somebody else made in its place, which is why it is unfinished, is left alone and no reason
// to keep the feature.
func (fs *Features) drop(ctx context.Context, t Tree, unfinished bool) (why string, err error) {
	whose, err := ownershipOf(t)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(t.Source); err != nil {
		if whose == missing {
			return "", nil
		}
		return "its repository " + t.Source + " is not there; if nothing in the folder is worth keeping, remove it", nil
	}

	s := source{fs.git, t.Source, t.Repo}
	if whose == foreign && unfinished {
		tip, err := s.commit(ctx, "refs/heads/"+t.Branch)
		if err != nil || tip != t.From {
			return "", err
		}
		return s.dropBranch(ctx, t.Branch, tip)
	}
	if why, err = fs.treeKeptBecause(ctx, t, unfinished); why != "" || err != nil {
		return why, err
	}

	tip, why, err := s.unpushed(ctx, t)
	if err != nil || why != "" && !s.pushed(ctx, t.Branch, tip) {
		return why, err
	}

	trees, err := s.linked(ctx)
	if err != nil {
		return "", err
	}

	if _, known := trees[t.Path]; known { // git looks once more whether it is clean, unless it never was filled
		args := []string{"worktree", "remove"}
		if unfinished && !hasFiles(t) {
			args = append(args, "--force", "--force") // the second is for the lock of a tree in the making
		}

		if _, err := s.run(ctx, append(args, t.Path)...); err != nil {
			return "", err
		}
	}

	// an empty folder that git did not come to use
	if err := os.Remove(t.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}

	return s.dropBranch(ctx, t.Branch, tip)
}

// treeKeptBecause says why a tree may not be removed, if so.
func (fs *Features) treeKeptBecause(ctx context.Context, t Tree, unfinished bool) (why string, err error) {
	whose, err := ownershipOf(t)
	switch {
	case err != nil || whose == missing || unfinished && whose == made && !hasFiles(t):
		return "", err
	case whose == foreign:
		return "it is not the worktree that was made there", nil
	}

	changes, err := fs.git(ctx, t.Path, git.Status()...)
	switch {
	case err != nil:
		return "", err
	case changes != "":
		return "uncommitted changes", nil
	}

	if why, err = fs.unlooked(ctx, t); why != "" || err != nil {
		return why, err
	}
	dir, err := git.Linked(t.Path)
	if err != nil {
		return "", err
	}

	for _, name := range []string{
		"rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD",
		"BISECT_LOG",
	} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return "an unfinished rebase, merge, pick or bisection", nil
		}
	}

	_, err = fs.git(ctx, t.Path, "symbolic-ref", "--quiet", "HEAD")
	if err == nil || !git.No(err) {
		return "", err
	}

	commits, err := fs.git(ctx, t.Path, "rev-list", "--max-count=1", "HEAD", "--not", t.From, "--branches", "--tags",
		"--remotes")
	if err != nil || commits == "" {
		return "", err
	}

	return "commits on no branch", nil
}

// unlooked finds a file with changes that git status leaves out: its index entry says that it is
// unchanged, or not in the worktree.
func (fs *Features) unlooked(ctx context.Context, t Tree) (why string, err error) {
	out, err := fs.git(ctx, t.Path, "ls-files", "-v", "--stage", "-z")
	if err != nil {
		return "", err
	}

	var paths, ids []string
	kept := func(path string) string {
		return "changes to " + path + ", which git was told not to look at (git update-index --no-assume-unchanged FILE, or --no-skip-worktree FILE)"
	}

	// "h 100644 ID 0\tPATH"; a small letter is assumed unchanged, S is skipped
	for entry := range strings.SplitSeq(out, "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(about)
		if len(fields) != 4 || fields[0] != "S" && fields[0] == strings.ToUpper(fields[0]) {
			continue
		}

		info, err := os.Lstat(filepath.Join(t.Path, filepath.FromSlash(path)))
		switch {
		case errors.Is(err, os.ErrNotExist): // as in a sparse checkout
		case err != nil, !info.Mode().IsRegular():
			return kept(path), nil
		default:
			paths, ids = append(paths, path), append(ids, fields[2])
		}
	}

	for n := 0; n < len(paths); n += hashedAtOnce {
		some := paths[n:min(n+hashedAtOnce, len(paths))]
		out, err := fs.git(ctx, t.Path, append([]string{"hash-object", "--"}, some...)...)
		if err != nil {
			return "", err
		}

		now := strings.Fields(out)
		for k, path := range some {
			if k >= len(now) || now[k] != ids[n+k] {
				return kept(path), nil
			}
		}
	}

	return "", nil
}

// hashedAtOnce is how many paths one command line takes; Windows has the shortest.
const hashedAtOnce = 100

// Whose a path is.
type ownership int

const (
	missing ownership = iota // there is nothing, or an empty folder
	made                     // the tree we made
	foreign                  // something else
)

// ownershipOf looks at the path: a linked worktree names its place in the repository.
func ownershipOf(t Tree) (ownership, error) {
	dir, err := git.Linked(t.Path)
	switch {
	case err == nil && strings.HasPrefix(dir, filepath.Join(t.Source, "worktrees")+string(filepath.Separator)):
		return made, nil
	case err == nil, notEmpty(t.Path):
		return foreign, nil
	case errors.Is(err, os.ErrNotExist):
		return missing, nil
	}

	return foreign, err
}

// hasFiles reports whether git has ever finished to put files into a tree: the index comes last.
func hasFiles(t Tree) bool {
	dir, err := git.Linked(t.Path)
	if err != nil {
		return false
	}
	_, err = os.Lstat(filepath.Join(dir, "index"))
	return err == nil
}

// unpushed finds commits of the tree's branch that are in nothing that was fetched from a remote or
// pushed to one. tip is where the branch is, empty when there is none.
func (s source) unpushed(ctx context.Context, t Tree) (tip, why string, err error) {
	tip, err = s.commit(ctx, "refs/heads/"+t.Branch)
	if err != nil || tip == "" {
		return tip, "", err
	}

	out, err := s.run(ctx, "rev-list", "--max-count=1", tip, "--not", t.From, "--remotes")
	if err != nil || out == "" {
		return tip, "", err
	}

	return tip, "branch " + t.Branch + " has commits that were not pushed", nil
}

// pushed asks the remotes whether one has the branch as it is here: a bare clone notes no pushes.
// What cannot be found out counts as not pushed.
func (s source) pushed(ctx context.Context, branch, tip string) bool {
	remotes, err := s.remotes(ctx)
	if err != nil {
		return false
	}

	for _, r := range remotes {
		if there, _ := s.tip(ctx, r, "refs/heads/"+branch); there == tip {
			return true
		}
	}

	return false
}

// linked lists the paths of the repository's worktrees with the branch that each is on.
func (s source) linked(ctx context.Context) (map[string]string, error) {
	out, err := s.run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}

	trees := map[string]string{}
	path := ""
	for line := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "worktree":
			path = filepath.FromSlash(value)
			trees[path] = ""
		case "branch":
			trees[path] = value
		}
	}

	return trees, nil
}

// dropBranch deletes a branch that still is at tip, unless somebody else has it checked out.
func (s source) dropBranch(ctx context.Context, branch, tip string) (why string, err error) {
	if tip == "" {
		return "", nil
	}
	trees, err := s.linked(ctx)
	if err != nil {
		return "", err
	}

	for path, on := range trees {
		if on == "refs/heads/"+branch {
			return "branch " + branch + " is checked out in " + path, nil
		}
	}

	if _, err := s.run(ctx, "update-ref", "-d", "refs/heads/"+branch, tip); err != nil {
		return "", err
	}
	_, _ = s.run(ctx, "config", "--remove-section", "branch."+branch) // there is one only if it was pushed with -u

	return "", nil
}
