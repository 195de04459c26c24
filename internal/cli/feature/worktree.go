package feature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/worktree"
)

type createParams struct {
	Feature string   `flag:"feature" value:"FEATURE" text:"name of the feature, 1 to 63 of a-z, 0-9 and -"`
	Clones  []string `flag:"repo" value:"NAME=PATH[@BASE]" text:"a clone, bare or not; repeated for each" split:","`
	Agent   string   `flag:"agent" value:"NAME" text:"what branches begin with (default: LABEL_STATE_CODENAME, else agent)"`
	Into    string   `flag:"into" value:"DIR" text:"folder for the trees, each at DIR/FEATURE/NAME (default: worktrees in this user's state folder)"`
	Offline bool     `flag:"offline" text:"take remotes' branches as they were last fetched"`
	DryRun  bool     `flag:"dry-run" text:"look and report, write nothing"`
	cli.Here
}

type removeParams struct {
	Feature string `arg:"FEATURE"`
	pruneParams
}

type pruneParams struct {
	DryRun bool `flag:"dry-run" text:"look and report, write nothing"`
	cli.Here
}

// Worktree are the verbs about the trees of a feature.
func Worktree() []cli.Verb {
	return []cli.Verb{
		{Name: "worktree", Summary: "one worktree in each repository of a feature"},
		cli.Do(cli.Verb{
			Name:    "worktree create",
			Summary: "make a worktree in every repository, or in none",
			About: "Each worktree is on a new branch AGENT/FEATURE-NAME-TIME. Everything is checked first; on " +
				"an error or a signal all is undone, branches too. " +
				"BASE is a remote's branch, a tag or an object id; without one the remote's default branch. " +
				"The holds of a bundle with the feature's name are recorded in the worktrees.",
			Examples: "label-state worktree create --feature checkout-v2 \\\n   --repo app=../app --repo web=../web@release-2\n",
		}, createTrees),
		cli.Do(cli.Verb{
			Name:     "worktree list",
			Summary:  "every feature's worktrees and their state",
			About:    "Contacts no remote and changes nothing.",
			Examples: "label-state worktree list --json\n",
		}, listTrees),
		cli.Do(cli.Verb{
			Name:    "worktree remove",
			Summary: "remove a feature's worktrees and branches; exit 1 when some are kept",
			About: "A worktree with changes, and a branch with commits that were not pushed, are kept. To " +
				"remove a worktree anyway: git worktree remove --force.",
			Examples: "label-state worktree remove checkout-v2\n",
		}, removeTrees),
		cli.Do(cli.Verb{
			Name:     "worktree prune",
			Summary:  "undo what killed runs have left; exit 1 when something is kept",
			About:    "Features that were never finished, and worktrees whose folder is gone.",
			Examples: "label-state worktree prune --dry-run\n",
		}, pruneTrees),
	}
}

// A FeatureView is the JSON of a feature.
type FeatureView struct {
	Feature string     `json:"feature,omitempty"` // empty where the answer is about all
	Answer  string     `json:"answer"`
	Folder  string     `json:"folder,omitempty"`
	Trees   []TreeView `json:"trees"`

	cli.Negative
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

// onWorktrees carries a verb out on this user's features. The JSON of a no is the view as far as it
// got.
func onWorktrees(c *cli.Call, v *FeatureView, do func(all *worktree.Features) error) error {
	c.Subject = answer.Answer{Feature: v.Feature}
	c.Stands = answer.Call("see its state", "worktree list")
	c.No = func(a answer.Answer, _ error) any {
		v.Answer, v.Negative = string(a.Answer), cli.No(a)
		if v.Trees == nil {
			v.Trees = []TreeView{}
		}
		return v
	}

	book, err := featureJournal(c.Terminal)
	if err != nil {
		return err
	}

	return do(worktree.New(worktree.Program(c.Env.Inherited()), book))
}

func createTrees(ctx context.Context, c *cli.Call, p *createParams) error {
	v := &FeatureView{Feature: cli.OneLine(p.Feature)}
	return onWorktrees(c, v, func(all *worktree.Features) error {
		r, err := readWorktreeRequest(c, p)
		if err != nil {
			return err
		}

		answer, state, create := "created", "clean", all.Create
		if p.DryRun {
			answer, state, create = "would be created", "free", all.Plan
		}

		f, err := create(ctx, r)
		if err != nil {
			return err
		}

		v.Answer, v.Folder = answer, f.Folder
		for _, tree := range f.Trees {
			v.Trees = append(v.Trees, viewTree(tree, state, ""))
		}

		if !p.DryRun {
			equip(ctx, c, f)
		}

		return c.Answer(v, v.text())
	})
}

func readWorktreeRequest(c *cli.Call, p *createParams) (worktree.Request, error) {
	r := worktree.Request{
		Feature: p.Feature,
		Agent:   cmp.Or(p.Agent, c.Env.Identity().Codename, "agent"),
		At:      time.Now(),
		Offline: p.Offline,
	}

	if r.Feature == "" {
		return r, c.Usagef("which feature? Give --feature")
	}
	if err := r.CheckAgent(); err != nil && p.Agent == "" {
		return r, cli.Advise(fmt.Errorf("LABEL_STATE_CODENAME: %w", err),
			answer.Advice("say with --agent what the branches begin with"))
	}
	into := p.Into
	if into == "" {
		dir, err := c.Env.StateDir()
		if err != nil {
			return r, err
		}
		into = filepath.Join(dir, "worktrees")
	}

	r.Folder = filepath.Join(c.Env.Path(into), r.Feature)
	for _, text := range p.Clones {
		s, err := worktree.ParseSpec(text)
		if err != nil {
			return r, err
		}
		s.Path = c.Env.Path(s.Path)
		r.Specs = append(r.Specs, s)
	}

	return r, nil
}

// equip records the holds of the bundle with the feature's name in its trees.
func equip(ctx context.Context, c *cli.Call, f worktree.Feature) {
	book, err := bundleJournal(c.Terminal)
	if err != nil {
		return
	}

	note, ok, err := book.Read(f.Name)
	if err != nil {
		c.Warnf("the hooks in the worktrees will not know the bundle's holds: %s", err)
	}

	if ok && note.Taken {
		informTrees(ctx, c.Terminal, f.Trees, note)
	}
}

func listTrees(ctx context.Context, c *cli.Call, _ *cli.Here) error {
	return onWorktrees(c, &FeatureView{}, func(features *worktree.Features) error {
		all, err := features.List(ctx)
		if err != nil {
			return err
		}
		if len(all) == 0 {
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
