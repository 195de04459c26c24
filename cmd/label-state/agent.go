package main

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

// An employment is an agent's work source and what it asks of a session.
type employment struct {
	options setup.Options
	source  config.WorkSource
	settled bool // by a configuration of this machine
}

// employed is the agent's employment as far as this machine's configuration says.
func (t terminal) employed(cc *cli.Context) (employment, error) {
	o := options(cc)
	ctx, cancel := deadline(cc)
	defer cancel()
	c := &call{Context: cc, terminal: t, Session: &setup.Session{Worker: t.env.Identity()}}
	conf, here, err := setup.Local(ctx, t.env, o)
	e := employment{options: o}
	if err == nil && here {
		e.settled = true
		e.options, e.source, err = c.engage(conf, o)
	}
	return e, c.failed(ctx, err)
}

// employ takes over the agent's work source. When only the repository itself, far away, told of it,
// the session is opened again.
func (c *call) employ(ctx context.Context, e employment) error {
	c.source = e.source
	if e.settled {
		return nil
	}
	again, source, err := c.engage(c.Config, e.options)
	if err != nil {
		return err
	}
	c.source = source
	if again == e.options {
		return nil
	}
	return c.open(ctx, again)
}

// engage finds the work source of whom the command line names, and what it asks of a session. What the
// command line names itself comes first.
func (c *call) engage(conf config.Config, o setup.Options) (setup.Options, config.WorkSource, error) {
	named := c.String("agent")
	source, known := conf.Source(cmp.Or(named, c.worker().Codename))
	if named != "" && !known {
		names := cmp.Or(strings.Join(slices.Sorted(maps.Keys(conf.Agents)), ", "), "none")
		return o, source, wrong(path(c.Context), "--agent %q: the configuration has %s", oneLine(named), names)
	}
	if o.Repo == "" || !c.IsSet("repo") {
		o.Repo = cmp.Or(source.Repo, o.Repo)
	}
	o.TokenEnv = source.TokenEnv
	o.Queue = setup.Queue{Ready: source.Ready, InProgress: source.InProgress}
	return o, source, nil
}
