package operate

import (
	"context"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/printable"
)

type syncParams struct {
	cli.SomeRepos
	Force bool `flag:"force" text:"also set colour and description of labels that exist"`
	cli.Rehearsal
}

// Labels are the verbs about the labels that a repository needs.
func Labels() []cli.Verb {
	return []cli.Verb{
		{Name: "labels", Summary: "the labels a repository needs"},
		cli.Do(cli.Verb{
			Name:     "labels check",
			Summary:  "what is missing or differs; exit 1 when anything is missing",
			About:    "A colour that people chose is reported, but is not a fault.",
			Examples: "label-state labels check acme/app\n",
		}, cli.InRepos(checkLabels)),
		cli.Do(cli.Verb{
			Name:     "labels sync",
			Summary:  "create what is missing",
			About:    "Colours and descriptions that people chose stay, unless --force.",
			Examples: "label-state labels sync acme/app --dry-run\nlabel-state labels sync --repo acme/app,acme/web\n",
		}, cli.InRepos(syncLabels)),
	}
}

func showLabels(c *cli.Call, views []cli.LabelView) error {
	var rows [][2]string
	for _, v := range views {
		v.Repo = c.Session.Repo.String()
		rows = append(rows, [2]string{v.Name, strings.TrimSpace(v.Status + "  " + v.Detail)})
		if err := c.Answer(v, ""); err != nil {
			return err
		}
	}

	title := ""
	if len(c.Named()) > 1 {
		title = c.Session.Repo.String() + "\n"
	}

	return c.Answer(nil, title+cli.Table(rows))
}

func checkLabels(ctx context.Context, c *cli.Call, _ *cli.SomeRepos) error {
	have, err := c.Session.Client.Labels(ctx, c.Session.Repo)
	if err != nil {
		return err
	}

	views := cli.CompareLabels(c.Rules().Scheme.Definitions(), have)
	if err := showLabels(c, views); err != nil {
		return err
	}

	missing := 0
	for _, v := range views {
		if v.Status == "missing" {
			missing++
		}
	}

	if missing > 0 {
		return cli.Declined(printable.Count(missing, "label is", "labels are")+" missing",
			answer.Call("create them", "labels sync", c.Session.Repo.String()))
	}

	return nil
}

func syncLabels(ctx context.Context, c *cli.Call, p *syncParams) error {
	have, err := c.Session.Client.Labels(ctx, c.Session.Repo)
	if err != nil {
		return err
	}

	want := c.Rules().Scheme.Definitions()
	views := cli.CompareLabels(want, have)
	for i, v := range views {
		done := ""
		switch {
		case v.Status == "missing":
			done = "created"
		case v.Status == "differs" && p.Force:
			done = "updated"
		default:
			continue
		}

		if p.DryRun {
			views[i].Detail = strings.TrimPrefix(v.Detail+", would be "+done, ", ")
			continue
		}

		if done == "created" {
			err = c.Session.Client.CreateLabel(ctx, c.Session.Repo, want[i])
		} else {
			err = c.Session.Client.UpdateLabel(ctx, c.Session.Repo, want[i].Name, want[i])
		}

		if err != nil {
			return err
		}
		views[i].Status = done
		if done == "created" {
			views[i].Detail = ""
		}
	}

	return showLabels(c, views)
}
