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

// OpenForAgent is Open; with --agent, or where the worker is an agent of the configuration, with
// the repository, the token and the labels of its work source, which is in c.Source. The command
// line wins over the file, and a file that the caller named over what the repository says, which is
// on its default branch and known only after it was opened: then it is opened again.
func (c *Call) OpenForAgent(ctx context.Context, o setup.Options) error {
	own, err := c.Env.Own(o)
	if err != nil {
		return err
	}

	settled := own.Has("agents") || own.Has("defaults")
	if settled {
		o.Chosen = true
		if o, c.Source, err = c.engage(own.Config, o); err != nil {
			return err
		}
	}

	if err := c.Open(ctx, o); err != nil || settled {
		return err
	}

	again, source, err := c.engage(c.Session.Config, o)
	if err != nil {
		return err
	}

	c.Source = source
	if again == o {
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
