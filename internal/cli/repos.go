package cli

import (
	"context"

	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/setup"
)

// ReposToRead are the repositories that a view reads, as they were written: those that are named,
// else this clone's, for which an empty name stands, else the fleet's.
func (c *Call) ReposToRead(ctx context.Context, fleet bool) ([]string, error) {
	if names := c.Named(); len(names) > 0 {
		return names, nil
	}
	home, err := c.Env.Home(ctx)
	if err == nil && home != (host.Remote{}) && !fleet {
		return OrHere(nil), nil
	}

	repos, err := c.FleetRepos(ctx)
	if err == nil && fleet && len(repos) == 0 {
		err = c.Usagef("no fleet is known; set LABEL_STATE_SWEEP_REPOS or sweep.repos of the configuration")
	}

	return OrHere(repos), err
}

// OrHere are the repositories, or where none is named this clone's, for which an empty name stands.
func OrHere(names []string) []string {
	if len(names) == 0 {
		return []string{""}
	}
	return names
}

// FleetRepos are the repositories of the fleet, as they were written: LABEL_STATE_SWEEP_REPOS, else
// sweep.repos of the caller's configuration or of this clone's; none where nobody names them.
func (c *Call) FleetRepos(ctx context.Context) ([]string, error) {
	t := c.Terminal
	if repos := t.Env.SweepRepos(); len(repos) > 0 {
		return repos, nil
	}
	o := c.Options()
	own, err := t.Env.Own(o)
	switch {
	case err != nil:
		return nil, err
	case len(own.Sweep) > 0:
		return own.Sweep, nil
	}

	home, err := t.Env.Home(ctx)
	if err != nil {
		return nil, err
	}
	if home == (host.Remote{}) {
		return nil, nil
	}

	o.Repo = ""
	s, err := setup.Open(ctx, t.Env, o)
	if err != nil {
		return nil, err
	}

	return s.Config.Sweep, s.Close()
}
