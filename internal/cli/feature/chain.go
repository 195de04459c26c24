package feature

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/prchain"
	"github.com/label-state/label-state/internal/state"
)

// FeatureName is which chain a verb is about.
type FeatureName struct {
	Feature string `flag:"feature" value:"FEATURE" text:"what the chain is called, of a-z, 0-9 and -"`
}

// PlanParams are a chain's plan.
type PlanParams struct {
	FeatureName
	Parent string   `flag:"parent" value:"ISSUE" text:"issue that the feature is for, as owner/repo#7"`
	PRs    []string `flag:"pr" value:"PULL" text:"one pull request, as OWNER/REPO:BRANCH[:BASE][=TITLE]; repeated, in order"`
	Closes string   `flag:"closes" value:"PART" text:"which part closes the parent: last, none, or its number (default: last)" only:"last,none,..."`
	File   string   `flag:"file" value:"FILE" text:"take the whole plan from FILE, - for standard input"`
}

// plan is what the parameters say of a chain.
func (f FeatureName) plan() PlanParams { return PlanParams{FeatureName: f} }
func (p PlanParams) plan() PlanParams  { return p }

type chainPlanParams struct {
	PlanParams
	cli.Answering
}

type chainExecuteParams struct {
	PlanParams
	DryRun bool `flag:"dry-run" text:"show what would be opened, and open nothing" show:"common"`
	cli.Common
}

type chainStatusParams struct {
	FeatureName
	cli.Common
}

type chainWaitParams struct {
	FeatureName
	Interval time.Duration `flag:"interval" text:"time between two looks (default: 15s)"`
	cli.Common
}

// Chain are the verbs about one feature's pull requests.
func Chain() []cli.Verb {
	const prs = "\\\n   --pr acme/lib:retry --pr 'acme/app:retry:main=Retry the upload'\n"
	untrusted := "parts.branch parts.why parts.error"
	return []cli.Verb{
		{Name: "chain", Summary: "one feature as pull requests in several repositories"},
		cli.Do(cli.Verb{
			Name:     "chain plan",
			Summary:  "print the pull requests of a feature, in order, and do nothing",
			About:    "With --json it prints a plan that --file reads.",
			Examples: "label-state chain plan --feature retry --parent acme/app#7 " + prs,
		}, planChain),
		cli.Do(cli.Verb{
			Name:    "chain execute",
			Summary: "open the pull requests that are not open yet, and keep them pointing at each other",
			About: "Can be repeated after any interruption: what is open is found, not opened twice. " +
				"In each description only the chain's own lines are changed. Without --parent, --pr and --file " +
				"it continues what was begun.",
			Examples: "label-state chain execute --feature retry --parent acme/app#7 " + prs +
				"label-state chain execute --feature retry\n",
			Tools: []cli.Tool{{
				Name:    "chain_execute",
				Title:   "Open a feature's pull requests",
				Set:     cli.Chain,
				Takes:   "feature parent pr closes dry-run",
				Needs:   "feature",
				Repeats: true,
				About: "Opens the pull requests of one feature in several repositories, in order, each pointing at the others; one of them closes the parent issue. " +
					"Push the branches first. What is open is found, not opened twice: after an interruption call it again with feature alone.",
				Untrusted: untrusted,
			}},
		}, onChain(executeChain)),
		cli.Do(cli.Verb{
			Name:     "chain status",
			Summary:  "show every pull request of a chain and the state of its checks",
			Examples: "label-state chain status --feature retry --json\n",
			Tools: []cli.Tool{{
				Name:      "chain_status",
				Title:     "A feature's pull requests",
				Set:       cli.Chain,
				Takes:     "feature",
				Needs:     "feature",
				Reads:     true,
				About:     "Shows every pull request of a chain that was begun on this machine, and the state of its checks.",
				Untrusted: untrusted,
			}},
		}, onChain(chainStatus)),
		cli.Do(cli.Verb{
			Name:    "chain wait",
			Summary: "wait until the checks of a chain are green (exit 0) or red (exit 1)",
			About: "Green means success, neutral or skipped, for check runs and commit statuses alike, and at " +
				"least one for each pull request. When --timeout is over, the answer is not known (exit 3).",
			Examples: "label-state chain wait --feature retry --timeout 30m\n",
			Tools: []cli.Tool{{
				Name:      "chain_wait",
				Title:     "Wait for a feature's checks",
				Set:       cli.Chain,
				Takes:     "feature timeout",
				Needs:     "feature",
				Wait:      "timeout",
				Reads:     true,
				Asks:      true,
				About:     "Waits until the checks of all pull requests of a chain are green (yes) or one is red (no). Answer waiting: not all have ended yet; call it again.",
				Untrusted: untrusted,
			}},
		}, onChain(waitForChain)),
	}
}

