package queue

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/config"
	"github.com/label-state/label-state/internal/setup"
	urfave "github.com/urfave/cli/v2"
)

// An employment is an agent's work source and what it asks of a session.
type employment struct {
	options setup.Options
	source  config.WorkSource
	settled bool // by a file that the caller named
}

// readEmployment is the agent's employment as far as a file that the caller named says. What the repository says is on its default branch.
func readEmployment(t cli.Terminal, cc *urfave.Context) (employment, error) {
	o := cli.SetupOptions(cc)
	ctx, cancel := cli.Deadline(cc)
	defer cancel()
	c := &cli.Call{Flags: cc, Terminal: t, Session: &setup.Session{Worker: t.Env.Identity()}}
	own, err := t.Env.Own(o)
	e := employment{options: o}
	if err == nil && (own.Has("agents") || own.Has("defaults")) {
		e.settled, e.options.Chosen = true, true
		e.options, e.source, err = engage(c, own.Config, e.options)
	}
	return e, c.Fail(ctx, err)
}

// employ takes over the agent's work source. When the repository told of it, which is known only now,
// the session is opened again.
func employ(ctx context.Context, c *cli.Call, e employment) error {
	c.Source = e.source
	if e.settled {
		return nil
	}
	again, source, err := engage(c, c.Session.Config, e.options)
	if err != nil {
		return err
	}
	c.Source = source
	if again == e.options {
		return nil
	}
	return c.Open(ctx, again)
}

// engage finds the work source of whom the command line names, and what it asks of a session. What the
// command line names itself comes first.
func engage(c *cli.Call, conf config.Config, o setup.Options) (setup.Options, config.WorkSource, error) {
	named := c.Flags.String("agent")
	source, known := conf.Source(cmp.Or(named, c.Claimant().Codename))
	if named != "" && !known {
		names := cmp.Or(strings.Join(slices.Sorted(maps.Keys(conf.Agents)), ", "), "none")
		return o, source, cli.Usagef(cli.CommandPath(c.Flags), "--agent %q: the configuration has %s", cli.OneLine(named), names)
	}
	if o.Repo == "" || !c.Flags.IsSet("repo") {
		o.Repo = cmp.Or(source.Repo, o.Repo)
	}
	o.TokenEnv = source.TokenEnv
	o.Queue = setup.Queue{Ready: source.Ready, InProgress: source.InProgress}
	return o, source, nil
}
