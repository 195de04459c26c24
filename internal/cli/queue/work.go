package queue

import (
	"context"
	"fmt"
	"strconv"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/setup"
	"github.com/label-state/label-state/internal/work"
	urfave "github.com/urfave/cli/v2"
)

// NewWorkCommand makes the command work.
func NewWorkCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "work", Usage: "the queue, by ids such as github-42: list, show, claim, complete, release",
		Subcommands: []*urfave.Command{workList(t), workShow(t), workClaim(t), workComplete(t), workRelease(t)},
	}
}

func workList(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "list", Usage: "list the free issues of the queue, first to claim first",
		Description: "   label-state work list --limit 5 --json\n" +
			"   label-state work list --label area:io --include-claimed",
		Flags: cli.RepoFlags(append(sourceFlags(filterFlags()...),
			&urfave.StringFlag{Name: "limit", Usage: "at most `N` items (default: all)"},
			&urfave.StringFlag{Name: "cursor", Usage: "go on behind the page that gave out `CURSOR`"},
			&urfave.BoolFlag{Name: "include-claimed", Usage: "also what somebody works on"},
		)...),
		Action: atWork(t, "", setup.First{Ready: true}, listWork),
	}
}

func listWork(ctx context.Context, c *cli.Call, d desk) error {
	o, err := readFilter(c)
	if err != nil {
		return err
	}
	if text := c.Flags.String("limit"); text != "" {
		if o.Limit, err = strconv.Atoi(text); err != nil || o.Limit < 1 {
			return cli.Usagef("work list", "--limit %q: want a positive number", cli.OneLine(text))
		}
	}
	o.Cursor, o.IncludeClaimed = c.Flags.String("cursor"), c.Flags.Bool("include-claimed")
	src, err := d.Source(ctx, d.Settings)
	if err != nil {
		return err
	}
	page, err := src.Fetch(ctx, o)
	if err != nil {
		return err
	}
	if able, is := src.(work.Explainer); is && len(page.Items) == 0 && o.Cursor == "" && !o.IncludeClaimed && !c.Flags.Bool("json") {
		none := able.NoWork()
		why := &cli.Failure{Doing: cli.CommandPath(c.Flags), Object: c.Session.Repo.String(), Err: withFirstStep(ctx, c, d, none)}
		fmt.Fprintf(c.Terminal.Err, "label-state: %s\nhint: %s\n", cli.OneLine(none.Error()), cli.OneLine(c.Terminal.HintFor(why)))
	}
	for _, i := range page.Items {
		taken := ""
		if i.Claimed {
			taken = "  (claimed)"
		}
		if err := c.Answer(i, fmt.Sprintf("%-12s  %-8s  %s%s\n", i.ID, i.Priority, cli.OneLine(i.Title), taken)); err != nil {
			return err
		}
	}
	if page.Next != "" {
		fmt.Fprintf(c.Terminal.Err, "label-state: there is more: --cursor %s\n", page.Next)
	}
	return nil
}

// An item is what a command is about, and the source that has it.
type item struct {
	desk
	source work.Source
	id     string
}

// onItem is atWork for commands about one item: of the queue an issue in any form that names one
// (cli.md#naming-an-issue), of a folder an id.
func onItem(t cli.Terminal, do func(ctx context.Context, c *cli.Call, it item) error) urfave.ActionFunc {
	return func(cc *urfave.Context) error {
		if n := cc.Args().Len(); n != 1 {
			return cli.Usagef(cli.CommandPath(cc), "%s: want one id such as github-42, got %d arguments", cli.CommandPath(cc), n)
		}
		if cc.Args().First() == "" {
			return cli.Usagef(cli.CommandPath(cc), "%s: the id is empty", cli.CommandPath(cc))
		}
		return atWork(t, cc.Args().First(), setup.First{}, func(ctx context.Context, c *cli.Call, d desk) (err error) {
			it := item{desk: d, id: cc.Args().First()}
			if d.github != nil {
				it.id = work.ID(d.Type, int64(c.Session.Issue.Number))
			}
			if it.source, err = d.Source(ctx, d.Settings); err != nil {
				return err
			}
			return do(ctx, c, it)
		})(cc)
	}
}

func workShow(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "show", Usage: "show one item, whatever its state", ArgsUsage: "ID",
		Description: "   label-state work show github-42",
		Flags:       cli.RepoFlags(append(sourceFlags(), &urfave.BoolFlag{Name: "prompt", Usage: "print a prompt about it"})...),
		Action: onItem(t, func(ctx context.Context, c *cli.Call, it item) error {
			i, err := it.source.Get(ctx, it.id)
			if err != nil {
				return err
			}
			text := describeItem(i)
			if c.Flags.Bool("prompt") {
				text = work.Prompt("", i)
			}
			return c.Answer(i, text)
		}),
	}
}

