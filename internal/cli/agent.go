package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

// AgentFlag is for commands that an agent of a fleet works with.
func AgentFlag() cli.Flag {
	return &cli.StringFlag{
		Name:  "agent",
		Usage: "`NAME` of an agent of the configuration: its work source, and its codename",
	}
}

// An employment is an agent's work source and what it asks of a session.
type employment struct {
	options setup.Options
	source  config.WorkSource
	settled bool // by a file that the caller named
}

// WithAgent is WithSession for an agent of the configuration: with the repository, the token and
// the labels of its work source, which is in c.Source. The command line wins over the file.
func (t Terminal) WithAgent(cc *cli.Context, o setup.Options, do verb) error {
	e, err := t.employment(cc, o)
	if err != nil {
		return err
	}

	return t.WithSession(cc, e.options, func(ctx context.Context, c *Call) error {
		if err := c.employ(ctx, e); err != nil {
			return err
		}
		return do(ctx, c)
	})
}

// employment is the agent's as far as a file that the caller named says. What the repository says
// is on its default branch.
func (t Terminal) employment(cc *cli.Context, o setup.Options) (employment, error) {
	ctx, cancel := Deadline(cc)
	defer cancel()
	c := &Call{Flags: cc, Terminal: t, Session: &setup.Session{Worker: t.Env.Identity()}}

	own, err := t.Env.Own(o)
	e := employment{options: o}
	if err == nil && (own.Has("agents") || own.Has("defaults")) {
		e.settled, e.options.Chosen = true, true
		e.options, e.source, err = c.engage(own.Config, e.options)
	}

	return e, c.Fail(ctx, err)
}

// employ takes over the agent's work source. When the repository told of it, which is known only
// now, the session is opened again.
func (c *Call) employ(ctx context.Context, e employment) error {
	c.Source = e.source
	if e.settled {
		return nil
	}

	again, source, err := c.engage(c.Session.Config, e.options)
	if err != nil {
		return err
	}

	c.Source = source
	if again == e.options {
		return nil
	}

	return c.Open(ctx, again)
}

// engage finds the work source of whom the command line names, and what it asks of a session. What
// the command line names itself comes first.
func (c *Call) engage(conf config.Config, o setup.Options) (setup.Options, config.WorkSource, error) {
	named := c.Flags.String("agent")
	source, known := conf.Source(cmp.Or(named, c.Claimant().Codename))
	if named != "" && !known {
		names := cmp.Or(strings.Join(slices.Sorted(maps.Keys(conf.Agents)), ", "), "none")
		return o, source, Usagef(CommandPath(c.Flags), "--agent %q: the configuration has %s", OneLine(named), names)
	}

	if o.Repo == "" || !c.Flags.IsSet("repo") {
		o.Repo = cmp.Or(source.Repo, o.Repo)
	}
	o.TokenEnv = source.TokenEnv
	o.Queue = setup.Queue{Ready: source.Ready, InProgress: source.InProgress}

	return o, source, nil
}

// OnAgentsIssue is OnIssue, with --agent as that agent of the configuration.
func (t Terminal) OnAgentsIssue(do func(ctx context.Context, c *Call, i claim.Issue) error) cli.ActionFunc {
	return func(cc *cli.Context) error {
		if cc.String("agent") == "" {
			return t.OnIssue(do)(cc)
		}
		o, err := onOneIssue(cc)
		if err != nil {
			return err
		}

		return t.WithAgent(cc, o, func(ctx context.Context, c *Call) error { return do(ctx, c, c.Session.Issue) })
	}
}

// GiveFailedToPerson puts the label for "a person must look" on an issue whose hold ended as a
// failed attempt, if the configuration wants that for the worker (cleanup_on_failure: false).
func (c *Call) GiveFailedToPerson(ctx context.Context, i claim.Issue, w claim.Worker, outcome string) error {
	source, _ := c.Session.Config.Source(w.Codename)
	if !source.KeepFailed || !claim.CountsAgainst(outcome) {
		return nil
	}
	return c.Session.Client.AddLabel(ctx, i, c.Session.Ledger.Rules().Scheme.NeedsScope)
}
