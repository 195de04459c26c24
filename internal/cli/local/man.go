package local

import (
	"context"
	"fmt"
	"io"
	"strings"

	urfave "github.com/urfave/cli/v2"

	"github.com/label-state/label-state/internal/cli"
)

// Man prints the manual page.
func Man() cli.Verb {
	return cli.Do(cli.Verb{
		Name:     "man",
		Summary:  "print the manual page, for man(1)",
		Examples: "label-state man | man -l -\nlabel-state man > /usr/local/share/man/man1/label-state.1\n",
	}, func(_ context.Context, c *cli.Call, _ *struct{}) error {
		page, err := ManPage(c.Terminal)
		if err != nil {
			return err
		}

		_, err = io.WriteString(c.Out, page)
		return err
	})
}

// ManPage is the whole program as one page for troff -man.
func ManPage(t cli.Terminal) (string, error) {
	app := &urfave.App{
		Name:      "label-state",
		HelpName:  "label-state",
		Usage:     "nobody does the same issue twice",
		UsageText: "label-state COMMAND [options] [arguments]",
	}
	app.Description = "Coding agents and people share one GitHub issue tracker. label-state lets any of them claim an issue, shows who holds it, " +
		"and releases it when its holder is gone. Options may appear anywhere on a command line.\n\n" +
		"Exit status: 0 yes, 1 no, 2 called or set up wrongly, 3 could not find out, 4 no work."

	for _, v := range t.Verbs {
		above, name, nested := strings.Cut(v.Name, " ")
		if nested {
			group := app.Command(above)
			group.Subcommands = append(group.Subcommands, manual(v, name))
		} else {
			app.Commands = append(app.Commands, manual(v, v.Name))
		}
	}

	page, err := app.ToManWithSection(1)

	head := fmt.Sprintf(".TH label-state 1 \"\" \"label-state %s\"\n", t.Build.Version)
	return strings.Replace(page, ".TH label-state 1\n", head, 1), err
}

// manual is a verb for the library that writes the page.
func manual(v cli.Verb, name string) *urfave.Command {
	c := &urfave.Command{
		Name:      name,
		Usage:     v.Summary,
		UsageText: v.Examples,
	}
	if v.Alias != "" {
		c.Aliases = []string{v.Alias}
	}

	for _, p := range v.Params() {
		var short []string
		if p.Short != "" {
			short = []string{p.Short}
		}

		switch {
		case p.Arg != "":
		case p.TakesValue():
			c.Flags = append(c.Flags, &urfave.StringFlag{Name: p.Name, Aliases: short, Usage: p.Text})
		default:
			c.Flags = append(c.Flags, &urfave.BoolFlag{Name: p.Name, Aliases: short, Usage: p.Text})
		}
	}

	return c
}
