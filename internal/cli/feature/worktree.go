package feature

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/worktree"
	urfave "github.com/urfave/cli/v2"
)

// NewWorktreeCommand makes the command worktree.
func NewWorktreeCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "worktree", Usage: "one worktree in each repository of a feature",
		Subcommands: []*urfave.Command{
			{
				Name:  "create",
				Usage: "make a tree in every repository, or in none",
				Description: "Each tree is on a new branch AGENT/FEATURE-NAME-TIME. Everything is checked first; on an error or a signal all is undone, branches too. " +
					"BASE is a remote's branch, a tag or an object id; without one the remote's default branch. " +
					"The holds of a bundle with the feature's name are recorded in the trees.\n\n" +
					"   label-state worktree create --feature checkout-v2 --repo app=../app --repo web=../web@release-2",
				Flags: here(
					&urfave.StringFlag{Name: "feature", Usage: "`FEATURE`: 1 to 63 of a-z, 0-9 and -"},
					&urfave.StringSliceFlag{
						Name:  "repo",
						Usage: "repository `NAME=PATH[@BASE]`: a clone, bare or not; repeated for each",
					},
					&urfave.StringFlag{
						Name:  "agent",
						Usage: "`NAME` that branches begin with (default: LABEL_STATE_CODENAME, else agent)",
					},
					&urfave.StringFlag{
						Name:  "into",
						Usage: "`DIR` for the trees, each at DIR/FEATURE/NAME (default: worktrees in this user's state folder)",
					},
					&urfave.BoolFlag{Name: "offline", Usage: "take remotes' branches as they were last fetched"},
					cli.DryRunFlag(),
				),
				Action: func(cc *urfave.Context) error { return runWorktreeCreate(t, cc) },
			},
			{
				Name:        "list",
				Usage:       "every feature's trees and how they are",
				Description: "Asks no remote and changes nothing.\n\n   label-state worktree list --json",
				Flags:       here(),
				Action:      func(cc *urfave.Context) error { return runWorktreeList(t, cc) },
			},
			{
				Name:      "remove",
				Usage:     "remove a feature's trees and branches; exit 1 when some are kept",
				ArgsUsage: "FEATURE",
				Description: "A tree with changes, and a branch with commits that were not pushed, stay where they are. There is no way to force it: " +
					"git worktree remove --force is.\n\n   label-state worktree remove checkout-v2",
				Flags:  here(cli.DryRunFlag()),
				Action: func(cc *urfave.Context) error { return runWorktreeRemove(t, cc) },
			},
			{
				Name:        "prune",
				Usage:       "undo what killed runs have left; exit 1 when something is kept",
				Description: "Features that were never finished, and trees whose folder is gone.\n\n   label-state worktree prune --dry-run",
				Flags:       here(cli.DryRunFlag()),
				Action:      func(cc *urfave.Context) error { return runWorktreePrune(t, cc) },
			},
		},
	}
}

// here are the flags of commands that concern this machine only.
func here(more ...urfave.Flag) []urfave.Flag {
	var some []urfave.Flag
	for _, f := range cli.AnswerFlags() {
		if name := f.Names()[0]; name != "config" && name != "verbose" && name != "no-color" {
			some = append(some, f)
		}
	}

	return append(more, some...)
}

// A FeatureView is the JSON of a feature.
type FeatureView struct {
	Feature string     `json:"feature"`
	Answer  string     `json:"answer"`
	Folder  string     `json:"folder,omitempty"`
	Trees   []TreeView `json:"trees"`

	Code  answer.Code      `json:"code,omitempty"` // of an answer that is not yes
	Error string           `json:"error,omitempty"`
	Next  []answer.Command `json:"next,omitempty"`
}

// A TreeView is the JSON of a worktree.
type TreeView struct {
	Repo   string `json:"repo"`
	Path   string `json:"path"`
	Branch string `json:"branch"`
	Base   string `json:"base,omitempty"`
	Commit string `json:"commit"`
	State  string `json:"state"`
	Why    string `json:"why,omitempty"`
}

func viewTree(t worktree.Tree, state, why string) TreeView {
	return TreeView{t.Repo, t.Path, t.Branch, cli.OneLine(t.Base), t.From, state, cli.OneLine(why)}
}

func (v FeatureView) text() string {
	var rows [][2]string
	for _, t := range v.Trees {
		what := t.State
		if t.Why != "" {
			what += ": " + t.Why
		}
		rows = append(rows, [2]string{"  " + t.Path, t.Branch + "  " + what})
	}

	return strings.TrimSpace("feature "+v.Feature+" "+v.Answer) + "\n" + cli.Table(rows)
}

