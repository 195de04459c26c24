package local

import (
	"context"
	"fmt"
	"io"
	"strings"

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
	app := t.NewApp(nil)
	app.Usage = "nobody does the same issue twice"
	app.UsageText = "label-state COMMAND [options] [arguments]"
	app.Description = "Coding agents and people share one GitHub issue tracker. label-state lets any of them claim an issue, shows who holds it, " +
		"and releases it when its holder is gone. Options may appear anywhere on a command line.\n\n" +
		"Exit status: 0 yes, 1 no, 2 called or set up wrongly, 3 could not find out, 4 no work."
	page, err := app.ToManWithSection(1)

	head := fmt.Sprintf(".TH label-state 1 \"\" \"label-state %s\"\n", app.Version)
	return strings.Replace(page, ".TH label-state 1\n", head, 1), err
}
