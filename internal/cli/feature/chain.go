package feature

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/state"
	urfave "github.com/urfave/cli/v2"
)

// NewChainCommand makes the command chain.
func NewChainCommand(t cli.Terminal) *urfave.Command {
	const prs = "--pr acme/lib:retry --pr 'acme/app:retry:main=Retry the upload'"
	return &urfave.Command{
		Name: "chain", Usage: "one feature as pull requests in several repositories",
		Subcommands: []*urfave.Command{
			{
				Name:  "plan",
				Usage: "print the pull requests of a feature, in order, and do nothing",
				Description: "With --json the plan is a file that --file takes back.\n\n" +
					"   label-state chain plan --feature retry --parent acme/app#7 " + prs,
				Flags: append(planFlags(), &urfave.BoolFlag{
					Name:  "json",
					Usage: "answer with JSON, one object a line",
				}),
				Action: func(cc *urfave.Context) error { return runChainPlan(t, cc) },
			},
			{
				Name:  "execute",
				Usage: "open the pull requests that are not open yet, and keep them pointing at each other",
				Description: "Can be repeated after any interruption: what is open is found, not opened twice. " +
					"Of every body only the chain's own lines are changed. Without --parent, --pr and --file it goes on with what was begun.\n\n" +
					"   label-state chain execute --feature retry --parent acme/app#7 " + prs + "\n" +
					"   label-state chain execute --feature retry",
				Flags:  cli.AnswerFlags(append(planFlags(), cli.DryRunFlag())...),
				Action: onChain(t, executeChain),
			},
			{
				Name:        "status",
				Usage:       "show every pull request of a chain with what its checks say",
				Description: "   label-state chain status --feature retry --json",
				Flags:       cli.AnswerFlags(featureFlag()),
				Action:      onChain(t, chainStatus),
			},
			{
				Name:  "wait",
				Usage: "wait until the checks of a chain are green (exit 0) or red (exit 1)",
				Description: "Green is only what says so: success, neutral or skipped, check runs and commit statuses alike, and at least one for each " +
					"pull request. When --timeout is over, the answer is not known (exit 3).\n\n" +
					"   label-state chain wait --feature retry --timeout 30m",
				Flags: cli.AnswerFlags(featureFlag(),
					&urfave.DurationFlag{Name: "interval", Value: 15 * time.Second, Usage: "time between two looks"}),
				Action: onChain(t, waitForChain),
			},
		},
	}
}

func featureFlag() urfave.Flag {
	return &urfave.StringFlag{Name: "feature", Usage: "what the chain is called: `FEATURE`, of a-z, 0-9 and -"}
}

// A chainCall is a command about a chain, once it is known which.
type chainCall struct {
	call *cli.Call
	prchain.Plan
	given bool // the plan came with the command line
	book  prchain.Book
}

// onChain is session for commands about a chain; its repository is the parent's.
func onChain(t cli.Terminal, do func(ctx context.Context, c chainCall) error) urfave.ActionFunc {
	return func(cc *urfave.Context) error {
		c := chainCall{call: &cli.Call{Flags: cc, Terminal: t}}
		if err := noArguments(cc); err != nil {
			return err
		}
		if err := c.which(); err != nil {
			c.call.Subject.Feature = cli.OneLine(cc.String("feature"))
			return c.call.Fail(cc.Context, advise(err, c.call.Subject.Feature))
		}

		o := cli.SetupOptions(cc)
		o.Repo = c.Parent.Slug()
		return t.WithSession(cc, o, func(ctx context.Context, opened *cli.Call) error {
			c.call = opened
			c.call.Subject = answer.Answer{Feature: c.Feature}
			return advise(do(ctx, c), c.Feature)
		})
	}
}

