package worktree

import (
	"context"
	"errors"
	"fmt"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/state"
)

// Remove removes the trees of a feature and their branches. What would lose work is kept and listed
// in a *KeptError; the feature then goes on with that. It can be asked again at any point.
func (fs *Features) Remove(ctx context.Context, name string) (f Feature, err error) {
	page, f, err := fs.lock(name)
	if err != nil {
		return f, err
	}

	defer func() { err = errors.Join(err, page.Close()) }()
	var left []Kept
	for n, t := range f.Trees {
		why, err := fs.drop(ctx, t, !f.Ready)
		if err != nil {
			for _, rest := range f.Trees[n:] {
				left = append(left, Kept{Tree: rest})
			}
			return f, errors.Join(fmt.Errorf("remove %s: %w", t.Path, err), fs.saveOrForget(page, f, left))
		}

		if why != "" {
			left = append(left, Kept{t, why})
		}
	}

	return f, errors.Join(keptError(left), fs.saveOrForget(page, f, left))
}

// lock opens the page of a feature that is there.
func (fs *Features) lock(name string) (Page, Feature, error) {
	page, err := fs.book.Open(name)
	if err != nil {
		return nil, Feature{}, err
	}

	f, ok, err := page.Load()
	if err == nil && !ok {
		err = Absent()
	}

	if err != nil {
		return nil, f, errors.Join(err, page.Close())
	}

	return page, f, nil
}

// A Pruned feature is one that Prune has changed, or could not.
type Pruned struct {
	Feature string
	Gone    []Tree
	Kept    []Kept
	Partly  bool  // the feature has trees still, those that were kept or are in order
	Err     error // could not find out
}

// Prune undoes what killed runs have left: features that were never finished, and trees whose
// folder is gone. Features that another process is at work on, and those that are in order, are
// left alone.
func (fs *Features) Prune(ctx context.Context) ([]Pruned, error) {
	names, err := fs.book.Names()
	if err != nil {
		return nil, err
	}

	var out []Pruned
	for _, name := range names {
		p, err := fs.prune(ctx, name)
		if p.Err = err; err != nil || len(p.Gone)+len(p.Kept) > 0 {
			out = append(out, p)
		}
	}

	return out, nil
}

func (fs *Features) prune(ctx context.Context, name string) (p Pruned, err error) {
	p.Feature = name
	page, f, err := fs.lock(name)
	var busy *state.BusyError
	if answer.Is(err, answer.Declined) || errors.As(err, &busy) {
		return p, nil
	}
	if err != nil {
		return p, err
	}

	defer func() { err = errors.Join(err, page.Close()) }()
	var left []Kept
	for _, t := range f.Trees {
		whose, err := ownershipOf(t)
		if err == nil && f.Ready && whose != missing {
			left = append(left, Kept{Tree: t})
			continue
		}

		why, err := fs.drop(ctx, t, !f.Ready)
		if err != nil {
			why = err.Error()
		}

		if why == "" {
			p.Gone = append(p.Gone, t)
			continue
		}

		left, p.Kept = append(left, Kept{t, why}), append(p.Kept, Kept{t, why})
	}

	p.Partly = len(left) > 0
	return p, fs.saveOrForget(page, f, left)
}

// A Standing is what is known of a tree.
type Standing struct {
	Tree
	State string // clean, kept (it would be, and Why), missing, unfinished or unknown
	Why   string
}

// A Listing is a feature and how its trees are.
type Listing struct {
	Feature
	Trees []Standing
	Err   error // the journal's page could not be read
}

// List looks at every feature without touching anything. No remote is asked.
func (fs *Features) List(ctx context.Context) ([]Listing, error) {
	names, err := fs.book.Names()
	if err != nil {
		return nil, err
	}

	var out []Listing
	for _, name := range names {
		f, ok, err := fs.book.Read(name)
		if !ok && err == nil {
			continue
		}

		l := Listing{Feature: f, Err: err}
		l.Name = name
		for _, t := range f.Trees {
			whose, err := ownershipOf(t)
			s := Standing{t, "clean", ""}
			if err == nil {
				s.Why, err = fs.treeKeptBecause(ctx, t, !f.Ready)
			}

			if err == nil && s.Why == "" {
				_, s.Why, err = source{fs.git, t.Source, t.Repo}.unpushed(ctx, t)
			}

			switch {
			case err != nil:
				s.State, s.Why = "unknown", err.Error()
			case !f.Ready:
				s.State = "unfinished"
			case whose == missing:
				s.State = "missing" // and kept, where Why says so
			case s.Why != "":
				s.State = "kept"
			}

			l.Trees = append(l.Trees, s)
		}

		out = append(out, l)
	}

	return out, nil
}
