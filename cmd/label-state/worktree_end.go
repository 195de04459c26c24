package main

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/worktree"
	"github.com/urfave/cli/v2"
)

func (t terminal) removeTrees(cc *cli.Context) error {
	v := &featureView{Feature: oneLine(cc.Args().First())}
	return t.onTrees(cc, v, func(ctx context.Context, c *call, y *worktree.Yard) error {
		if n := cc.Args().Len(); n != 1 {
			return wrong(path(cc), "want one feature, got %d arguments", n)
		}
		if cc.Bool("dry-run") {
			return c.wouldRemove(ctx, y, cc.Args().First())
		}
		f, err := y.Remove(ctx, cc.Args().First())
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
			return err
		}
		v.Answer = "removed"
		return c.answer(v, v.text())
	})
}

func (c *call) wouldRemove(ctx context.Context, y *worktree.Yard, name string) error {
	all, err := y.List(ctx)
	if err != nil {
		return err
	}
	for _, l := range all {
		if l.Name != name {
			continue
		}
		if l.Err != nil {
			return l.Err
		}
		v := listed(l)
		v.Answer = "would be removed, but for what is kept"
		return c.answer(v, v.text())
	}
	return &worktree.AbsentError{Feature: name}
}

func (t terminal) pruneTrees(cc *cli.Context) error {
	return t.onTrees(cc, &featureView{}, func(ctx context.Context, c *call, y *worktree.Yard) error {
		if cc.Args().Present() {
			return wrong(path(cc), "it takes no arguments")
		}
		if cc.Bool("dry-run") {
			return c.wouldPrune(ctx, y)
		}
		found, unknown := y.Prune(ctx)
		var kept []worktree.Kept
		for _, p := range found {
			v := pruned(p)
			kept, unknown = append(kept, p.Kept...), errors.Join(unknown, p.Err, c.answer(v, v.text()))
		}
		if unknown == nil && len(kept) > 0 {
			return &worktree.KeptError{Kept: kept}
		}
		return unknown
	})
}

func pruned(p worktree.Pruned) featureView {
	v := featureView{Feature: p.Feature, Answer: "pruned", Trees: []treeView{}}
	for _, tree := range p.Gone {
		v.Trees = append(v.Trees, viewTree(tree, "removed", ""))
	}
	for _, k := range p.Kept {
		v.Trees = append(v.Trees, viewTree(k.Tree, "kept", k.Why))
	}
	if p.Err != nil {
		v.Answer, v.Error = "unknown", oneLine(p.Err.Error())
	}
	return v
}

func (c *call) wouldPrune(ctx context.Context, y *worktree.Yard) error {
	all, err := y.List(ctx)
	for _, l := range all {
		v := listed(l)
		missing := false
		for _, tree := range v.Trees {
			missing = missing || tree.State == "missing"
		}
		if l.Err == nil && (!l.Ready || missing) {
			v.Answer = "would be pruned"
			err = errors.Join(err, c.answer(v, v.text()))
		}
		err = errors.Join(err, l.Err)
	}
	return err
}