// onWorktrees runs a verb on this user's features. What goes wrong is answered with the view as far
// as it got.
func onWorktrees(t cli.Terminal, cc *urfave.Context, v *FeatureView,
	do func(ctx context.Context, c *cli.Call, y *worktree.Features) error,
) error {
	ctx, cancel := cli.Deadline(cc)
	defer cancel()
	c := &cli.Call{Flags: cc, Terminal: t}
	book, err := featureJournal(t)
	if err == nil {
		err = do(ctx, c, worktree.New(worktree.Program(t.Env.Inherited()), book))
	}

	if err == nil {
		return nil
	}
	f := cli.ProblemOf(cli.At(cli.CommandPath(cc), v.Feature, c.Timed(ctx, err)))
	if c.Answered {
		return f
	}

	no := c.Negative(f)
	v.Answer, v.Error, v.Code, v.Next = string(no.Answer), no.Error, no.Code, no.Next
	if v.Trees == nil {
		v.Trees = []TreeView{}
	}

	return errors.Join(f, c.AnswerJSON(v))
}

func runWorktreeCreate(t cli.Terminal, cc *urfave.Context) error {
	v := &FeatureView{Feature: cli.OneLine(cc.String("feature"))}
	return onWorktrees(t, cc, v, func(ctx context.Context, c *cli.Call, y *worktree.Features) error {
		if cc.Args().Present() {
			return cli.Usagef(cli.CommandPath(cc), "it takes no arguments; name repositories with --repo NAME=PATH")
		}
		r, err := readWorktreeRequest(c)
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
			equip(ctx, c, f)
		}

		return c.Answer(v, v.text())
	})
}

func readWorktreeRequest(c *cli.Call) (worktree.Request, error) {
	r := worktree.Request{
		Feature: c.Flags.String("feature"),
		Agent:   cmp.Or(c.Flags.String("agent"), c.Terminal.Env.Identity().Codename, "agent"),
		At:      time.Now(),
		Offline: c.Flags.Bool("offline"),
	}

	if r.Feature == "" {
		return r, cli.Usagef(cli.CommandPath(c.Flags), "which feature? Give --feature")
	}
	into := c.Flags.String("into")
	if into == "" {
		dir, err := c.Terminal.Env.StateDir()
		if err != nil {
			return r, err
		}
		into = filepath.Join(dir, "worktrees")
	}

	r.Folder = filepath.Join(absolutePath(c, into), r.Feature)
	for _, text := range c.Flags.StringSlice("repo") {
		s, err := worktree.ParseSpec(text)
		if err != nil {
			return r, err
		}
		s.Path = absolutePath(c, s.Path)
		r.Specs = append(r.Specs, s)
	}

	return r, nil
}

func absolutePath(c *cli.Call, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.Terminal.Env.Dir, p)
}

// equip records the holds of the bundle with the feature's name in its trees.
func equip(ctx context.Context, c *cli.Call, f worktree.Feature) {
	book, err := bundleJournal(c.Terminal)
	if err != nil {
		return
	}

	note, ok, err := book.Read(f.Name)
	if err != nil {
		cli.Warnf(c.Terminal.Err, "the hooks in the trees will not know the bundle's holds: %s", err)
	}

	if ok && note.Taken {
		informTrees(ctx, c.Terminal, f.Trees, note)
	}
}

func runWorktreeList(t cli.Terminal, cc *urfave.Context) error {
	return onWorktrees(t, cc, &FeatureView{}, func(ctx context.Context, c *cli.Call, y *worktree.Features) error {
		if cc.Args().Present() {
			return cli.Usagef(cli.CommandPath(cc), "it takes no arguments")
		}
		all, err := y.List(ctx)
		if err != nil {
			return err
		}
		if len(all) == 0 && !c.Flags.Bool("json") {
			return c.Answer(nil, "no feature has worktrees here; how to make them: label-state worktree create --help\n")
		}

		var unread error
		for _, l := range all {
			if l.Err != nil {
				unread = errors.Join(unread, l.Err)
				continue
			}
			v := listed(l)
			if err := c.Answer(v, v.text()); err != nil {
				return err
			}
		}

		return unread
	})
}

func listed(l worktree.Listing) FeatureView {
	v := FeatureView{
		Feature: l.Name,
		Answer:  "ready",
		Folder:  l.Folder,
		Trees:   []TreeView{},
	}

	if !l.Ready {
		v.Answer = "unfinished"
	}

	for _, s := range l.Trees {
		v.Trees = append(v.Trees, viewTree(s.Tree, s.State, s.Why))
	}

	return v
}
