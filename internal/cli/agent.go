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
)

// An employment is an agent's work source and what it asks of a session.
type employment struct {
	options setup.Options
	source  config.WorkSource
	settled bool // by a file that the caller named
}

// OpenForAgent is Open; with --agent, or where the worker is an agent of the configuration, with
// the repository, the token and the labels of its work source, which is in c.Source. The command
// line wins over the file.
func (c *Call) OpenForAgent(ctx context.Context, o setup.Options) error {
	e, err := c.employment(o)
	if err == nil {
		err = c.Open(ctx, e.options)
	}

	if err != nil {
		return err
	}

	return c.employ(ctx, e)
}

// employment is the agent's as far as a file that the caller named says. What the repository says
// is on its default branch.
func (c *Call) employment(o setup.Options) (employment, error) {
	own, err := c.Env.Own(o)
	e := employment{options: o}
	if err == nil && (own.Has("agents") || own.Has("defaults")) {
		e.settled, e.options.Chosen = true, true
		e.options, e.source, err = c.engage(own.Config, e.options)
	}

	return e, err
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
	source, known := conf.Source(cmp.Or(c.Agent, c.Claimant().Codename))
	if c.Agent != "" && !known {
		names := cmp.Or(strings.Join(slices.Sorted(maps.Keys(conf.Agents)), ", "), "none")
		return o, source, c.Usagef("--agent %q: the configuration has %s", OneLine(c.Agent), names)
	}

	if c.Repo == "" {
		o.Repo = cmp.Or(source.Repo, o.Repo)
	}
	o.TokenEnv = source.TokenEnv
	o.Queue = setup.Queue{Ready: source.Ready, InProgress: source.InProgress}

	return o, source, nil
}

// GiveFailedToPerson puts the label for "a person must look" on an issue whose hold ended as a
// failed attempt, if the configuration wants that for the worker (cleanup_on_failure: false).
func (c *Call) GiveFailedToPerson(ctx context.Context, i claim.Issue, w claim.Worker, outcome string) error {
	source, _ := c.Session.Config.Source(w.Codename)
	if !source.KeepFailed || !claim.CountsAgainst(outcome) {
		return nil
	}
	return c.Session.Client.AddLabel(ctx, i, c.Rules().Scheme.NeedsScope)
}