// advise adds to an error about the journal of chains what to do about it: a chain that is begun
// twice has two pull requests for a part.
func advise(err error, feature string) error {
	if lost, is := errors.AsType[*state.UnreadableJournalError](err); is {
		return cli.Advise(err, answer.Advice("do not start over, its pull requests would not be known"),
			answer.Advice("restore the file, or move it away once they are closed: "+lost.File))
	}
	if _, is := errors.AsType[*state.BusyError](err); is {
		return cli.Advise(err, answer.Call("wait for the other one, then", "chain execute", "--feature", feature))
	}

	return err
}

func noArguments(cc *urfave.Context) error {
	if cc.Args().Len() == 0 {
		return nil
	}
	return cli.Usagef(cli.CommandPath(cc), "%s: unexpected argument %q; pull requests are given with --pr",
		cli.CommandPath(cc), cli.OneLine(cc.Args().First()))
}

// which finds the plan: the flags', else the one that was begun.
func (c *chainCall) which() (err error) {
	dir, err := c.call.Terminal.Env.StateDir()
	if err != nil {
		return err
	}

	c.book = state.OpenJournal[prchain.State](filepath.Join(dir, "pr-chains"))
	if c.call.Flags.Generic("pr") != nil {
		c.Plan, c.given, err = planFromFlags(c.call)
	} else {
		c.Feature = c.call.Flags.String("feature")
	}

	if err != nil || c.given {
		return err
	}
	s, err := c.state()
	c.Plan = s.Plan

	return err
}

func (c chainCall) executor() prchain.Executor {
	return prchain.Executor{
		Forge: c.call.Session.Client, Book: c.book,
		Label: c.call.Session.Ledger.Rules().Scheme.Authored,
	}
}

func executeChain(ctx context.Context, c chainCall) error {
	if c.call.Flags.Bool("dry-run") {
		r, err := c.executor().Preview(ctx, c.Plan)
		if err != nil {
			return err
		}
		return c.call.Answer(viewChain(r, "dry-run"), chainText(r, "would be opened"))
	}

	var r prchain.Result
	var err error
	if c.given {
		r, err = c.executor().Begin(ctx, c.Plan)
	} else {
		r, err = c.executor().Resume(ctx, c.Feature)
	}

	if refused, is := errors.AsType[*github.StatusError](err); is && refused.Rejected() {
		return cli.Advise(err, answer.Call("is the branch pushed, with commits that its base lacks? Then",
			"chain execute", "--feature", c.Feature))
	}
	if err != nil {
		return err
	}
	if r.Settled() {
		return c.call.Answer(viewChain(r, "done"), chainText(r, "opened"))
	}
	if err := c.call.Answer(viewChain(r, "incomplete"), chainText(r, "opened")); err != nil {
		return err
	}

	var open []string // what a person has to look at
	for _, o := range r.Parts {
		switch {
		case o.Err != nil:
			open = append(open, fmt.Sprintf("the body of %s was left alone: %s", o.Pull.ID, o.Err))
		case o.Pull.State == prchain.Closed:
			open = append(open, o.Pull.ID.String()+" was closed without a merge")
		}
	}

	return cli.Declined(strings.Join(open, "; "),
		answer.Call("see to them, then", "chain execute", "--feature", c.Feature))
}

// state is how far the chain is. One that was never begun here is prchain.ErrNoChain.
func (c chainCall) state() (prchain.State, error) { return prchain.Load(c.book, c.Feature) }

func chainStatus(ctx context.Context, c chainCall) error {
	s, err := c.state()
	if err != nil {
		return err
	}

	r, err := prchain.Look(ctx, c.call.Session.Client, s)
	if err != nil {
		return err
	}

	return c.call.Answer(viewReport(r), reportText(r))
}

func waitForChain(ctx context.Context, c chainCall) error {
	every := c.call.Flags.Duration("interval")
	r, err := prchain.Wait(ctx, c.call.Session.Client, c.state, every)
	if r.Parts != nil {
		if told := c.call.Answer(viewReport(r), reportText(r)); told != nil {
			return told
		}
	}

	if err == nil && r.Colour() == prchain.Red {
		err = cli.Declined("the checks of "+c.Feature+" are red",
			answer.Call("see which", "chain status", "--feature", c.Feature))
	}

	return err
}