// A chainCall is a command about a chain, once it is known which.
type chainCall struct {
	*cli.Call
	prchain.Plan
	given bool // the plan came with the command line
	book  prchain.Book
}

// onChain opens the session of a verb about the chain that its parameters name; its repository is
// the parent's.
func onChain[P interface{ plan() PlanParams }](do func(ctx context.Context, c chainCall, p *P) error) cli.Action[P] {
	return func(ctx context.Context, call *cli.Call, p *P) error {
		c, asked := chainCall{Call: call}, (*p).plan()
		call.Subject = answer.Answer{Feature: cli.OneLine(asked.Feature)}
		call.Stands = answer.Call("see what is missing", "chain status", "--feature", call.Subject.Feature)
		if err := c.which(ctx, asked); err != nil {
			return advise(err, call.Subject.Feature)
		}

		o := call.Options()
		o.Repo = c.Parent.Slug()
		if err := call.Open(ctx, o); err != nil {
			return err
		}

		call.Subject = answer.Answer{Feature: c.Feature}
		call.Stands = answer.Call("see what is missing", "chain status", "--feature", c.Feature)
		return advise(do(ctx, c, p), c.Feature)
	}
}

// advise adds to an error about the journal of chains what to do about it: a chain that is begun
// twice has two pull requests for a part.
func advise(err error, feature string) error {
	if lost, is := errors.AsType[*state.UnreadableJournalError](err); is {
		return cli.Advise(err, answer.Advice("do not start over: its pull requests would be unknown"),
			answer.Advice("restore the file, or move it away once they are closed: "+lost.File))
	}
	if _, is := errors.AsType[*state.BusyError](err); is {
		return cli.Advise(err, answer.Call("wait for the other one, then", "chain execute", "--feature", feature))
	}

	return err
}

// which finds the plan: the one that was given, else the one that was begun.
func (c *chainCall) which(ctx context.Context, asked PlanParams) (err error) {
	dir, err := c.Env.StateDir()
	if err != nil {
		return err
	}

	c.book = state.OpenJournal[prchain.State](filepath.Join(dir, "pr-chains"))
	c.Plan, c.given, err = readPlan(ctx, c.Call, asked)
	if err != nil || c.given {
		return err
	}
	s, err := c.state()
	c.Plan = s.Plan

	return err
}

func (c chainCall) executor() prchain.Executor {
	return prchain.Executor{
		Forge: guarded{c.Session.Client, c.mayClose},
		Book:  c.book,
		Label: c.Rules().Scheme.Authored,
	}
}

// guarded is a forge that asks also who holds the parent.
type guarded struct {
	prchain.Forge
	mayClose func(context.Context) error
}

func (g guarded) CheckParent(ctx context.Context, i claim.Issue) error {
	if err := g.Forge.CheckParent(ctx, i); err != nil {
		return err
	}
	return g.mayClose(ctx)
}

