package feature

import (
	"context"
	"errors"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/worktree"
	urfave "github.com/urfave/cli/v2"
)

func runWorktreeRemove(t cli.Terminal, cc *urfave.Context) error {
	v := &FeatureView{Feature: cli.OneLine(cc.Args().First())}
	return onWorktrees(t, cc, v, func(ctx context.Context, c *cli.Call, y *worktree.Features) error {
		if n := cc.Args().Len(); n != 1 {
			return cli.Usagef(cli.CommandPath(cc), "want one feature, got %d arguments", n)
		}
		if cc.Bool("dry-run") {
			return wouldRemove(ctx, c, y, cc.Args().First())
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
		return c.Answer(v, v.text())
	})
}

func wouldRemove(ctx context.Context, c *cli.Call, y *worktree.Features, name string) error {
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
		return c.Answer(v, v.text())
	}
	return &worktree.AbsentError{Feature: name}
}

func runWorktreePrune(t cli.Terminal, cc *urfave.Context) error {
	return onWorktrees(t, cc, &FeatureView{}, func(ctx context.Context, c *cli.Call, y *worktree.Features) error {
		if cc.Args().Present() {
			return cli.Usagef(cli.CommandPath(cc), "it takes no arguments")
		}
		if cc.Bool("dry-run") {
			return wouldPrune(ctx, c, y)
		}
		found, unknown := y.Prune(ctx)
		var kept []worktree.Kept
		for _, p := range found {
			v := FeatureView{Feature: p.Feature, Answer: "pruned", Trees: []TreeView{}}
			for _, tree := range p.Gone {
				v.Trees = append(v.Trees, viewTree(tree, "removed", ""))
			}
			for _, k := range p.Kept {
				v.Trees = append(v.Trees, viewTree(k.Tree, "kept", k.Why))
			}
			if p.Err != nil {
				v.Answer, v.Error = "unknown", cli.OneLine(p.Err.Error())
			}
			kept, unknown = append(kept, p.Kept...), errors.Join(unknown, p.Err, c.Answer(v, v.text()))
		}
		if unknown == nil && len(kept) > 0 {
			return &worktree.KeptError{Kept: kept}
		}
		return unknown
	})
}

func wouldPrune(ctx context.Context, c *cli.Call, y *worktree.Features) error {
	all, err := y.List(ctx)
	for _, l := range all {
		v := listed(l)
		missing := false
		for _, tree := range v.Trees {
			missing = missing || tree.State == "missing"
		}
		if l.Err == nil && (!l.Ready || missing) {
			v.Answer = "would be pruned"
			err = errors.Join(err, c.Answer(v, v.text()))
		}
		err = errors.Join(err, l.Err)
	}
	return err
}
