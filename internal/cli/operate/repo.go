package operate

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/github"
	"github.com/label-state/label-state/internal/host"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/state"
)

type pauseParams struct {
	cli.Because
	resumeParams
}

type resumeParams struct {
	cli.SomeRepos
	Local bool `flag:"local" text:"this host's file only, not the shared marker on GitHub"`
	cli.Rehearsal
}

// Repo are the verbs that pause and resume claiming.
func Repo() []cli.Verb {
	return []cli.Verb{
		{Name: "repo", Summary: "pause and resume claiming in a repository"},
		cli.Do(cli.Verb{
			Name:    "repo pause",
			Summary: "workers claim nothing until it is resumed",
			About: "While the label agent:paused exists, no worker and no contributor claims, on any machine; " +
				"other people may. Existing holds continue.",
			Examples: "label-state repo pause acme/app --reason 'release week'\n" +
				"label-state repo pause --repo acme/app,acme/web\n",
			Tools: []cli.Tool{{
				Name:    "pause",
				Title:   "Pause a repository",
				Set:     cli.Operator,
				Takes:   "repo reason",
				Repeats: true,
				About:   "For operators: stops the claims of agents in a repository, on every machine. Existing holds continue.",
			}},
		}, cli.InRepos(pause)),
		cli.Do(cli.Verb{
			Name:     "repo resume",
			Summary:  "claims are possible again",
			About:    "A no-op if the repository is not paused.",
			Examples: "label-state repo resume acme/app\n",
			Tools: []cli.Tool{{
				Name:    "resume",
				Title:   "Resume a repository",
				Set:     cli.Operator,
				Takes:   "repo",
				Repeats: true,
				About:   "For operators: claims are possible again. A no-op if the repository is not paused.",
			}},
		}, cli.InRepos(resume)),
		cli.Do(cli.Verb{
			Name:     "repo list",
			Summary:  "which repositories are paused",
			About:    "Looks at the repositories named, else at those of LABEL_STATE_SWEEP_REPOS, else at this clone's; and at this host's file. Outside of a clone it lists that file alone.",
			Examples: "label-state repo list acme/app acme/web\n",
		}, listPauses),
	}
}

// askTime is how long what concerns this host's file waits for GitHub.
const askTime = 2 * time.Second