func workClaim(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "claim", Usage: "claim one item of the queue", ArgsUsage: "ID",
		Description: "   label-state work claim github-42 --codename lucius",
		Flags:       cli.WriteFlags(append(sourceFlags(), &urfave.DurationFlag{Name: "ttl", Usage: "length of the lease (default: claim.ttl)"})...),
		Action: onItem(t, func(ctx context.Context, c *cli.Call, it item) error {
			if err := c.RequireWorker(); err != nil {
				return err
			}
			if c.Flags.Bool("dry-run") {
				i, err := it.source.Get(ctx, it.id)
				switch {
				case err != nil:
					return err
				case it.github == nil:
					return c.Answer(ItemView{Answer: "dry-run", Item: i}, "would claim "+describeItem(i))
				}
				return c.WouldClaim(ctx, c.Session.Issue, c.Claimant())
			}
			got, err := it.source.Claim(ctx, it.id)
			if err != nil {
				return err
			}
			return present(c, got, "won", "")
		}),
	}
}

func workComplete(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "complete", Usage: "say what came of an item: success closes it", ArgsUsage: "ID",
		Description: "Posts one comment with the summary, the details and the artifacts, fenced. Success closes the issue as completed; " +
			"after failure or partial it goes back to the queue, or to a person when that happened too often. Asked again it does nothing twice.\n\n" +
			"   label-state work complete github-42 --outcome success --summary 'retries three times'",
		Flags: cli.WriteFlags(append(sourceFlags(cli.TokenFlag()),
			&urfave.StringFlag{Name: "outcome", Usage: "`OUTCOME`: success, failure or partial"},
			&urfave.StringFlag{Name: "summary", Usage: "what was done, in a few words"},
			&urfave.StringFlag{Name: "details", Usage: "the same at length"},
			&urfave.StringSliceFlag{Name: "artifact", Usage: "`URL` or path of a result; may be repeated"},
		)...),
		Action: onItem(t, func(ctx context.Context, c *cli.Call, it item) error {
			if c.Flags.Bool("dry-run") {
				return wouldEnd(ctx, c, it)
			}
			r := work.Result{
				Outcome: work.Outcome(c.Flags.String("outcome")), Summary: c.Flags.String("summary"), Details: c.Flags.String("details"), Artifacts: c.Flags.StringSlice("artifact"),
			}
			if err := it.source.Complete(ctx, it.id, r); err != nil {
				return err
			}
			if it.github != nil {
				c.ForgetHold(c.Session.Issue)
			}
			return c.Answer(WorkDone{Issue: namedItem(c), ID: it.id, Answer: "completed", Outcome: c.Flags.String("outcome")}, fmt.Sprintf("completed %s: %s\n", it.id, r.Outcome))
		}),
	}
}

func workRelease(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "release", Usage: "release an item undone", ArgsUsage: "ID",
		Description: "   label-state work release github-42 --reason 'needs a decision' --comment",
		Flags: cli.WriteFlags(append(sourceFlags(cli.TokenFlag()),
			&urfave.StringFlag{Name: "reason", Usage: "why, for people"},
			&urfave.BoolFlag{Name: "comment", Usage: "say so in a comment of its own"},
		)...),
		Action: onItem(t, func(ctx context.Context, c *cli.Call, it item) error {
			if c.Flags.Bool("dry-run") {
				return wouldEnd(ctx, c, it)
			}
			if err := it.source.Release(ctx, it.id, work.ReleaseOptions{Reason: c.Flags.String("reason"), Comment: c.Flags.Bool("comment")}); err != nil {
				return err
			}
			if it.github != nil {
				c.ForgetHold(c.Session.Issue)
			}
			return c.Answer(WorkDone{Issue: namedItem(c), ID: it.id, Answer: "released"}, fmt.Sprintf("released %s\n", it.id))
		}),
	}
}

// wouldEnd is the dry run of work complete and work release.
func wouldEnd(ctx context.Context, c *cli.Call, it item) error {
	if _, err := it.source.Get(ctx, it.id); err != nil {
		return err
	}
	if it.github != nil {
		w, token, err := c.Holder(c.Session.Issue)
		if err == nil {
			err = c.CheckHolds(ctx, c.Session.Issue, w, token)
		}
		if err != nil {
			return err
		}
	}
	return c.Answer(WorkDone{Issue: namedItem(c), ID: it.id, Answer: "dry-run"}, fmt.Sprintf("would end %s\n", it.id))
}

// A WorkDone is the JSON of an item that was ended.
type WorkDone struct {
	Issue   string `json:"issue,omitempty"` // absent for an item of a folder
	ID      string `json:"id"`
	Answer  string `json:"answer"`
	Outcome string `json:"outcome,omitempty"`
}

// namedItem is the issue that the command is about, as owner/repo#7; empty for an item of a folder.
func namedItem(c *cli.Call) string {
	if c.Session.Issue.Number == 0 {
		return ""
	}
	return c.Session.Issue.String()
}
