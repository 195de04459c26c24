package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/worktree"
	"github.com/urfave/cli/v2"
)

func worktreeCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "worktree", Usage: "one work tree in each repository of a feature",
		Subcommands: []*cli.Command{
			{
				Name: "create", Usage: "make a tree in every repository, or in none",
				Description: "Each tree is on a new branch AGENT/FEATURE-NAME-TIME. Everything is checked first; on an error or a signal all is undone, branches too. " +
					"BASE is a remote's branch, a tag or an object id; without one the remote's default branch. " +
					"The holds of a bundle with the feature's name are recorded in the trees.\n\n" +
					"   label-state worktree create --feature checkout-v2 --repo app=../app --repo web=../web@release-2",
				Flags: here(
					&cli.StringFlag{Name: "feature", Usage: "`FEATURE`: 1 to 63 of a-z, 0-9 and -"},
					&cli.StringSliceFlag{Name: "repo", Usage: "repository `NAME=PATH[@BASE]`: a clone, bare or not; repeated for each"},
					&cli.StringFlag{Name: "agent", Usage: "`NAME` that branches begin with (default: LABEL_STATE_CODENAME, else agent)"},
					&cli.StringFlag{Name: "into", Usage: "`DIR` for the trees, each at DIR/FEATURE/NAME (default: worktrees in this user's state folder)"},
					&cli.BoolFlag{Name: "offline", Usage: "take remotes' branches as they were last fetched"},
					dryRun(),
				),
				Action: t.createTrees,
			},
			{
				Name: "list", Usage: "every feature's trees and how they are",
				Description: "Asks no remote and changes nothing.\n\n   label-state worktree list --json",
				Flags:       here(), Action: t.listTrees,
			},
			{
				Name: "remove", Usage: "remove a feature's trees and branches; exit 1 when some are kept", ArgsUsage: "FEATURE",
				Description: "A tree with changes, and a branch with commits that were not pushed, stay where they are. There is no way to force it: " +
					"git worktree remove --force is.\n\n   label-state worktree remove checkout-v2",
				Flags: here(dryRun()), Action: t.removeTrees,
			},
			{
				Name: "prune", Usage: "undo what killed runs have left; exit 1 when something is kept",
				Description: "Features that were never finished, and trees whose folder is gone.\n\n   label-state worktree prune --dry-run",
				Flags:       here(dryRun()), Action: t.pruneTrees,
			},
		},
	}
}

// here are the flags of commands that concern this machine only.
func here(more ...cli.Flag) []cli.Flag {
	var some []cli.Flag
	for _, f := range answering() {
		if name := f.Names()[0]; name != "config" && name != "verbose" && name != "no-color" {
			some = append(some, f)
		}
	}
	return append(more, some...)
}

// A featureView is the JSON of a feature.
type featureView struct {
	Feature string     `json:"feature"`
	Answer  string     `json:"answer"`
	Folder  string     `json:"folder,omitempty"`
	Trees   []treeView `json:"trees"`
	Error   string     `json:"error,omitempty"`
}

// A treeView is the JSON of a work tree.
type treeView struct {
	Repo   string `json:"repo"`
	Path   string `json:"path"`
	Branch string `json:"branch"`
	Base   string `json:"base,omitempty"`
	Commit string `json:"commit"`
	State  string `json:"state"`
	Why    string `json:"why,omitempty"`
}

func viewTree(t worktree.Tree, state, why string) treeView {
	return treeView{t.Repo, t.Path, t.Branch, oneLine(t.Base), t.From, state, oneLine(why)}
}

func (v featureView) text() string {
	var rows [][2]string
	for _, t := range v.Trees {
		what := t.State
		if t.Why != "" {
			what += ": " + t.Why
		}
		rows = append(rows, [2]string{"  " + t.Path, t.Branch + "  " + what})
	}
	return strings.TrimSpace("feature "+v.Feature+" "+v.Answer) + "\n" + table(rows)
}

