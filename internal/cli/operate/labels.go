package operate

import (
	"context"
	"strings"

	"github.com/label-state/label-state/answer"
	"github.com/label-state/label-state/internal/cli"
	"github.com/label-state/label-state/internal/printable"
	urfave "github.com/urfave/cli/v2"
)

// NewLabelsCommand makes the command labels.
func NewLabelsCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name: "labels", Usage: "the labels a repository needs",
		Subcommands: []*urfave.Command{
			{
				Name:        "check",
				Usage:       "what is missing or differs; exit 1 when anything is missing",
				ArgsUsage:   "[OWNER/NAME]...",
				Description: "A colour that people chose is reported and no fault.\n\n   label-state labels check acme/app",
				Flags:       cli.SeveralFlags(),
				Action:      t.InRepos(checkLabels),
			},
			{
				Name:        "sync",
				Usage:       "create what is missing",
				ArgsUsage:   "[OWNER/NAME]...",
				Description: "Colours and descriptions that people chose stay, unless --force.\n\n   label-state labels sync acme/app --dry-run\n   label-state labels sync --repo acme/app,acme/web",
				Flags: cli.SeveralFlags(&urfave.BoolFlag{
					Name:  "force",
					Usage: "also set colour and description of labels that exist",
				}, cli.DryRunFlag()),
				Action: t.InRepos(syncLabels),
			},
		},
	}
}

func showLabels(c *cli.Call, views []cli.LabelView) error {
	var rows [][2]string
	for _, v := range views {
		v.Repo = c.Session.Repo.String()
		rows = append(rows, [2]string{v.Name, strings.TrimSpace(v.Status + "  " + v.Detail)})
		if err := c.AnswerJSON(v); err != nil {
			return err
		}
	}

	if c.Flags.Bool("json") {
		return nil
	}
	title := ""
	if len(cli.NamedRepos(c.Flags)) > 1 {
		title = c.Session.Repo.String() + "\n"
	}

	return c.Answer(nil, title+cli.Table(rows))
}

func checkLabels(ctx context.Context, c *cli.Call) error {
	have, err := c.Session.Client.Labels(ctx, c.Session.Repo)
	if err != nil {
		return err
	}

	views := cli.CompareLabels(c.Session.Ledger.Rules().Scheme.Definitions(), have)
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

func syncLabels(ctx context.Context, c *cli.Call) error {
	have, err := c.Session.Client.Labels(ctx, c.Session.Repo)
	if err != nil {
		return err
	}

	want := c.Session.Ledger.Rules().Scheme.Definitions()
	views := cli.CompareLabels(want, have)
	for i, v := range views {
		done := ""
		switch {
		case v.Status == "missing":
			done = "created"
		case v.Status == "differs" && c.Flags.Bool("force"):
			done = "updated"
		default:
			continue
		}

		if c.Flags.Bool("dry-run") {
			views[i].Detail = strings.TrimSpace(v.Detail + ", would be " + done)
			views[i].Detail = strings.TrimPrefix(views[i].Detail, ", ")
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
	}

	return showLabels(c, views)
}
