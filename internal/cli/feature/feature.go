package feature

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/state"
	"github.com/label-state/label-state/internal/worktree"
)

// A feature's trees and a bundle's holds know of each other: the hook in each tree must know whose
// push it sees.

// featureJournal is the book of this user's features.
func featureJournal(t cli.Terminal) (worktree.Book, error) {
	dir, err := t.Env.StateDir()
	return worktree.Journal(filepath.Join(dir, "features")), err
}

// worktreesAround are the trees of the feature that we are in, or in whose folder; none outside of
// any. What cannot be read is not a feature: holds are then recorded here only.
func worktreesAround(t cli.Terminal) []worktree.Tree {
	dir, err := filepath.EvalSymlinks(t.Env.Dir)
	book, failed := featureJournal(t)
	if err != nil || failed != nil {
		return nil
	}

	names, err := book.Names()
	if err != nil {
		t.Warnf("the worktrees of features are not known: %s", err)
	}

	for _, name := range names {
		f, _, err := book.Read(name)
		if err != nil {
			t.Warnf("the worktrees of feature %s are not known: %s", name, err)
		}

		if f.Ready && dir == f.Folder {
			return f.Trees
		}

		for _, tree := range f.Trees {
			if f.Ready && (dir == tree.Path || strings.HasPrefix(dir, tree.Path+string(filepath.Separator))) {
				return f.Trees
			}
		}
	}

	return nil
}

// trees are those of the feature around us, else of the one that has the bundle's name.
func (p *pack) trees() (all []worktree.Tree, around bool) {
	if all = worktreesAround(p.Terminal); len(all) > 0 {
		return all, true
	}

	book, err := featureJournal(p.Terminal)
	if err != nil {
		return nil, false
	}
	f, _, _ := book.Read(p.slug) // none, or none that can be read: nothing is recorded there
	if !f.Ready {
		return nil, false
	}

	return f.Trees, false
}

// inform records a bundle's holds where its work is done: each in the feature's tree of its
// repository, and all of them in the worktree around us where that is none of these.
func (p *pack) inform(ctx context.Context, note bundlePage) {
	trees, around := p.trees()
	informTrees(ctx, p.Terminal, trees, note)
	if around {
		return
	}

	dir, err := state.GitDir(p.Env.Dir, p.Env.Getenv("GIT_DIR"))
	if err != nil {
		return // no worktree, so no hook
	}

	for _, h := range note.Holds {
		recordHold(p.Terminal, dir, note, h)
	}
}

// informTrees records holds in those of the trees whose repository they are about.
func informTrees(ctx context.Context, t cli.Terminal, trees []worktree.Tree, note bundlePage) {
	for _, tree := range trees {
		env := t.Env
		env.Dir = tree.Path
		home, err := env.Home(ctx)
		if err != nil {
			t.Warnf("the repository of %s is not known, so its hook will not know you: %s", tree.Path, err)
			continue
		}

		dir, err := state.GitDir(tree.Path, "")
		if err != nil {
			t.Warnf("the hook in %s will not know you: %s", tree.Path, err)
			continue
		}

		for _, h := range note.Holds {
			i, err := host.ParseIssue(h.Issue, host.Defaults{})
			// an API that was named outright is the host of all
			sameHost := home.Host == note.Host || t.Env.Getenv("LABEL_STATE_API_URL") != ""
			if err == nil && sameHost && strings.EqualFold(i.Slug(), home.Owner+"/"+home.Repo) {
				recordHold(t, dir, note, h)
			}
		}
	}
}

func recordHold(t cli.Terminal, gitDir string, note bundlePage, h pageHold) {
	i, err := host.ParseIssue(h.Issue, host.Defaults{})
	if err == nil {
		err = state.OpenHolds(gitDir).Save(state.Hold{
			Issue:   i,
			Worker:  note.worker(),
			Comment: h.Comment,
			URL:     h.URL,
			Token:   h.Token,
			TTL:     time.Duration(h.TTL) * time.Second,
			Until:   h.Until,
		})
	}

	if err != nil {
		t.Warnf("the hook will not know that %s is yours: %s", h.Issue, err)
	}
}

// places are the git folders in which a bundle's holds may have been recorded.
func (p *pack) places() []string {
	var dirs []string
	if dir, err := state.GitDir(p.Env.Dir, p.Env.Getenv("GIT_DIR")); err == nil {
		dirs = append(dirs, dir)
	}

	trees, _ := p.trees()
	for _, tree := range trees {
		if dir, err := state.GitDir(tree.Path, ""); err == nil {
			dirs = append(dirs, dir)
		}
	}

	return dirs
}

// recorded reports whether a hold of the bundle is recorded in one of these places, and no other
// session or process is at work under it.
func (p *pack) recorded(places []string, note bundlePage, i claim.Issue) bool {
	return slices.ContainsFunc(places, func(dir string) bool {
		store := state.OpenHolds(dir)
		h, found, err := store.Load(i)
		return err == nil && found && h.Worker == note.worker() && h.Lost == "" && !store.Attended(i) &&
			p.Env.Whose(h) != setup.Others
	})
}

// disown forgets a bundle's holds where they may have been recorded.
func (p *pack) disown(note bundlePage) {
	for _, dir := range p.places() {
		store := state.OpenHolds(dir)
		holds, err := store.All()
		for _, h := range holds {
			if h.Worker != note.worker() { // another run's
				continue
			}
			if failed := store.Remove(h.Issue); failed != nil {
				err = failed
			}
		}

		if err != nil {
			p.Warnf("records of the holds in %s could not be removed: %s", dir, err)
		}
	}
}
