package main

import (
	"context"
	"io"
	"slices"
	"strings"

	"github.com/label-state/label-state/internal/setup"
	"github.com/urfave/cli/v2"
)

// A terminal is what a command talks to.
type terminal struct {
	in  io.Reader
	out io.Writer
	err io.Writer
	env setup.Environment
}

// run executes one command line and returns the exit code (PRODUCT ruling 1).
func run(ctx context.Context, args []string, t terminal) int {
	return report(t, execute(ctx, args, t))
}

func execute(ctx context.Context, args []string, t terminal) error {
	app := newApp(t)
	args, err := arrange(app.Commands, args)
	if err != nil {
		return err
	}
	return app.RunContext(ctx, args)
}

// newApp makes the program. The library neither prints help nor exits: help texts, usage errors and
// exit codes are ours.
func newApp(t terminal) *cli.App {
	app := &cli.App{
		Name: "label-state", HelpName: "label-state", Version: setup.Version(version), Commands: commands(t),
		HideHelp: true, HideHelpCommand: true, HideVersion: true,
		Writer: t.out, ErrWriter: t.err,
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usage,
	}
	app.Action = t.manual(nil)
	for _, c := range app.Commands {
		t.prepare(c, nil)
	}
	return app
}

// prepare gives a command what all commands have. A word that needs another one prints its help.
func (t terminal) prepare(c *cli.Command, above []string) {
	c.HideHelp, c.OnUsageError = true, usage
	path := append(slices.Clone(above), c.Name)
	for _, sub := range c.Subcommands {
		t.prepare(sub, path)
	}
	if len(c.Subcommands) > 0 {
		c.Action = t.manual(path)
	}
}

// usage takes over what the library has to say about a command line.
func usage(cc *cli.Context, err error, _ bool) error {
	return wrong(path(cc), "%s", strings.TrimPrefix(err.Error(), "flag provided but not defined: "))
}

// path is the command as it was typed after the program's name: "repo pause".
func path(cc *cli.Context) string {
	return strings.TrimSpace(strings.TrimPrefix(cc.Command.HelpName, cc.App.HelpName))
}
