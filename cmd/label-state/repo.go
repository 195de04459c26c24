package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/label-state/label-state/internal/claim"
	"github.com/label-state/label-state/internal/ledger"
	"github.com/label-state/label-state/internal/lifecycle"
	"github.com/urfave/cli/v2"
)

func repoCommand(t terminal) *cli.Command {
	local := &cli.BoolFlag{Name: "local", Usage: "this host's file only, not the shared marker on GitHub"}
	return &cli.Command{
		Name: "repo", Usage: "pause and resume claiming in a repository",
		Subcommands: []*cli.Command{
			{
				Name: "pause", Usage: "nothing is claimed until resumed", ArgsUsage: "[OWNER/NAME]",
				Description: "The existence of the label agent:paused pauses a repository for everybody. Holds that stand go on.\n\n   label-state repo pause acme/app --reason 'release week'",
				Flags:       writing(local, &cli.StringFlag{Name: "reason", Usage: "why, shown to whoever is refused"}),
				Action:      t.inRepo(pause),
			},
			{
				Name: "resume", Usage: "claims are possible again", ArgsUsage: "[OWNER/NAME]",
				Description: "A repository that is not paused is a success.\n\n   label-state repo resume acme/app",
				Flags:       writing(local),
				Action:      t.inRepo(resume),
			},
			{
				Name: "list", Usage: "which repositories are paused", ArgsUsage: "[OWNER/NAME]...",
				Description: "Looks at the repositories named, else at those of LABEL_STATE_SWEEP_REPOS, else at this clone's; and at this host's file.\n\n" +
					"   label-state repo list acme/app acme/web",
				Flags:  common(),
				Action: t.listPauses,
			},
		},
	}
}

// A pauseView is the JSON of one repository's pause.
type pauseView struct {
	Repo   string `json:"repo"`
	Paused bool   `json:"paused"`
	Local  bool   `json:"local,omitempty"`
	Since  string `json:"since,omitempty"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	DryRun bool   `json:"dry_run,omitempty"`
}

// resume is what ends the pause, after "label-state repo resume".
func (v pauseView) resume() string {
	if v.Local {
		return v.Repo + " --local"
	}
	return v.Repo
}

func where(local bool) string {
	if local {
		return " on this host"
	}
	return ""
}

func viewPause(repo string, p *lifecycle.Pause, local bool) pauseView {
	v := pauseView{Repo: repo, Paused: p != nil, Local: local}
	if p != nil {
		v.Since, v.By, v.Reason = stamp(p.Since), oneLine(p.By), oneLine(p.Reason)
	}
	return v
}

func (v pauseView) line() string {
	if !v.Paused {
		return v.Repo + " is not paused\n"
	}
	text := v.Repo + " is paused" + where(v.Local)
	since := v.Since
	if t, err := time.Parse(time.RFC3339, since); err == nil {
		since = moment(t)
	}
	for _, p := range [][2]string{{" since ", since}, {" by ", v.By}, {": ", v.Reason}} {
		if p[1] != "" {
			text += p[0] + p[1]
		}
	}
	return text + "\n"
}

func pause(ctx context.Context, c *call) error {
	by, err := c.Viewer(ctx)
	if err != nil {
		return err
	}
	local, p := c.Bool("local"), lifecycle.Pause{By: by, Reason: c.String("reason")}
	v := viewPause(c.Repo.String(), &p, local)
	if c.Bool("dry-run") {
		v.DryRun = true
		return c.answer(v, fmt.Sprintf("would pause %s%s\n", c.Repo, where(local)))
	}
	if local {
		err = c.PauseHere(c.Repo, p)
	} else {
		err = c.Client.SetPause(ctx, c.Repo, p)
	}
	if err != nil {
		return err
	}
	return c.answer(v, fmt.Sprintf("paused %s%s; resume with: label-state repo resume %s\n", c.Repo, where(local), v.resume()))
}

func resume(ctx context.Context, c *call) error {
	local := c.Bool("local")
	v := pauseView{Repo: c.Repo.String(), Local: local, DryRun: c.Bool("dry-run")}
	if v.DryRun {
		return c.answer(v, fmt.Sprintf("would resume %s%s\n", c.Repo, where(local)))
	}
	var err error
	if local {
		err = c.ResumeHere(c.Repo)
	} else {
		err = c.Client.ClearPause(ctx, c.Repo)
	}
	if err != nil {
		return err
	}
	return c.answer(v, fmt.Sprintf("resumed %s%s\n", c.Repo, where(local)))
}

// listPauses asks every repository; one that cannot be read makes the answer unknown, never "not paused".
func (t terminal) listPauses(cc *cli.Context) error {
	names := cc.Args().Slice()
	if len(names) == 0 && cc.String("repo") == "" {
		names = t.env.SweepRepos()
	}
	if len(names) == 0 {
		names = []string{cc.String("repo")}
	}
	var failed []error
	for _, name := range names {
		o := options(cc)
		o.Repo = name
		failed = append(failed, t.session(cc, o, listPause))
	}
	return errors.Join(failed...)
}

func listPause(ctx context.Context, c *call) error {
	here, err := c.PausedHere(c.Repo)
	if err != nil {
		return err
	}
	shared, err := c.Client.Pause(ctx, c.Repo)
	if err != nil {
		return err
	}
	var views []pauseView
	if here != nil {
		views = append(views, viewPause(c.Repo.String(), here, true))
	}
	if shared != nil || here == nil {
		views = append(views, viewPause(c.Repo.String(), shared, false))
	}
	for _, v := range views {
		if err := c.answer(v, v.line()); err != nil {
			return err
		}
	}
	return nil
}

// unpaused refuses a claim that this host's own file forbids; a file that cannot be read forbids as well.
func (c *call) unpaused(i claim.Issue) error {
	p, err := c.PausedHere(c.Repo)
	if err != nil {
		return &ledger.UnknownError{Issue: i, Err: err}
	}
	if p == nil {
		return nil
	}
	v := viewPause(i.Slug(), p, true)
	no := &ledger.HeldError{Issue: i, Verdict: lifecycle.Verdict{
		Answer: lifecycle.Held, Reasons: []lifecycle.Reason{{Code: lifecycle.CodePaused, Text: strings.TrimSpace(v.line())}},
	}}
	return &failure{err: no, hint: "when claims may go on: label-state repo resume " + v.resume()}
}
