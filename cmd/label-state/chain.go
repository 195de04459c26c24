package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/journal"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/urfave/cli/v2"
)

func chainCommand(t terminal) *cli.Command {
	const prs = "--pr acme/lib:retry --pr 'acme/app:retry:main=Retry the upload'"
	return &cli.Command{
		Name: "chain", Usage: "one feature as pull requests in several repositories",
		Subcommands: []*cli.Command{
			{
				Name: "plan", Usage: "print the pull requests of a feature, in order, and do nothing",
				Description: "With --json the plan is a file that --file takes back.\n\n" +
					"   label-state chain plan --feature retry --parent acme/app#7 " + prs,
				Flags:  append(planFlags(), &cli.BoolFlag{Name: "json", Usage: "answer with JSON, one object a line"}),
				Action: t.planChain,
			},
			{
				Name: "execute", Usage: "open the pull requests that are not open yet, and keep them pointing at each other",
				Description: "Can be repeated after any interruption: what is open is found, not opened twice. " +
					"Of every body only the chain's own lines are changed. Without --parent, --pr and --file it goes on with what was begun.\n\n" +
					"   label-state chain execute --feature retry --parent acme/app#7 " + prs + "\n" +
					"   label-state chain execute --feature retry",
				Flags:  answering(append(planFlags(), dryRun())...),
				Action: t.onChain(executeChain),
			},
			{
				Name: "status", Usage: "show every pull request of a chain with what its checks say",
				Description: "   label-state chain status --feature retry --json",
				Flags:       answering(featureFlag()),
				Action:      t.onChain(chainStatus),
			},
			{
				Name: "wait", Usage: "wait until the checks of a chain are green (exit 0) or red (exit 1)",
				Description: "Green is only what says so: success, neutral or skipped, check runs and commit statuses alike, and at least one for each " +
					"pull request. When --timeout is over, the answer is not known (exit 3).\n\n" +
					"   label-state chain wait --feature retry --timeout 30m",
				Flags: answering(featureFlag(),
					&cli.DurationFlag{Name: "interval", Value: 15 * time.Second, Usage: "time between two looks"}),
				Action: t.onChain(waitForChain),
			},
		},
	}
}

func featureFlag() cli.Flag {
	return &cli.StringFlag{Name: "feature", Usage: "what the chain is called: `FEATURE`, of a-z, 0-9 and -"}
}

// A chainCall is a command about a chain, once it is known which.
type chainCall struct {
	*call
	prchain.Plan
	given bool // the plan came with the command line
	book  prchain.Book
}

// onChain is session for commands about a chain; its repository is the parent's.
func (t terminal) onChain(do func(ctx context.Context, c chainCall) error) cli.ActionFunc {
	return func(cc *cli.Context) error {
		c := chainCall{call: &call{Context: cc, terminal: t}}
		if err := noArguments(cc); err != nil {
			return err
		}
		if err := c.which(); err != nil {
			c.subject.Feature = oneLine(cc.String("feature"))
			return c.failed(cc.Context, err)
		}
		o := options(cc)
		o.Repo = c.Parent.Slug()
		return t.session(cc, o, func(ctx context.Context, opened *call) error {
			c.call = opened
			c.subject = reply{Feature: c.Feature}
			return do(ctx, c)
		})
	}
}

func noArguments(cc *cli.Context) error {
	if cc.Args().Len() == 0 {
		return nil
	}
	return wrong(path(cc), "%s: unexpected argument %q; pull requests are given with --pr", path(cc), oneLine(cc.Args().First()))
}

// which finds the plan: the flags', else the one that was begun.
func (c *chainCall) which() (err error) {
	dir, err := c.env.StateDir()
	if err != nil {
		return err
	}
	c.book = journal.In[prchain.State](filepath.Join(dir, "pr-chains"))
	if c.Generic("pr") != nil {
		c.Plan, c.given, err = c.plan()
	} else {
		c.Feature = c.String("feature")
	}
	if err != nil || c.given {
		return err
	}
	s, err := c.state()
	c.Plan = s.Plan
	return err
}

