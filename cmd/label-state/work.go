package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/work"
	"github.com/urfave/cli/v2"
)

func workCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "work", Usage: "the queue, by ids such as github-42: list, show, claim, complete, release",
		Subcommands: []*cli.Command{workList(t), workShow(t), workClaim(t), workComplete(t), workRelease(t)},
	}
}

func workList(t terminal) *cli.Command {
	return &cli.Command{
		Name: "list", Usage: "show what may be taken now, in the order in which it should be",
		Description: "   label-state work list --limit 5 --json\n" +
			"   label-state work list --label area:io --include-claimed",
		Flags: common(append(sourceFlags(filterFlags()...),
			&cli.StringFlag{Name: "limit", Usage: "at most `N` items (default: all)"},
			&cli.StringFlag{Name: "cursor", Usage: "go on behind the page that gave out `CURSOR`"},
			&cli.BoolFlag{Name: "include-claimed", Usage: "also what somebody works on"},
		)...),
		Action: t.atWork(listWork),
	}
}

func listWork(ctx context.Context, c *call, d desk) error {
	o, err := c.filter()
	if err != nil {
		return err
	}
	if text := c.String("limit"); text != "" {
		if o.Limit, err = strconv.Atoi(text); err != nil || o.Limit < 1 {
			return wrong("work list", "--limit %q: want a positive number", oneLine(text))
		}
	}
	o.Cursor, o.IncludeClaimed = c.String("cursor"), c.Bool("include-claimed")
	src, err := d.source(ctx)
	if err != nil {
		return err
	}
	page, err := src.Fetch(ctx, o)
	if err != nil {
		return err
	}
	for _, i := range page.Items {
		if err := c.answer(i, listLine(i)); err != nil {
			return err
		}
	}
	if page.Next != "" {
		fmt.Fprintf(c.err, "label-state: there is more: --cursor %s\n", page.Next)
	}
	return nil
}

func listLine(i work.Item) string {
	taken := ""
	if i.Claimed {
		taken = "  (claimed)"
	}
	return fmt.Sprintf("%-12s  %-8s  %s%s\n", i.ID, i.Priority, oneLine(i.Title), taken)
}

// onItem is atWork for commands about one item.
func (t terminal) onItem(do func(ctx context.Context, c *call, d desk, src work.Source, id string) error) cli.ActionFunc {
	return func(cc *cli.Context) error {
		if n := cc.Args().Len(); n != 1 {
			return wrong(path(cc), "%s: want one id such as github-42, got %d arguments", path(cc), n)
		}
		id := cc.Args().First()
		return t.atWork(func(ctx context.Context, c *call, d desk) error {
			if d.github != nil {
				if _, err := work.ParseID(d.Type, id); err != nil {
					return wrong(path(cc), "%s", err)
				}
			}
			src, err := d.source(ctx)
			if err != nil {
				return err
			}
			return do(ctx, c, d, src, id)
		})(cc)
	}
}

func workShow(t terminal) *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show one item, whatever its state", ArgsUsage: "ID",
		Description: "   label-state work show github-42",
		Flags:       common(append(sourceFlags(), &cli.BoolFlag{Name: "prompt", Usage: "print a prompt about it"})...),
		Action: t.onItem(func(ctx context.Context, c *call, _ desk, src work.Source, id string) error {
			i, err := src.Get(ctx, id)
			if err != nil {
				return err
			}
			text := describeItem(i)
			if c.Bool("prompt") {
				text = work.Prompt("", i)
			}
			return c.answer(i, text)
		}),
	}
}

func workClaim(t terminal) *cli.Command {
	return &cli.Command{
		Name: "claim", Usage: "claim one item of the queue", ArgsUsage: "ID",
		Description: "   label-state work claim github-42 --codename lucius",
		Flags:       writing(append(sourceFlags(), &cli.DurationFlag{Name: "ttl", Usage: "length of the lease (default: claim.ttl)"})...),
		Action: t.onItem(func(ctx context.Context, c *call, d desk, src work.Source, id string) error {
			if err := c.asWorker(); err != nil {
				return err
			}
			if c.Bool("dry-run") {
				return c.wouldTake(ctx, d, src, id)
			}
			got, err := src.Claim(ctx, id)
			if err != nil {
				return err
			}
			return c.present(got, "won", "")
		}),
	}
}

