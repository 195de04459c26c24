package feature

import (
	"context"
	"errors"
	"slices"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/worktree"
)

func removeTrees(ctx context.Context, c *cli.Call, p *removeParams) error {
	v := &FeatureView{Feature: cli.OneLine(p.Feature)}
	return onWorktrees(c, v, func(features *worktree.Features) error {
		if p.DryRun {
			all, err := features.List(ctx)
			if err != nil {
				return err
			}

			n := slices.IndexFunc(all, func(l worktree.Listing) bool { return l.Name == p.Feature })
			switch {
			case n < 0:
				return worktree.Absent()
			case all[n].Err != nil:
				return all[n].Err
			}

			would := listed(all[n])
			would.Answer = "would be removed, but for what is kept"
			return c.Answer(would, would.text())
		}

		f, err := features.Remove(ctx, p.Feature)
		var kept *worktree.KeptError
		if err != nil && !errors.As(err, &kept) {
			return err
		}

		v.Folder = f.Folder
		for _, tree := range f.Trees {
			state, why := "removed", ""
			if kept != nil {
				state, why = kept.Of(tree)
			}
			v.Trees = append(v.Trees, viewTree(tree, state, why))
		}

		if err != nil {
			v.Answer = "is removed, but for what is kept"
			return errors.Join(err, c.Answer(nil, v.text()))
		}
		v.Answer = "removed"

		return c.Answer(v, v.text())
	})
}

// outcome is the answer about a feature whose worktrees have gone, or stay, and its text, which also
// says that only some have.
func (v *FeatureView) outcome(pruned, kept string, gone int, partly bool) string {
	v.Answer = pruned
	switch {
	case partly && gone == 0:
		v.Answer = kept
	case partly:
		shown := *v
		shown.Answer += " in part"
		return shown.text()
	}

	return v.text()
}

func pruneTrees(ctx context.Context, c *cli.Call, p *pruneParams) error {
	return onWorktrees(c, &FeatureView{}, func(features *worktree.Features) error {
		if p.DryRun {
			return previewPrune(ctx, c, features)
		}

		found, unknown := features.Prune(ctx)
		var kept []worktree.Kept
		for _, one := range found {
			v := FeatureView{Feature: one.Feature, Trees: []TreeView{}}
			for _, tree := range one.Gone {
				v.Trees = append(v.Trees, viewTree(tree, "removed", ""))
			}

			for _, k := range one.Kept {
				v.Trees = append(v.Trees, viewTree(k.Tree, "kept", k.Why))
			}

			text := v.outcome("pruned", "kept", len(one.Gone), one.Partly)
			if one.Err != nil {
				v.Negative = c.Failed(one.Err)
				v.Answer = string(v.Negative.Answer)
				text = v.text()
			}
			kept, unknown = append(kept, one.Kept...), errors.Join(unknown, one.Err, c.Answer(v, text))
		}

		if unknown == nil && len(kept) > 0 {
			return &worktree.KeptError{Kept: kept}
		}

		return unknown
	})
}

// previewPrune says what prune would take away.
func previewPrune(ctx context.Context, c *cli.Call, features *worktree.Features) error {
	all, err := features.List(ctx)
	for _, l := range all {
		if l.Err != nil {
			err = errors.Join(err, l.Err)
			continue
		}

		v := listed(l)
		v.Trees = slices.DeleteFunc(v.Trees, func(t TreeView) bool { return l.Ready && t.State != "missing" })
		if l.Ready && len(v.Trees) == 0 {
			continue
		}

		gone := slices.DeleteFunc(slices.Clone(v.Trees), func(t TreeView) bool { return t.Why != "" })
		text := v.outcome("would be pruned", "would be kept", len(gone), len(gone) < len(l.Trees))
		err = errors.Join(err, c.Answer(v, text))
	}

	return err
}