// pauser is the login of who pauses; for this host's file empty where nobody can be asked.
func pauser(ctx context.Context, c *cli.Call, local bool) (string, error) {
	if !local {
		return c.Session.Client.Viewer(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	by, _ := c.Session.Client.Viewer(ctx)

	return by, nil
}

func pause(ctx context.Context, c *cli.Call, params *pauseParams) error {
	by, err := pauser(ctx, c, params.Local)
	if err != nil {
		return err
	}

	local, p := params.Local, lifecycle.Pause{By: by, Reason: params.Why()}
	if _, err := github.DescribePause(p); err != nil && !local {
		return err
	}

	v := cli.ViewPause(c.Session.Repo.String(), &p, local)
	if c.DryRun {
		v.DryRun = true
		return c.Answer(v, fmt.Sprintf("would pause %s%s\n", c.Session.Repo, cli.Where(local)))
	}

	before, err := pauseOf(ctx, c, local)
	if err != nil {
		return err
	}
	if before != nil && p.Reason == "" {
		v = cli.ViewPause(c.Session.Repo.String(), before, local)
		return c.Answer(v, fmt.Sprintf("%s; resume with: label-state repo resume %s\n", v.Sentence("is paused already"),
			v.Resume()))
	}

	if local {
		file, cause := c.Env.LocalPauses()
		if err = cause; err == nil {
			err = file.Set(state.Pause{
				Repo:   c.Session.Repo.String(),
				Since:  time.Now(),
				By:     p.By,
				Reason: p.Reason,
			})
		}
	} else {
		err = c.Session.Client.SetPause(ctx, c.Session.Repo, p)
	}

	if err != nil {
		return err
	}
	v.Since = since(ctx, c, local)
	text := fmt.Sprintf("paused %s%s", c.Session.Repo, cli.Where(local))
	if before != nil && before.Reason != "" && before.Reason != p.Reason {
		text += "; the reason was: " + cli.OneLine(before.Reason)
	}

	return c.Answer(v, fmt.Sprintf("%s; resume with: label-state repo resume %s\n", text, v.Resume()))
}

// since is when the pause began that was just set, by GitHub's time or for this host's file by the
// machine's. It is zero where that cannot be found out: the repository is paused all the same.
func since(ctx context.Context, c *cli.Call, local bool) time.Time {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	p, err := pauseOf(ctx, c, local)
	if err != nil || p == nil {
		return time.Time{}
	}

	return cli.ViewPause("", p, local).Since
}

func resume(ctx context.Context, c *cli.Call, p *resumeParams) error {
	local := p.Local
	v := cli.PauseView{Repo: c.Session.Repo.String(), Local: local, DryRun: p.DryRun}
	if v.DryRun {
		return c.Answer(v, fmt.Sprintf("would resume %s%s\n", c.Session.Repo, cli.Where(local)))
	}

	was := false
	file, err := c.Env.LocalPauses()
	switch {
	case local && err == nil:
		was, err = file.Clear(c.Session.Repo.String())
	case !local:
		was, err = c.Session.Client.ClearPause(ctx, c.Session.Repo)
	}

	if err != nil {
		return err
	}

	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if other, _ := pauseOf(ctx, c, !local); other != nil { // a repository may have both; only what to say
		still := cli.ViewPause(v.Repo, other, !local)
		c.Warnf("%s; resume that with: label-state repo resume %s", still.Sentence("is still paused"), still.Resume())
	}

	text := fmt.Sprintf("%s is not paused%s\n", c.Session.Repo, cmp.Or(cli.Where(local), " on GitHub"))
	if was {
		text = fmt.Sprintf("resumed %s%s\n", c.Session.Repo, cli.Where(local))
	}

	return c.Answer(v, text)
}

// pauseOf is this host's pause of the repository, or everybody's.
func pauseOf(ctx context.Context, c *cli.Call, local bool) (*lifecycle.Pause, error) {
	if local {
		return c.Env.PausedHere(c.Session.Repo)
	}
	return c.Session.Client.Pause(ctx, c.Session.Repo)
}

// listPauses asks every repository; one that cannot be read makes the answer unknown, never "not
// paused". Where no repository is known it lists this host's own pauses.
func listPauses(ctx context.Context, c *cli.Call, p *cli.SomeRepos) error {
	names := c.Named()
	if len(names) == 0 {
		names = c.Env.SweepRepos()
	}

	if len(names) == 0 {
		home, err := c.Env.Home(ctx)
		if err == nil && home == (host.Remote{}) && c.Env.Nowhere(ctx) == nil {
			return listHere(c)
		}
	}

	return cli.InEach(ctx, c, names, cli.InRepo(listPause), p)
}

// listHere lists this host's own pauses, and asks GitHub nothing.
func listHere(c *cli.Call) error {
	file, err := c.Env.LocalPauses()
	if err != nil {
		return err
	}
	all, err := file.All()
	if err != nil {
		return err
	}

	for _, p := range all {
		v := cli.ViewPause(p.Repo, &lifecycle.Pause{Since: p.Since, By: p.By, Reason: p.Reason}, true)
		if err := c.Answer(v, v.Line()); err != nil {
			return err
		}
	}

	only := "no repository is paused on this host"
	if len(all) > 0 {
		only = "these are the pauses of this host alone"
	}

	return c.Answer(nil, only+"; to ask GitHub, too: label-state repo list OWNER/NAME\n")
}

func listPause(ctx context.Context, c *cli.Call, _ *cli.SomeRepos) error {
	here, err := pauseOf(ctx, c, true)
	if err != nil {
		return err
	}

	shared, err := pauseOf(ctx, c, false)
	if err != nil {
		return err
	}

	var views []cli.PauseView
	if here != nil {
		views = append(views, cli.ViewPause(c.Session.Repo.String(), here, true))
	}

	if shared != nil || here == nil {
		views = append(views, cli.ViewPause(c.Session.Repo.String(), shared, false))
	}

	for _, v := range views {
		if err := c.Answer(v, v.Line()); err != nil {
			return err
		}
	}

	return nil
}
