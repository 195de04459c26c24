package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/label-state/label-state/internal/labels"
	"github.com/urfave/cli/v2"
)

func labelsCommand(t terminal) *cli.Command {
	return &cli.Command{
		Name: "labels", Usage: "the labels a repository needs",
		Subcommands: []*cli.Command{
			{
				Name: "check", Usage: "what is missing or differs; exit 1 when anything is missing", ArgsUsage: "[OWNER/NAME]",
				Description: "A colour that people chose is reported and no fault.\n\n   label-state labels check acme/app",
				Flags:       common(), Action: t.inRepo(checkLabels),
			},
			{
				Name: "sync", Usage: "create what is missing", ArgsUsage: "[OWNER/NAME]",
				Description: "Colours and descriptions that people chose stay, unless --force.\n\n   label-state labels sync acme/app --dry-run",
				Flags:       writing(&cli.BoolFlag{Name: "force", Usage: "also set colour and description of labels that exist"}),
				Action:      t.inRepo(syncLabels),
			},
		},
	}
}

// A labelView is the JSON of one label the repository needs.
type labelView struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, missing, differs; after sync also created, updated
	Detail string `json:"detail,omitempty"`
}

func compare(want, have []labels.Definition) []labelView {
	var out []labelView
	for _, w := range want {
		switch color, found := w.Among(have); {
		case !found:
			out = append(out, labelView{w.Name, "missing", ""})
		case color != "":
			out = append(out, labelView{w.Name, "differs", fmt.Sprintf("colour %s, ours is %s", oneLine(color), w.Color)})
		default:
			out = append(out, labelView{w.Name, "ok", ""})
		}
	}
	return out
}

func (c *call) showLabels(views []labelView) error {
	var rows [][2]string
	for _, v := range views {
		rows = append(rows, [2]string{v.Name, strings.TrimSpace(v.Status + "  " + v.Detail)})
		if err := c.answerJSON(v); err != nil {
			return err
		}
	}
	if c.Bool("json") {
		return nil
	}
	return c.answer(nil, table(rows))
}

// count is a number with the word for one or for many.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func checkLabels(ctx context.Context, c *call) error {
	have, err := c.Client.Labels(ctx, c.Repo)
	if err != nil {
		return err
	}
	views := compare(c.Ledger.Rules().Scheme.Definitions(), have)
	if err := c.showLabels(views); err != nil {
		return err
	}
	missing := 0
	for _, v := range views {
		if v.Status == "missing" {
			missing++
		}
	}
	if missing > 0 {
		return &failure{err: &answerNo{count(missing, "label is", "labels are") + " missing"}, hint: "create them: label-state labels sync " + c.Repo.String()}
	}
	return nil
}

func syncLabels(ctx context.Context, c *call) error {
	have, err := c.Client.Labels(ctx, c.Repo)
	if err != nil {
		return err
	}
	want := c.Ledger.Rules().Scheme.Definitions()
	views := compare(want, have)
	for i, v := range views {
		do, done := c.labelWork(want[i], v)
		switch {
		case do == nil:
			continue
		case c.Bool("dry-run"):
			views[i].Detail = strings.TrimSpace(v.Detail + ", would be " + done)
			views[i].Detail = strings.TrimPrefix(views[i].Detail, ", ")
			continue
		}
		if err := do(ctx); err != nil {
			return err
		}
		views[i].Status = done
	}
	return c.showLabels(views)
}

// labelWork is what a label needs, and the word for it when it is done; nil is nothing.
func (c *call) labelWork(want labels.Definition, v labelView) (do func(context.Context) error, done string) {
	switch {
	case v.Status == "missing":
		return func(ctx context.Context) error { return c.Client.CreateLabel(ctx, c.Repo, want) }, "created"
	case v.Status == "differs" && c.Bool("force"):
		return func(ctx context.Context) error { return c.Client.UpdateLabel(ctx, c.Repo, want.Name, want) }, "updated"
	}
	return nil, ""
}