// onTrees runs a verb on this user's features. What goes wrong is answered with the view as far as it got.
func (t terminal) onTrees(cc *cli.Context, v *featureView, do func(ctx context.Context, c *call, y *worktree.Yard) error) error {
	ctx, cancel := deadline(cc)
	defer cancel()
	c := &call{Context: cc, terminal: t}
	y, err := t.yard()
	if err == nil {
		err = do(ctx, c, y)
	}
	if err == nil {
		return nil
	}
	f := &failure{doing: path(cc), object: v.Feature, err: c.timed(ctx, err)}
	if c.answered {
		return f
	}
	v.Answer, v.Error = reply{}.negative(f).Answer, oneLine(f.reason())
	if v.Trees == nil {
		v.Trees = []treeView{}
	}
	return errors.Join(f, c.answerJSON(v))
}

func (t terminal) createTrees(cc *cli.Context) error {
	v := &featureView{Feature: oneLine(cc.String("feature"))}
	return t.onTrees(cc, v, func(ctx context.Context, c *call, y *worktree.Yard) error {
		if cc.Args().Present() {
			return wrong(path(cc), "it takes no arguments; name repositories with --repo NAME=PATH")
		}
		r, err := c.treeRequest()
		if err != nil {
			return err
		}
		answer, state, create := "created", "clean", y.Create
		if cc.Bool("dry-run") {
			answer, state, create = "would be created", "free", y.Plan
		}
		f, err := create(ctx, r)
		if err != nil {
			return err
		}
		v.Answer, v.Folder = answer, f.Folder
		for _, tree := range f.Trees {
			v.Trees = append(v.Trees, viewTree(tree, state, ""))
		}
		if !cc.Bool("dry-run") {
			c.equip(ctx, f)
		}
		return c.answer(v, v.text())
	})
}

func (c *call) treeRequest() (worktree.Request, error) {
	r := worktree.Request{
		Feature: c.String("feature"), Agent: cmp.Or(c.String("agent"), c.env.Identity().Codename, "agent"), At: time.Now(), Offline: c.Bool("offline"),
	}
	if r.Feature == "" {
		return r, wrong(path(c.Context), "which feature? Give --feature")
	}
	into := c.String("into")
	if into == "" {
		dir, err := c.env.StateDir()
		if err != nil {
			return r, err
		}
		into = filepath.Join(dir, "worktrees")
	}
	r.Folder = filepath.Join(c.absolute(into), r.Feature)
	for _, text := range c.StringSlice("repo") {
		s, err := worktree.ParseSpec(text)
		if err != nil {
			return r, err
		}
		s.Path = c.absolute(s.Path)
		r.Specs = append(r.Specs, s)
	}
	return r, nil
}

func (c *call) absolute(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.env.Dir, p)
}

// equip records the holds of the bundle with the feature's name in its trees.
func (c *call) equip(ctx context.Context, f worktree.Feature) {
	book, err := c.bundles()
	if err != nil {
		return
	}
	note, ok, err := book.Read(f.Name)
	if err != nil {
		warn(c.err, "the hooks in the trees will not know the bundle's holds: %s", err)
	}
	if ok && note.Taken {
		c.informTrees(ctx, f.Trees, note)
	}
}

func (t terminal) listTrees(cc *cli.Context) error {
	return t.onTrees(cc, &featureView{}, func(ctx context.Context, c *call, y *worktree.Yard) error {
		if cc.Args().Present() {
			return wrong(path(cc), "it takes no arguments")
		}
		all, err := y.List(ctx)
		if err != nil {
			return err
		}
		var unread error
		for _, l := range all {
			if l.Err != nil {
				unread = errors.Join(unread, l.Err)
				continue
			}
			v := listed(l)
			if err := c.answer(v, v.text()); err != nil {
				return err
			}
		}
		return unread
	})
}

func listed(l worktree.Listing) featureView {
	v := featureView{Feature: l.Name, Answer: "ready", Folder: l.Folder, Trees: []treeView{}}
	if !l.Ready {
		v.Answer = "unfinished"
	}
	for _, s := range l.Trees {
		v.Trees = append(v.Trees, viewTree(s.Tree, s.State, s.Why))
	}
	return v
}
