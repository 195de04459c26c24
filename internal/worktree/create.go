package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
)

// undoTimeout is how long undoing may go on after the caller's time is over.
const undoTimeout = 2 * time.Minute

// Create makes a tree in each repository, or none. Everything is checked before the first side
// effect (a remote's branch is fetched for that); when anything fails later, or ctx ends, what was
// made is removed again, the branches too. Errors: answer.Usage and answer.Declined did nothing,
// *UndoneError says what went wrong on the way, anything else could not find out.
func (fs *Features) Create(ctx context.Context, r Request) (f Feature, err error) {
	if err := r.check(); err != nil {
		return Feature{}, err
	}
	page, err := fs.book.Open(r.Feature)
	if err != nil {
		return Feature{}, err
	}

	defer func() { err = errors.Join(err, page.Close()) }()
	old, exists, err := page.Load()
	switch {
	case err != nil:
		return Feature{}, err
	case exists:
		return Feature{}, hasTrees(r.Feature, old.Ready)
	}

	f = r.feature()
	if err := fs.inspect(ctx, r, &f); err != nil {
		return Feature{}, err
	}
	if err := page.Save(f); err != nil {
		return Feature{}, err
	}

	err = os.MkdirAll(f.Folder, 0o755)
	for n := 0; n < len(f.Trees) && err == nil; n++ { // no branch tracks its base: a push goes where it is told
		t := f.Trees[n]
		s := source{fs.git, t.Source, t.Repo}
		if _, err = s.run(ctx, "worktree", "add", "--quiet", "--no-track", "-b", t.Branch, t.Path, t.From); err != nil {
			err = s.inRepository(err)
		}
	}

	if err == nil {
		err = ctx.Err()
	}

	ready := f
	ready.Ready = true
	if err == nil {
		err = page.Save(ready)
	}

	if err != nil {
		return Feature{}, fs.undo(ctx, page, f, err)
	}

	return ready, nil
}

// Plan returns the feature that Create would make, and makes nothing: remotes' branches are taken
// as they were last seen. Errors are those of Create that did nothing.
func (fs *Features) Plan(ctx context.Context, r Request) (Feature, error) {
	if err := r.check(); err != nil {
		return Feature{}, err
	}
	old, exists, err := fs.book.Read(r.Feature)
	switch {
	case err != nil:
		return Feature{}, err
	case exists:
		return Feature{}, hasTrees(r.Feature, old.Ready)
	}

	f := r.feature()
	r.Offline = true
	if err := fs.inspect(ctx, r, &f); err != nil {
		return Feature{}, err
	}

	return f, nil
}

// inspect completes the feature with what only the file system and git know, and refuses what
// cannot work.
func (fs *Features) inspect(ctx context.Context, r Request, f *Feature) error {
	if err := f.place(); err != nil {
		return err
	}

	seen := map[string]string{}
	for n, s := range r.Specs {
		t := &f.Trees[n]
		src, err := open(ctx, fs.git, s)
		if err != nil {
			return err
		}
		if t.Source, err = src.run(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir"); err != nil {
			return src.inRepository(err)
		}
		if first, twice := seen[t.Source]; twice {
			return answer.Wrongf("repository %s: it is the same as %s", s.Name, first)
		}

		seen[t.Source] = s.Name
		if t.From, err = src.resolve(ctx, s.Base, r.Offline); err != nil {
			return err
		}
		if _, err := os.Lstat(t.Path); err == nil {
			return answer.Wrongf("repository %s: %s exists already", s.Name, t.Path)
		}
		if _, err := src.run(ctx, "check-ref-format", "refs/heads/"+t.Branch); err != nil {
			return src.inRepository(refused(ctx, err, "repository %s: %q is not a valid branch name", s.Name, t.Branch))
		}

		out, err := src.run(ctx, "for-each-ref", "--format=%(refname)", "refs/heads/", "refs/remotes/")
		if err != nil {
			return src.inRepository(err)
		}

		for ref := range strings.Lines(out) {
			ref = strings.TrimSuffix(ref, "\n")
			name, local := strings.CutPrefix(ref, "refs/heads/")
			switch {
			case !local && strings.HasSuffix(ref, "/"+t.Branch):
				return answer.Wrongf("repository %s: a remote has a branch %s already", s.Name, t.Branch)
			case local && (name == t.Branch || strings.HasPrefix(t.Branch, name+"/") ||
				strings.HasPrefix(name, t.Branch+"/")):
				return answer.Wrongf("repository %s: branch %s is in the way of %s", s.Name, name, t.Branch)
			}
		}
	}

	return nil
}

// undo removes what Create has made so far, in the opposite order, and forgets the feature, but for
// what had to be kept.
func (fs *Features) undo(ctx context.Context, page Page, f Feature, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	var left []Kept
	for _, t := range slices.Backward(f.Trees) {
		why, err := fs.drop(ctx, t, true)
		if err != nil {
			why = err.Error()
		}

		if why != "" {
			left = append(left, Kept{t, why})
		}
	}

	return &UndoneError{cause, errors.Join(keptError(left), fs.saveOrForget(page, f, left))}
}

// saveOrForget writes what is left of a feature, or forgets it with its folder if that is empty.
func (fs *Features) saveOrForget(page Page, f Feature, left []Kept) error {
	f.Trees = nil
	for _, k := range left {
		f.Trees = append(f.Trees, k.Tree)
	}

	if len(f.Trees) > 0 {
		return page.Save(f)
	}
	err := os.Remove(f.Folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) && !notEmpty(f.Folder) {
		return err
	}

	return page.Remove()
}

func notEmpty(dir string) bool {
	entries, err := os.ReadDir(filepath.Clean(dir))
	return err == nil && len(entries) > 0
}

func keptError(all []Kept) error {
	if len(all) == 0 {
		return nil
	}
	return &KeptError{all}
}
