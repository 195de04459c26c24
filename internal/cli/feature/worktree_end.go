package feature

import (
	"context"
	"errors"
	"slices"

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
			all, err := y.List(ctx)
			if err != nil {
				return err
			}

			n := slices.IndexFunc(all, func(l worktree.Listing) bool { return l.Name == cc.Args().First() })
			switch {
			case n < 0:
				return &worktree.AbsentError{Feature: cc.Args().First()}
			case all[n].Err != nil:
				return all[n].Err
			}

			would := listed(all[n])
			would.Answer = "would be removed, but for what is kept"
			return c.Answer(would, would.text())
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

func runWorktreePrune(t cli.Terminal, cc *urfave.Context) error {
	return onWorktrees(t, cc, &FeatureView{}, func(ctx context.Context, c *cli.Call, y *worktree.Features) error {
		if cc.Args().Present() {
			return cli.Usagef(cli.CommandPath(cc), "it takes no arguments")
		}
		if cc.Bool("dry-run") {
			all, err := y.List(ctx)
			for _, l := range all {
				v := listed(l)
				missing := slices.ContainsFunc(v.Trees, func(t TreeView) bool { return t.State == "missing" })
				if l.Err == nil && (!l.Ready || missing) {
					v.Answer = "would be pruned"
					err = errors.Join(err, c.Answer(v, v.text()))
				}

				err = errors.Join(err, l.Err)
			}

			return err
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