func (c chainCall) executor() prchain.Executor {
	return prchain.Executor{Forge: c.Client, Book: c.book, Label: c.Ledger.Rules().Scheme.Authored}
}

func executeChain(ctx context.Context, c chainCall) error {
	if c.Bool("dry-run") {
		r, err := c.executor().Preview(ctx, c.Plan)
		if err != nil {
			return err
		}
		return c.answer(viewChain(r, "dry-run"), chainText(r, "would be opened"))
	}
	r, err := c.execute(ctx)
	if err != nil {
		return err
	}
	if r.Settled() {
		return c.answer(viewChain(r, "done"), chainText(r, "opened"))
	}
	if err := c.answer(viewChain(r, "incomplete"), chainText(r, "opened")); err != nil {
		return err
	}
	return &failure{err: &answerNo{strings.Join(openEnds(r), "; ")}, hint: "see to them, then: label-state chain execute --feature " + c.Feature}
}

func (c chainCall) execute(ctx context.Context) (r prchain.Result, err error) {
	if c.given {
		r, err = c.executor().Begin(ctx, c.Plan)
	} else {
		r, err = c.executor().Resume(ctx, c.Feature)
	}
	if refused, is := errors.AsType[*github.StatusError](err); is && refused.Rejected() {
		err = &failure{err: err, hint: "is the branch pushed, with commits that its base lacks? Then: label-state chain execute --feature " + c.Feature}
	}
	return r, err
}

// openEnds says what a person has to look at.
func openEnds(r prchain.Result) []string {
	var out []string
	for _, o := range r.Parts {
		switch {
		case o.Err != nil:
			out = append(out, fmt.Sprintf("the body of %s was left alone: %s", o.Pull.ID, o.Err))
		case o.Pull.State == prchain.Closed:
			out = append(out, o.Pull.ID.String()+" was closed without a merge")
		}
	}
	return out
}

// state is how far the chain is. One that was never begun here is a *prchain.NoChainError.
func (c chainCall) state() (prchain.State, error) { return prchain.Load(c.book, c.Feature) }

func chainStatus(ctx context.Context, c chainCall) error {
	s, err := c.state()
	if err != nil {
		return err
	}
	r, err := prchain.Look(ctx, c.Client, s)
	if err != nil {
		return err
	}
	return c.answer(viewReport(r), reportText(r))
}

func waitForChain(ctx context.Context, c chainCall) error {
	every := c.Duration("interval")
	if every <= 0 {
		return wrong("chain wait", "--interval %s: want more than nothing, such as 15s", every)
	}
	r, err := prchain.Wait(ctx, c.Client, c.state, every)
	if r.Parts != nil {
		if told := c.answer(viewReport(r), reportText(r)); told != nil {
			return told
		}
	}
	if err == nil && r.Colour() == prchain.Red {
		err = &failure{err: &answerNo{"the checks of " + c.Feature + " are red"}, hint: "see which: label-state chain status --feature " + c.Feature}
	}
	return err
}

// chainAnswers are for what went wrong with a chain.
func chainAnswers() []answer {
	return []answer{
		on(exitCalled, says[*prchain.PlanError]("label-state chain plan --help")),
		on(exitCalled, func(e *prchain.MismatchError, _ failure) string {
			return "go on with that one: label-state chain execute --feature " + e.Feature
		}),
		on(exitCalled, func(e *prchain.NoChainError, _ failure) string {
			return "begin it: label-state chain execute --feature " + e.Feature + " --parent owner/repo#7 --pr owner/repo:branch"
		}),
		on(exitUnknown, func(e *journal.UnreadableError, at failure) string {
			if !at.ofChain() {
				return ""
			}
			return "do not begin anew, its pull requests would not be known; restore the file, or move it away once they are closed: " + e.File
		}),
		on(exitNo, func(e *journal.BusyError, at failure) string {
			if !at.ofChain() {
				return ""
			}
			return "wait for the other one, then: label-state chain execute --feature " + e.Name
		}),
	}
}

func (f failure) ofChain() bool { return strings.HasPrefix(f.doing, "chain ") }
