package operate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/label-state/label-state/internal/state"
	urfave "github.com/urfave/cli/v2"
)

// NewRepoCommand makes the command repo.
func NewRepoCommand(t cli.Terminal) *urfave.Command {
	local := &urfave.BoolFlag{Name: "local", Usage: "this host's file only, not the shared marker on GitHub"}
	return &urfave.Command{
		Name: "repo", Usage: "pause and resume claiming in a repository",
		Subcommands: []*urfave.Command{
			{
				Name:        "pause",
				Usage:       "workers claim nothing until it is resumed",
				ArgsUsage:   "[OWNER/NAME]...",
				Description: "The existence of the label agent:paused pauses a repository for everybody. Holds that stand go on.\n\n   label-state repo pause acme/app --reason 'release week'\n   label-state repo pause --repo acme/app,acme/web",
				Flags: cli.SeveralFlags(local,
					&urfave.StringFlag{Name: "reason", Usage: "why, shown to whoever is refused"}, cli.DryRunFlag()),
				Action: t.InRepos(pause),
			},
			{
				Name:        "resume",
				Usage:       "claims are possible again",
				ArgsUsage:   "[OWNER/NAME]...",
				Description: "A repository that is not paused is a success.\n\n   label-state repo resume acme/app",
				Flags:       cli.SeveralFlags(local, cli.DryRunFlag()),
				Action:      t.InRepos(resume),
			},
			{
				Name:      "list",
				Usage:     "which repositories are paused",
				ArgsUsage: "[OWNER/NAME]...",
				Description: "Looks at the repositories named, else at those of LABEL_STATE_SWEEP_REPOS, else at this clone's; and at this host's file.\n\n" +
					"   label-state repo list acme/app acme/web",
				Flags:  cli.SeveralFlags(),
				Action: func(cc *urfave.Context) error { return runPauseList(t, cc) },
			},
		},
	}
}

func pause(ctx context.Context, c *cli.Call) error {
	by, err := c.Session.Client.Viewer(ctx)
	if err != nil {
		return err
	}

	local, p := c.Flags.Bool("local"), lifecycle.Pause{By: by, Reason: c.Flags.String("reason")}
	v := cli.ViewPause(c.Session.Repo.String(), &p, local)
	if c.Flags.Bool("dry-run") {
		v.DryRun = true
		return c.Answer(v, fmt.Sprintf("would pause %s%s\n", c.Session.Repo, cli.Where(local)))
	}

	var before *lifecycle.Pause
	if local {
		before, err = c.Terminal.Env.PausedHere(c.Session.Repo)
	} else {
		before, err = c.Session.Client.Pause(ctx, c.Session.Repo)
	}

	if err != nil {
		return err
	}
	if before != nil && p.Reason == "" {
		v = cli.ViewPause(c.Session.Repo.String(), before, local)
		return c.Answer(v, fmt.Sprintf("%s; resume with: label-state repo resume %s\n", v.Sentence("is paused already"),
			v.Resume()))
	}

	if local {
		file, cause := c.Terminal.Env.LocalPauses()
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
	text := fmt.Sprintf("paused %s%s", c.Session.Repo, cli.Where(local))
	if before != nil && before.Reason != "" && before.Reason != p.Reason {
		text += "; the reason was: " + cli.OneLine(before.Reason)
	}

	return c.Answer(v, fmt.Sprintf("%s; resume with: label-state repo resume %s\n", text, v.Resume()))
}

func resume(ctx context.Context, c *cli.Call) error {
	local := c.Flags.Bool("local")
	v := cli.PauseView{Repo: c.Session.Repo.String(), Local: local, DryRun: c.Flags.Bool("dry-run")}
	if v.DryRun {
		return c.Answer(v, fmt.Sprintf("would resume %s%s\n", c.Session.Repo, cli.Where(local)))
	}

	file, err := c.Terminal.Env.LocalPauses()
	switch {
	case local && err == nil:
		err = file.Clear(c.Session.Repo.String())
	case !local:
		err = c.Session.Client.ClearPause(ctx, c.Session.Repo)
	}

	if err != nil {
		return err
	}

	return c.Answer(v, fmt.Sprintf("resumed %s%s\n", c.Session.Repo, cli.Where(local)))
}

// runPauseList asks every repository; one that cannot be read makes the answer unknown, never "not
// paused".
func runPauseList(t cli.Terminal, cc *urfave.Context) error {
	names := cli.NamedRepos(cc)
	if len(names) == 0 {
		names = t.Env.SweepRepos()
	}

	if len(names) == 0 {
		names = []string{""}
	}
	var failed []error
	for _, name := range names {
		o := cli.SetupOptions(cc)
		o.Repo = name
		failed = append(failed, t.WithSession(cc, o, listPause))
	}

	return errors.Join(failed...)
}

func listPause(ctx context.Context, c *cli.Call) error {
	here, err := c.Terminal.Env.PausedHere(c.Session.Repo)
	if err != nil {
		return err
	}

	shared, err := c.Session.Client.Pause(ctx, c.Session.Repo)
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