func workComplete(t terminal) *cli.Command {
	return &cli.Command{
		Name: "complete", Usage: "say what came of an item: success closes it", ArgsUsage: "ID",
		Description: "Posts one comment with the summary, the details and the artifacts, fenced. Success closes the issue as completed; " +
			"after failure or partial it goes back to the queue, or to a person when that happened too often. Asked again it does nothing twice.\n\n" +
			"   label-state work complete github-42 --outcome success --summary 'retries three times'",
		Flags: writing(append(sourceFlags(tokenFlag()),
			&cli.StringFlag{Name: "outcome", Usage: "`OUTCOME`: success, failure or partial"},
			&cli.StringFlag{Name: "summary", Usage: "what was done, in a few words"},
			&cli.StringFlag{Name: "details", Usage: "the whole story"},
			&cli.StringSliceFlag{Name: "artifact", Usage: "`URL` or path of a result; may be repeated"},
		)...),
		Action: t.onItem(func(ctx context.Context, c *call, d desk, src work.Source, id string) error {
			if c.Bool("dry-run") {
				return c.wouldEnd(ctx, d, src, id)
			}
			r := work.Result{
				Outcome: work.Outcome(c.String("outcome")), Summary: c.String("summary"), Details: c.String("details"), Artifacts: c.StringSlice("artifact"),
			}
			if err := d.Report(ctx, d.Settings, id, r); err != nil {
				return err
			}
			c.forgetItem(d, id)
			return c.answer(workDone{ID: id, Answer: "completed", Outcome: c.String("outcome")}, fmt.Sprintf("completed %s: %s\n", id, r.Outcome))
		}),
	}
}

func workRelease(t terminal) *cli.Command {
	return &cli.Command{
		Name: "release", Usage: "give an item back undone", ArgsUsage: "ID",
		Description: "   label-state work release github-42 --reason 'needs a decision' --comment",
		Flags: writing(append(sourceFlags(tokenFlag()),
			&cli.StringFlag{Name: "reason", Usage: "why, for people"},
			&cli.BoolFlag{Name: "comment", Usage: "say so in a comment of its own"},
		)...),
		Action: t.onItem(func(ctx context.Context, c *call, d desk, src work.Source, id string) error {
			if c.Bool("dry-run") {
				return c.wouldEnd(ctx, d, src, id)
			}
			if err := d.Release(ctx, d.Settings, id, work.ReleaseOptions{Reason: c.String("reason"), Comment: c.Bool("comment")}); err != nil {
				return err
			}
			c.forgetItem(d, id)
			return c.answer(workDone{ID: id, Answer: "released"}, fmt.Sprintf("released %s\n", id))
		}),
	}
}

// wouldTake is the dry run of work claim.
func (c *call) wouldTake(ctx context.Context, d desk, src work.Source, id string) error {
	i, err := src.Get(ctx, id)
	if err != nil {
		return err
	}
	if d.github == nil {
		return c.answer(itemView{Answer: "dry-run", Item: i}, "would claim "+describeItem(i))
	}
	n, err := work.ParseID(d.Type, id)
	if err != nil {
		return err
	}
	return c.wouldClaim(ctx, issueOf(c.Repo, n), c.worker())
}

// wouldEnd is the dry run of work complete and work release.
func (c *call) wouldEnd(ctx context.Context, d desk, src work.Source, id string) error {
	if _, err := src.Get(ctx, id); err != nil {
		return err
	}
	if n, err := work.ParseID(d.Type, id); err == nil && d.github != nil {
		i := issueOf(c.Repo, n)
		w, token, err := c.holder(i)
		if err == nil {
			err = c.holds(ctx, i, w, token)
		}
		if err != nil {
			return err
		}
	}
	return c.answer(workDone{ID: id, Answer: "dry-run"}, fmt.Sprintf("would end %s\n", id))
}

// A workDone is the JSON of an item that was ended.
type workDone struct {
	ID      string `json:"id"`
	Answer  string `json:"answer"`
	Outcome string `json:"outcome,omitempty"`
}

// forgetItem removes this work tree's record of the hold.
func (c *call) forgetItem(d desk, id string) {
	if n, err := work.ParseID(d.Type, id); err == nil && d.github != nil {
		c.forget(issueOf(c.Repo, n))
	}
}

func issueOf(r ledger.Repo, n int64) claim.Issue {
	return claim.Issue{Owner: r.Owner, Repo: r.Name, Number: int(n)}
}