// mayClose refuses a chain that closes an issue which somebody else holds, as the hook refuses the
// push, before a pull request is opened for it. Who asks is known by a run that is named, a hold
// that is recorded here or a session; nothing speaks against anybody else of the same login. Where
// it cannot be found out who holds the issue, the Action looks again.
func (c chainCall) mayClose(ctx context.Context) error {
	if c.Plan.Closes == 0 {
		return nil
	}

	f, err := c.Session.Ledger.Look(ctx, c.Parent)
	if err != nil {
		c.Warnf("who holds %s could not be found out: %s", c.Parent, cli.OneLine(err.Error()))
		return nil
	}

	who := c.Asking(ctx, c.Parent)
	v := c.Rules().Verdict(f, who)
	if v.Answer == lifecycle.Unknown {
		c.Warnf("who holds %s could not be found out: %s", c.Parent, cli.OneLine(v.Why()))
		return nil
	}

	nobody := who.Worker.IsZero() && !c.Env.InSession()
	v.Reasons = slices.DeleteFunc(c.Others(ctx, c.Parent, v, f.Viewer), func(r lifecycle.Reason) bool {
		return r.Code != lifecycle.CodeInFlight || nobody && r.Claim.WrittenBy(f.Viewer)
	})
	if len(v.Reasons) == 0 {
		return nil
	}

	return fmt.Errorf("parent %s: %w", c.Parent, &ledger.HeldError{Issue: c.Parent, Verdict: v})
}

func executeChain(ctx context.Context, c chainCall, p *chainExecuteParams) error {
	if p.DryRun {
		r, err := c.executor().Preview(ctx, c.Plan)
		if err != nil {
			return err
		}
		return answerChain(c, r, "dry-run", "would be opened", nil)
	}

	var r prchain.Result
	var err error
	if c.given {
		r, err = c.executor().Begin(ctx, c.Plan)
	} else {
		r, err = c.executor().Resume(ctx, c.Feature)
	}

	if refused, is := errors.AsType[*github.StatusError](err); is && refused.Rejected() {
		return cli.Advise(err, answer.Call("correct what GitHub refuses, then",
			"chain execute", "--feature", c.Feature))
	}
	if err != nil {
		return err
	}
	if r.Settled() {
		return answerChain(c, r, "done", "opened", nil)
	}

	var open []string // what a person has to look at
	closed := false
	for _, o := range r.Parts {
		switch {
		case o.Err != nil:
			open = append(open, fmt.Sprintf("the body of %s was left alone: %s", o.Pull.ID, o.Err))
		case o.Pull.State == prchain.Closed:
			open = append(open, o.Pull.ID.String()+" was closed without a merge")
			closed = true
		}
	}

	next := []answer.Command{answer.Call("see to them, then", "chain execute", "--feature", c.Feature)}
	if closed {
		file := c.book.File(c.Feature)
		next = append(next, answer.Shell("to go on with the other parts alone", "mv", file, file+".old"),
			answer.Call("and then", "chain execute", "--feature", c.Feature, "--parent", c.Parent.String(), "--pr",
				"OWNER/NAME:BRANCH"))
	}

	return answerChain(c, r, "incomplete", "opened", cli.Declined(strings.Join(open, "; "), next...))
}

// state is how far the chain is. One that was never begun here is prchain.ErrNoChain.
func (c chainCall) state() (prchain.State, error) { return prchain.Load(c.book, c.Feature) }

func chainStatus(ctx context.Context, c chainCall, _ *chainStatusParams) error {
	s, err := c.state()
	if err != nil {
		return err
	}

	r, err := prchain.Look(ctx, c.Session.Client, s)
	if err != nil {
		return err
	}

	return answerReport(c, r, nil)
}

func waitForChain(ctx context.Context, c chainCall, p *chainWaitParams) error {
	defer c.Awaits(ctx, "the checks of "+c.Feature, time.Time{})()
	r, err := prchain.Wait(ctx, c.Session.Client, c.state, cmp.Or(p.Interval, 15*time.Second))
	if err == nil && r.Colour() == prchain.Red {
		err = cli.Declined("the checks of "+c.Feature+" are red",
			answer.Call("correct what the list says, then", "chain wait", "--feature", c.Feature))
	}

	if r.Parts == nil {
		return err
	}

	return answerReport(c, r, err)
}
