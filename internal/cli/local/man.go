package local

import (
	"fmt"
	"io"
	"strings"

	"github.com/label-state/label-state/internal/cli"
	urfave "github.com/urfave/cli/v2"
)

// NewManCommand makes the command man.
func NewManCommand(t cli.Terminal) *urfave.Command {
	return &urfave.Command{
		Name:        "man",
		Usage:       "print the manual page, for man(1)",
		Description: "   label-state man | man -l -\n   label-state man > /usr/local/share/man/man1/label-state.1",
		Action: func(cc *urfave.Context) error {
			if cc.Args().Present() {
				return cli.Usagef("man", "man takes no arguments; there is one page for all commands")
			}

			page, err := ManPage(cc.App)
			if err != nil {
				return err
			}

			_, err = io.WriteString(t.Out, page)
			return err
		},
	}
}

// ManPage is the whole program as one page for troff -man.
func ManPage(app *urfave.App) (string, error) {
	app.Usage = "nobody does the same issue twice"
	app.UsageText = "label-state COMMAND [options] [arguments]"
	app.Description = "Coding agents and people share one GitHub issue tracker. label-state lets any of them claim an issue, shows who holds it, " +
		"and releases it when its holder is gone. Options may stand anywhere on a command line.\n\n" +
		"Exit status: 0 yes, 1 no, 2 called or set up wrongly, 3 could not find out, 4 no work."
	page, err := app.ToManWithSection(1)

	// The header has the version, and options without a default name none.
	return strings.NewReplacer(
		".TH label-state 1\n", fmt.Sprintf(".TH label-state 1 \"\" \"label-state %s\"\n", app.Version),
		" (default: 0s)", "",
		" (default: 0)", "",
	).Replace(page), err
}
